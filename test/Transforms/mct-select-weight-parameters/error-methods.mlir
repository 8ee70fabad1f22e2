// RUN: mct-opt %s --mct-select-weight-parameters="error-method=no-clipping" | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: mct-opt %s --mct-select-weight-parameters="error-method=mse" | FileCheck %s --check-prefixes=CHECK,MSE
// RUN: mct-opt %s --mct-select-weight-parameters="error-method=mae" | FileCheck %s --check-prefixes=CHECK,MAE
// RUN: mct-opt %s --mct-select-weight-parameters="error-method=lp" | FileCheck %s --check-prefixes=CHECK,MSE
// RUN: mct-opt %s --mct-select-weight-parameters="error-method=lp lp-norm=1" | FileCheck %s --check-prefixes=CHECK,MAE
// RUN: mct-opt %s --mct-select-weight-parameters="error-method=kl" | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: mct-opt %s --mct-select-weight-parameters="error-method=percentile" | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: mct-opt %s --mct-select-weight-parameters="error-method=percentile percentile=90" | FileCheck %s --check-prefixes=CHECK,P90
// RUN: mct-opt %s --mct-select-weight-parameters="error-method=octav" | FileCheck %s --check-prefixes=CHECK,OCTAV
// RUN: mct-opt %s --mct-select-weight-parameters="min-threshold=20" | FileCheck %s --check-prefixes=CHECK,MIN

// Power of two, 2 bits: levels -t, -t/2, 0, t/2. Errors of 15 ones and one 8:
//   t      of 1       of 8    mean square   mean absolute
//   16     1 (to 0)   0       15/16         15/16
//   8      1 (to 0)   4       31/16         19/16
//   2      0          7       49/16         7/16
// The s of OCTAV is 8 / (1 + 15 * 4^-2 / 3) = 6.1; of its neighbours 8 is the better one.
#pot = #tpc.attr_quant_config<method = power_of_two, bits = 2, enabled = true>

// CHECK-LABEL: func.func @one_large
// NONE:        parameters(#tpc.power_of_two<threshold = [1.600000e+01]
// MSE:         parameters(#tpc.power_of_two<threshold = [1.600000e+01]
// MAE:         parameters(#tpc.power_of_two<threshold = [2.000000e+00]
// P90:         parameters(#tpc.power_of_two<threshold = [2.000000e+00]
// OCTAV:       parameters(#tpc.power_of_two<threshold = [8.000000e+00]
// MIN:         parameters(#tpc.power_of_two<threshold = [3.200000e+01]
func.func @one_large() -> tensor<16xf32> {
  %k = "tosa.const"() <{values = dense<[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 8.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]> : tensor<16xf32>}> : () -> tensor<16xf32>
  %w = tpc.quantize %k as "p" weight "kernel_attr" config(#pot) : tensor<16xf32>
  return %w : tensor<16xf32>
}

// With a 3 instead: t = 8 moves every one to 0 and 3 to 4, mean square 16/16; t = 2 only moves 3 to 1: 4/16. The
// divergence is 0 at 8, where 1 and 3 have levels of their own and nothing is clipped.
// CHECK-LABEL: func.func @one_larger
// NONE:        parameters(#tpc.power_of_two<threshold = [8.000000e+00]
// MSE:         parameters(#tpc.power_of_two<threshold = [2.000000e+00]
func.func @one_larger() -> tensor<16xf32> {
  %k = "tosa.const"() <{values = dense<[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]> : tensor<16xf32>}> : () -> tensor<16xf32>
  %w = tpc.quantize %k as "p" weight "kernel_attr" config(#pot) : tensor<16xf32>
  return %w : tensor<16xf32>
}
