// RUN: mct-opt %s --mct-lower-to-quant --split-input-file | FileCheck %s
// RUN: mct-opt %s --mct-lower-to-quant=remarks=true --split-input-file --verify-diagnostics -o /dev/null

// CHECK-LABEL: func.func @grids
// CHECK-SAME:    (%[[X:.*]]: tensor<4x3xf32>)
func.func @grids(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // Zero point and end of the grid are those of the point.
  // CHECK: quant.qcast %[[X]] : tensor<4x3xf32> to tensor<4x3x!quant.uniform<u8:f32, 2.500000e-01:13>>
  %0 = tpc.quantize %x as "uniform" activation parameters(#tpc.uniform<scale = [0.25], zero_point = [13], bits = 8>) : tensor<4x3xf32>
  // As wide as the point has bits.
  // CHECK: quant.qcast %{{.*}} : tensor<4x3xf32> to tensor<4x3x!quant.uniform<i4:f32, 5.000000e-01>>
  %1 = tpc.quantize %0 as "narrow" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 4>) : tensor<4x3xf32>
  // CHECK: quant.qcast %{{.*}} : tensor<4x3xf32> to tensor<4x3x!quant.uniform<i16:f32, 3.0517578125E-5>>
  %2 = tpc.quantize %1 as "wide" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 16, rounding = half_up>) : tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}

// Without parameters, and with a dynamic batch.
// CHECK-LABEL: func.func @without_parameters
// CHECK-SAME:    (%[[X:.*]]: tensor<?x3xf32>)
// CHECK-NEXT:    %[[ABS:.*]] = tosa.abs %[[X]]
// CHECK-NEXT:    return %[[ABS]]
func.func @without_parameters(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tpc.quantize %x as "x" activation : tensor<?x3xf32>
  %1 = tosa.abs %0 {tpc.set = "Abs"} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %2 = tpc.quantize %1 as "abs" activation : tensor<?x3xf32>
  return %2 : tensor<?x3xf32>
}

// The channels of a depthwise kernel run over two axes, one of which is 1.
// CHECK-LABEL: func.func @depthwise_kernel
// CHECK:         quant.qcast %{{.*}} : tensor<1x1x2x1xf32> to tensor<1x1x2x1x!quant.uniform<i8:f32:2, {7.812500e-03,1.562500e-02}>>
// CHECK:         quant.qcast %{{.*}} : tensor<1x1x1x1xf32> to tensor<1x1x1x1x!quant.uniform<i8:f32, 7.812500e-03>>
func.func @depthwise_kernel(%kernel: tensor<1x1x2x1xf32>, %single: tensor<1x1x1x1xf32>) -> (tensor<1x1x2x1xf32>, tensor<1x1x1x1xf32>) {
  %0 = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [2, 3] parameters(#tpc.symmetric<threshold = [1.0, 2.0], bits = 8>) : tensor<1x1x2x1xf32>
  %1 = tpc.quantize %single as "single" weight "kernel_attr" axes [2, 3] parameters(#tpc.symmetric<threshold = [1.0], bits = 8>) : tensor<1x1x1x1xf32>
  return %0, %1 : tensor<1x1x2x1xf32>, tensor<1x1x1x1xf32>
}

// CHECK-LABEL: func.func @folded_bias
// CHECK-NEXT:    %[[BIAS:.*]] = "tosa.const"() <{values = dense<[5.000000e-01, -1.000000e+00]> : tensor<2xf32>}>
// CHECK-NEXT:    return %[[BIAS]]
func.func @folded_bias() -> tensor<2xf32> {
  %b = tpc.bias values(dense<[0.5, -1.0]> : tensor<2xf32>) mean(dense<[0.0, 0.25]> : tensor<2xf32>)
         deviation(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
  return %b : tensor<2xf32>
}

// -----

// What upstream has no type for stays.
// CHECK-LABEL: func.func @no_type
// CHECK:         tpc.quantize %{{.*}} as "table"
// CHECK:         tpc.quantize %{{.*}} as "two_axes"
// CHECK:         tpc.quantize %{{.*}} as "tiny"
func.func @no_type(%kernel: tensor<1x1x2x2xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) {
  // expected-remark @below {{'table/kernel_attr' stays a point: its levels are not evenly spaced}}
  %0 = tpc.quantize %kernel as "table" weight "kernel_attr" parameters(#tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.0], table = [-128, -16, 0, 64], bits = 2>) : tensor<1x1x2x2xf32>
  // expected-remark @below {{'two_axes/kernel_attr' stays a point: its channels run over 2 axes, those of a !quant.uniform type over one}}
  %1 = tpc.quantize %kernel as "two_axes" weight "kernel_attr" axes [2, 3] parameters(#tpc.symmetric<threshold = [1.0, 2.0, 3.0, 4.0], bits = 8>) : tensor<1x1x2x2xf32>
  // expected-remark @below {{'tiny/kernel_attr' stays a point: no !quant.uniform type of 8 bits holds its steps}}
  %2 = tpc.quantize %kernel as "tiny" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0e-300], bits = 8>) : tensor<1x1x2x2xf32>
  return %0, %1, %2 : tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>
}
