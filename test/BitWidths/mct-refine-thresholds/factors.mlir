// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy" -o %t.mlir
// RUN: mct-opt %t.mlir --mct-refine-thresholds="calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy remarks" -o %t.refined.mlir 2> %t.remarks
// RUN: FileCheck %s < %t.refined.mlir
// RUN: FileCheck %s --check-prefix=REMARKS < %t.remarks
// RUN: mct-opt %t.mlir --mct-refine-thresholds="calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy threads=1 batch-size=1" -o %t.1.mlir
// RUN: mct-opt %t.mlir --mct-refine-thresholds="calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy threads=3" -o %t.3.mlir
// RUN: cmp %t.1.mlir %t.3.mlir
// RUN: cmp %t.1.mlir %t.refined.mlir

// Thresholds and scales that are no powers of two are multiplied by 0.75 and 1.5, too: the results are exact with steps
// of 2 and 1. The grid that the target fixes stays, as does one that
// is exact, with which nothing is compared, and one that is exact in the part of the values that has an effect.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#symmetric = #tpc.op_quant_config<act_method = symmetric, act_bits = 2, input_bits = [8], default_weight = #w>
#uniform = #tpc.op_quant_config<act_method = uniform, act_bits = 2, input_bits = [8], default_weight = #w>
#fixed = #tpc.op_quant_config<act_method = uniform, act_bits = 2, input_bits = [8], fixed_scale = 1.5, fixed_zero_point = 1, default_weight = #w>

// CHECK: as "symmetric" {{.*}} parameters(#tpc.symmetric<threshold = [4.000000e+00], bits = 2>)
// CHECK: as "uniform" {{.*}} parameters(#tpc.uniform<scale = [1.000000e+00], zero_point = [1], bits = 2>)
// CHECK: as "fixed" {{.*}} parameters(#tpc.uniform<scale = [1.500000e+00], zero_point = [1], bits = 2>)
// CHECK: as "best" {{.*}} parameters(#tpc.uniform<scale = [1.000000e+00], zero_point = [1], bits = 2>)
// CHECK: as "kept" {{.*}} parameters(#tpc.symmetric<threshold = [2.000000e+00], bits = 2>)
// REMARKS-DAG: 'symmetric' has a step of 2 instead of 2.66667: its share of the error of the results goes from {{.*}} to 0
// REMARKS-DAG: 'uniform' has a step of 1 instead of 1.33333: its share of the error of the results goes from {{.*}} to 0
// REMARKS-DAG: 'kept' keeps its parameters: no other threshold has less than its share of the error of the results, 0
// REMARKS-NOT: {{'fixed'|'best'}}
func.func @main(%x: tensor<1x1x1x2xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>) {
  %first = tosa.const_shape {values = dense<[0, 0, 0, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<1> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tpc.quantize %x as "symmetric" activation config(#symmetric) parameters(#tpc.symmetric<threshold = [5.3333333333333333], bits = 2>) : tensor<1x1x1x2xf32>
  %1 = tosa.slice %0, %first, %size : (tensor<1x1x1x2xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x1x1x1xf32>
  %2 = tpc.quantize %x as "uniform" activation config(#uniform) parameters(#tpc.uniform<scale = [1.3333333333333333], zero_point = [1], bits = 2>) : tensor<1x1x1x2xf32>
  %3 = tosa.abs %2 : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %4 = tpc.quantize %x as "fixed" activation config(#fixed) parameters(#tpc.uniform<scale = [1.5], zero_point = [1], bits = 2>) : tensor<1x1x1x2xf32>
  %5 = tosa.abs %4 : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %6 = tpc.quantize %x as "best" activation config(#uniform) parameters(#tpc.uniform<scale = [1.0], zero_point = [1], bits = 2>) : tensor<1x1x1x2xf32>
  %7 = tosa.abs %6 : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %zeros = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %8 = tpc.quantize %x as "kept" activation config(#symmetric) parameters(#tpc.symmetric<threshold = [2.0], bits = 2>) : tensor<1x1x1x2xf32>
  %9 = tosa.slice %8, %zeros, %size : (tensor<1x1x1x2xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x1x1x1xf32>
  return %1, %3, %5, %7, %9 : tensor<1x1x1x1xf32>, tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>
}
