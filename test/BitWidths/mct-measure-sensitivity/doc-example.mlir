// RUN: mct-opt %s --mct-measure-sensitivity="calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy" | FileCheck %s
// RUN: mct-opt %s --mct-measure-sensitivity="calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy threads=1 batch-size=1" -o %t.1.mlir
// RUN: mct-opt %s --mct-measure-sensitivity="calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy threads=3" -o %t.3.mlir
// RUN: cmp %t.1.mlir %t.3.mlir
// RUN: mct-opt %s --mct-measure-sensitivity="calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy max-samples=4" | FileCheck %s --check-prefix=FEWER

// FEWER: samples = 4 : i64

// What is there already is not measured again.
// RUN: mct-opt %t.1.mlir --mct-measure-sensitivity -o %t.again.mlir && cmp %t.1.mlir %t.again.mlir

// With 2 bits the kernel is [1, 0]. What is missing has its mean in the bias then, and is 0.25 more or less than that in
// each of 8 samples: 0.5 of 21, the sum of the squares of the outputs.
#w8 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#w2 = #tpc.attr_quant_config<method = symmetric, bits = 2, enabled = true>

// CHECK-LABEL: func.func @main
// CHECK-SAME:  attributes {tpc.sensitivities = {metric = "mse", of = {conv = [2.325{{[0-9]*}}E-5, 0.0238095238{{[0-9]*}}]}, samples = 8 : i64}}
// CHECK:       tpc.quantize %{{.*}} as "conv" weight
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" config(#w8)
    candidates(#tpc.alternatives<of = "conv", configs = [#w8, #w2], chosen = 0>)
    parameters(#tpc.symmetric<threshold = [1.0], bits = 8>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
