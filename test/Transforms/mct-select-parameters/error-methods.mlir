// RUN: mct-opt %s --mct-select-parameters="error-method=no-clipping" | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: mct-opt %s --mct-select-parameters="error-method=mse" | FileCheck %s --check-prefixes=CHECK,MSE
// RUN: mct-opt %s --mct-select-parameters="error-method=mae" | FileCheck %s --check-prefixes=CHECK,MAE
// RUN: mct-opt %s --mct-select-parameters="error-method=lp" | FileCheck %s --check-prefixes=CHECK,MSE
// RUN: mct-opt %s --mct-select-parameters="error-method=lp lp-norm=4" | FileCheck %s --check-prefixes=CHECK,L4
// RUN: mct-opt %s --mct-select-parameters="error-method=kl" | FileCheck %s --check-prefixes=CHECK,KL
// RUN: mct-opt %s --mct-select-parameters="error-method=percentile" | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: mct-opt %s --mct-select-parameters="error-method=percentile percentile=98" | FileCheck %s --check-prefixes=CHECK,P98
// RUN: mct-opt %s --mct-select-parameters="error-method=octav" | FileCheck %s --check-prefixes=CHECK,OCTAV
// RUN: mct-opt %s --mct-select-parameters="min-threshold=5" | FileCheck %s --check-prefixes=CHECK,MIN
// RUN: mct-opt %s --mct-select-parameters="error-method=no-clipping z-threshold=5" | FileCheck %s --check-prefixes=CHECK,Z
// RUN: mct-opt %s --mct-select-parameters="error-method=mae threads=1" -o %t.1
// RUN: mct-opt %s --mct-select-parameters="error-method=mae threads=3" -o %t.3
// RUN: cmp %t.1 %t.3

// The values: one 1.0, 62 in [1, 1 + 1/256), for which 1.00195 stands, and one 8.0. Power of two, 2 bits, levels
// 0, t/4, t/2, 3t/4:
//   t      error of 1.00195   of 8    mean square   mean absolute   mean fourth power
//   16     1.002 (to 0)       0       0.99          0.99            0.99
//   8      0.998 (to 2)       2       1.04          1.01            1.23
//   4      0.002              5       0.39          0.08            9.8
//   2      0.002              6.5     0.66          0.10            28
// Of the 64 values 98.4 % are below 1.01. The score of 8.0 is 7.9. OCTAV's s is 8 / (1 + 63 * 4^-2 / 12) = 6.02.
// No bin shares a level with another when t is 8: the divergence is 0.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#pot = #tpc.op_quant_config<act_method = power_of_two, act_bits = 2, input_bits = [8], default_weight = #w>
#sym = #tpc.op_quant_config<act_method = symmetric, act_bits = 2, input_bits = [8], default_weight = #w>

// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // NONE:  as "pot" {{.*}} parameters(#tpc.power_of_two<threshold = [8.000000e+00]
  // MSE:   as "pot" {{.*}} parameters(#tpc.power_of_two<threshold = [4.000000e+00]
  // MAE:   as "pot" {{.*}} parameters(#tpc.power_of_two<threshold = [4.000000e+00]
  // L4:    as "pot" {{.*}} parameters(#tpc.power_of_two<threshold = [1.600000e+01]
  // KL:    as "pot" {{.*}} parameters(#tpc.power_of_two<threshold = [8.000000e+00]
  // P98:   as "pot" {{.*}} parameters(#tpc.power_of_two<threshold = [2.000000e+00]
  // OCTAV: as "pot" {{.*}} parameters(#tpc.power_of_two<threshold = [4.000000e+00]
  // MIN:   as "pot" {{.*}} parameters(#tpc.power_of_two<threshold = [1.600000e+01]
  // Z:     as "pot" {{.*}} parameters(#tpc.power_of_two<threshold = [2.000000e+00]
  %0 = tpc.quantize %arg0 as "pot" activation config(#pot)
    statistics(#tpc.statistics<count = 64, zeros = 0, min = 1.0, max = 8.0, histogram = #tpc.histogram<step_exponent = -8, first = 256, counts = sparse<[[0], [1792]], [63, 1]> : tensor<1793xi64>>>) : tensor<4xf32>
  // Symmetric: with the levels 1 and 3 the squares are least at (63.12 + 3 * 8) / (63 + 9) = 1.21 per level.
  // NONE:  as "sym" {{.*}} parameters(#tpc.symmetric<threshold = [8.000000e+00]
  // MSE:   as "sym" {{.*}} parameters(#tpc.symmetric<threshold = [4.840{{[0-9]*}}]
  // MAE:   as "sym" {{.*}} parameters(#tpc.symmetric<threshold = [4.0078125
  // KL:    as "sym" {{.*}} parameters(#tpc.symmetric<threshold = [8.000000e+00]
  // P98:   as "sym" {{.*}} parameters(#tpc.symmetric<threshold = [1.001953
  // OCTAV: as "sym" {{.*}} parameters(#tpc.symmetric<threshold = [6.0235{{[0-9]*}}]
  // Z:     as "sym" {{.*}} parameters(#tpc.symmetric<threshold = [1.001953
  %1 = tpc.quantize %arg0 as "sym" activation config(#sym)
    statistics(#tpc.statistics<count = 64, zeros = 0, min = 1.0, max = 8.0, histogram = #tpc.histogram<step_exponent = -8, first = 256, counts = sparse<[[0], [1792]], [63, 1]> : tensor<1793xi64>>>) : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
