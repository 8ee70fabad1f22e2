// RUN: mct-translate --export-onnx --onnx-profile=imx500 --onnx-format=text %s | FileCheck %s

// What only moves and selects what is on a grid leaves it there: nothing has to be quantized again for the camera.
// CHECK: {{^[{]$}}
// CHECK-NEXT: [x/quantized]
// CHECK-NEXT: [pool] pool = MaxPool
// CHECK-NEXT: [enlarged] enlarged = Resize <mode = "nearest"
// CHECK-NEXT: [largest] largest = ReduceMax
// CHECK-NEXT: [conv/kernel_attr/quantized]
// CHECK-NEXT: [conv] conv = Conv
// CHECK-NEXT: [conv/quantized]
// CHECK-NEXT: {{^[}]$}}
func.func @main(%x: tensor<1x3x2x2xf32>) -> tensor<1x1x4x2xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %b = "tosa.const"() <{values = dense<0.5> : tensor<2xf32>}> : () -> tensor<2xf32>
  %k = "tosa.const"() <{values = dense<0.5> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %q = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x3x2x2xf32>
  %w = tpc.quantize %k as "conv" weight "kernel_attr" parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<2x1x1x2xf32>
  %m = tosa.max_pool2d %q {kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32> loc("pool")
  %s = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %o = tosa.const_shape {values = dense<[-1, -1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %e = tosa.const_shape {values = dense<[1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %n = tosa.resize %m, %s, %o, %e {mode = NEAREST_NEIGHBOR} : (tensor<1x3x2x2xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x6x4x2xf32> loc("enlarged")
  %l = tosa.reduce_max %n {axis = 1 : i32} : (tensor<1x6x4x2xf32>) -> tensor<1x1x4x2xf32> loc("largest")
  %c = tosa.conv2d %l, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x2xf32> loc("conv")
  %r = tpc.quantize %c as "conv" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x1x4x2xf32>
  return %r : tensor<1x1x4x2xf32>
}
