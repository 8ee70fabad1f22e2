// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy" --mct-select-parameters -o %t.mlir
// RUN: mct-opt %t.mlir --mct-refine-thresholds="calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy" | FileCheck %s --check-prefix=ALONE
// RUN: mct-opt %t.mlir --mct-judge-correction="correction=threshold_refinement made-by=builtin.module(mct-refine-thresholds{calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy}) calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy remarks" 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARKS < %t.remarks

// The result is a tenth of the first number of a pair, 1 or -1, plus a tenth of the second one, 2 or 0, as the difference of
// two products. "x" and "fixed", whose grid is the target's, make 1 of 2, and the results are wrong by 0.1 in four samples.
// By itself, "x" is better with twice the threshold (doc-example.mlir), but then results are wrong by 0.8, 1 and 0.1:
// 10 log10(3.32 / 0.04) is 19.19 dB.
// ALONE: tpc.quantize %{{.*}} as "x" {{.*}} parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 2>)

// CHECK:     func.func @main
// CHECK-SAME: tpc.rejected_corrections = [{correction = "threshold_refinement", loss = 19.19{{[0-9]*}} : f64, output = 0 : i64, samples = 8 : i64
// CHECK:     tpc.quantize %{{.*}} as "x" {{.*}} parameters(#tpc.power_of_two<threshold = [2.000000e+00], bits = 2>)
// REMARKS:   remark: {{.*}}'threshold_refinement' is undone: result 0 of the network has 19.19 dB more error with it
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act = #tpc.op_quant_config<act_method = power_of_two, act_bits = 2, input_bits = [8], default_weight = #w>
#fixed = #tpc.op_quant_config<act_method = power_of_two, act_bits = 2, input_bits = [8], default_weight = #w, fixed_scale = 1.0, fixed_zero_point = 0>
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[0.1, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %other = "tosa.const"() <{values = dense<[[[[0.0, 0.9]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tpc.quantize %x as "x" activation config(#act) : tensor<1x1x1x2xf32>
  %1 = tosa.conv2d %0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %2 = tpc.quantize %x as "fixed" activation config(#fixed) : tensor<1x1x1x2xf32>
  %3 = tosa.conv2d %2, %other, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %4 = tosa.sub %1, %3 : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %4 : tensor<1x1x1x1xf32>
}
