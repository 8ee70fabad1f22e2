// Halfway between two levels a value goes up, or to the even one, as the quantizer says: activations and constants.
// Everywhere else the two agree: the second column has no ties.
// RUN: mct-run %s --input=%S/Inputs/ties.npy --function=half_up --output=%t.up.npy | FileCheck %s
// RUN: cmp %t.up.npy %S/Inputs/half_up.npy
// RUN: mct-run %s --input=%S/Inputs/ties.npy --function=half_even --output=%t.even.npy | FileCheck %s
// RUN: cmp %t.even.npy %S/Inputs/half_even.npy
// CHECK: samples    6

// Steps are 1. First column: -2.5 -1.5 -0.5 0.5 1.5 2.5, plus 0.5; second: those plus 0.25, plus 1.5.
func.func @half_up(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %c = "tosa.const"() <{values = dense<[[0.5, 1.5]]> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
  %w = tpc.quantize %c as "sum" weight "pos_attr" axes [1] parameters(#tpc.symmetric<threshold = [4.0, 4.0], bits = 3, rounding = half_up>) : tensor<1x2xf32>
  %q = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 3, rounding = half_up>) : tensor<1x2xf32>
  %0 = tosa.add %q, %w : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  %1 = tpc.quantize %0 as "sum" activation parameters(#tpc.uniform<scale = [0.25], zero_point = [100], bits = 8, rounding = half_up>) : tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}

func.func @half_even(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %c = "tosa.const"() <{values = dense<[[0.5, 1.5]]> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
  %w = tpc.quantize %c as "sum" weight "pos_attr" axes [1] parameters(#tpc.symmetric<threshold = [4.0, 4.0], bits = 3>) : tensor<1x2xf32>
  %q = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 3, rounding = half_even>) : tensor<1x2xf32>
  %0 = tosa.add %q, %w : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
