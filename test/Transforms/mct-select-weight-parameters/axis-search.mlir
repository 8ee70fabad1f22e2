// RUN: mct-opt %s --mct-select-weight-parameters="error-method=no-clipping" | FileCheck %s

#sym = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#one = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>

// Rows fit better than columns: 3, 7 and 11 times 128/127.
// CHECK-LABEL: func.func @rows
// CHECK:         weight "pos_attr" axes [0] {{.*}} parameters(#tpc.symmetric<threshold = [3.0236{{[0-9]*}}, 7.0551{{[0-9]*}}, 11.0866{{[0-9]*}}], bits = 8>)
func.func @rows() -> tensor<3x4xf32> {
  %k = "tosa.const"() <{values = dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]> : tensor<3x4xf32>}> : () -> tensor<3x4xf32>
  %w = tpc.quantize %k as "p" weight "pos_attr" config(#sym) : tensor<3x4xf32>
  return %w : tensor<3x4xf32>
}

// Axes that are known stay.
// CHECK-LABEL: func.func @known
// CHECK:         weight "pos_attr" axes [1] {{.*}} parameters(#tpc.symmetric<threshold = [{{[^,]*}}, {{[^,]*}}], bits = 8>)
func.func @known() -> tensor<2x2xf32> {
  %k = "tosa.const"() <{values = dense<[[0.0, 1.0], [4.0, 5.0]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
  %w = tpc.quantize %k as "p" weight "pos_attr" axes [1] config(#sym) : tensor<2x2xf32>
  return %w : tensor<2x2xf32>
}

// One parameter per tensor is asked for; a kernel without axes has none; and one element needs none.
// CHECK-LABEL: func.func @per_tensor
// CHECK:         weight "pos_attr" config
// CHECK:         weight "kernel_attr" config
// CHECK:         weight "pos_attr" config
func.func @per_tensor() -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<1x1xf32>) {
  %k = "tosa.const"() <{values = dense<[[0.0, 1.0], [4.0, 5.0]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %0 = tpc.quantize %k as "a" weight "pos_attr" config(#one) : tensor<2x2xf32>
  %1 = tpc.quantize %k as "b" weight "kernel_attr" config(#sym) : tensor<2x2xf32>
  %2 = tpc.quantize %one as "c" weight "pos_attr" config(#sym) : tensor<1x1xf32>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<1x1xf32>
}
