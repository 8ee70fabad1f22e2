// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy" --mct-select-parameters | FileCheck %s --check-prefix=BEFORE
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy" --mct-select-parameters --mct-refine-thresholds="calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy remarks" 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARKS < %t.remarks

// The result is the second number of a pair, 2 or 0, and little of the first one, 1 or -1. Of the levels -2, -1, 0 and 1
// both take those with the least error: 2 becomes 1. With -4, -2, 0 and 2 the first number is wrong in all samples, which
// is a tenth of that in the result.
// BEFORE: tpc.quantize %{{.*}} as "x" {{.*}} parameters(#tpc.power_of_two<threshold = [2.000000e+00], bits = 2>)
// CHECK:  tpc.quantize %{{.*}} as "x" {{.*}} parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 2>) selection(#tpc.selection<error_method = given, error = [0.499{{[0-9]*}}]>)

// The sum of the squared errors of the eight results goes from 4 to 0.08. Nothing else is quantized.
// REMARKS: remark: {{.*}}'x' has a step of 2 instead of 1: its share of the error of the results goes from 1 to 0.02
// REMARKS-NOT: remark:
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act = #tpc.op_quant_config<act_method = power_of_two, act_bits = 2, input_bits = [8], default_weight = #w>
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[0.1, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tpc.quantize %x as "x" activation config(#act) : tensor<1x1x1x2xf32>
  %1 = tosa.conv2d %0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %1 : tensor<1x1x1x1xf32>
}
