// RUN: mct-opt %s --mct-report-memory=format=text -o /dev/null | FileCheck %s
// RUN: mct-opt %s --mct-report-memory=format=json -o /dev/null | FileCheck %s --check-prefix=JSON

// A kernel of 4 bits, a bias in float, a ReLU that is fused with the layer; what the target asks for counts before
// parameters are selected, and a reshape has the bits of what it moves. Nobody stores the scalar zero.
// CHECK-LABEL: function chain
// CHECK:         activation           16     8           16           64  x
// CHECK-NEXT:    kernel                8     4            4           32  conv/kernel_attr
// CHECK-NEXT:    bias                  2    32            8            8  b
// CHECK-NEXT:    activation            8    32            0           32  conv (fused)
// CHECK-NEXT:    activation            8     8            8           32  relu
// CHECK-NEXT:    activation            8     8            8           32  flat
// CHECK-NEXT:    total kernel                             4           32
// CHECK-NEXT:    total bias                               8            8
// CHECK-NEXT:    total constant                           0            0
// CHECK-NEXT:    total activation                        32          160

// The same where the hardware computes 32 channels at once.
// CHECK-LABEL: function padded
// CHECK:         activation          128     8          128           64  x
// CHECK-NEXT:    kernel              128     4           64           32  conv/kernel_attr

// JSON:      "name": "chain",
// JSON:          "name": "conv",
// JSON:              "bits": 4,
// JSON-NEXT:         "bytes": 4,
// JSON-NEXT:         "elements": 8,
// JSON-NEXT:         "float_bits": 32,
// JSON-NEXT:         "float_bytes": 32,
// JSON-NEXT:         "fused": false,
// JSON-NEXT:         "kind": "kernel",
// JSON-NEXT:         "name": "conv/kernel_attr",
// JSON-NEXT:         "padded_elements": 8
// JSON:      "totals": {
// JSON-NEXT:   "activation": {
// JSON-NEXT:     "bits": 256,
// JSON-NEXT:     "float_bits": 1280
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#w4 = #tpc.attr_quant_config<method = symmetric, bits = 4, per_channel = true, enabled = true>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#act8x32 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], simd_size = 32, default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu simd_padding default(#tpc.qc_options<[#act8]>) operator_sets []
  tpc.framework @tosa [
    #tpc.op_info<"tosa.conv2d", kernel = 1, bias = 2, out_axes = [0], in_axis = 3, result_axis = -1>
  ]
  func.func @chain(%x: tensor<1x2x2x4xf32> loc("x")) -> tensor<1x8xf32> {
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %k = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x4xf32>}> : () -> tensor<2x1x1x4xf32>
    %b = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32> loc("b")
    %xq = tpc.quantize %x as "x" activation config(#act8) : tensor<1x2x2x4xf32>
    %kq = tpc.quantize %k as "conv" weight "kernel_attr" axes [0] config(#w4) : tensor<2x1x1x4xf32>
    %0 = tosa.conv2d %xq, %kq, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x4xf32>, tensor<2x1x1x4xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32> loc("conv")
    %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> loc("relu")
    %2 = tpc.quantize %1 as "relu" activation config(#act8) group(["conv", "relu"]) : tensor<1x2x2x2xf32>
    %shape = tosa.const_shape {values = dense<[1, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %3 = tosa.reshape %2, %shape : (tensor<1x2x2x2xf32>, !tosa.shape<2>) -> tensor<1x8xf32> loc("flat")
    return %3 : tensor<1x8xf32>
  }
  func.func @padded(%x: tensor<1x2x2x4xf32> loc("x")) -> tensor<1x2x2x2xf32> {
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %k = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x4xf32>}> : () -> tensor<2x1x1x4xf32>
    %xq = tpc.quantize %x as "x" activation config(#act8x32) : tensor<1x2x2x4xf32>
    %kq = tpc.quantize %k as "conv" weight "kernel_attr" axes [0] config(#w4) : tensor<2x1x1x4xf32>
    %0 = tosa.conv2d %xq, %kq, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x4xf32>, tensor<2x1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32> loc("conv")
    %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> loc("relu")
    %2 = tpc.quantize %1 as "relu" activation config(#act8x32) group(["conv", "relu"]) : tensor<1x2x2x2xf32>
    return %2 : tensor<1x2x2x2xf32>
  }
}
