// RUN: mct-opt %s --mct-select-parameters="remarks=true" 2>&1 | FileCheck %s --check-prefixes=CHECK,MSE
// RUN: mct-opt %s --mct-select-parameters="remarks=true error-method=mae" 2>&1 | FileCheck %s --check-prefixes=CHECK,MAE
// RUN: mct-opt %s --mct-select-parameters="remarks=true error-method=lp lp-norm=3" 2>&1 | FileCheck %s --check-prefixes=CHECK,L3
// RUN: mct-opt %s --mct-select-parameters="remarks=true error-method=kl" 2>&1 | FileCheck %s --check-prefixes=CHECK,KL
// RUN: mct-opt %s --mct-select-parameters="remarks=true error-method=octav" 2>&1 | FileCheck %s --check-prefixes=CHECK,OCTAV
// RUN: mct-opt %s --mct-select-parameters 2>&1 | FileCheck %s --check-prefix=NONE --implicit-check-not=remark

// Four times 10.0; power of two, 2 bits: 16 has the levels 0, 4, 8, 12, 8 has 0 to 6 and 32 has 0, 8, 16: 2 off at
// best. The divergence of one bin is 0.
// CHECK-LABEL: remarks.mlir
// MSE-SAME:    remark: mean squared error 4.000000e+00, the least there is
// MAE-SAME:    remark: mean absolute error 2.000000e+00, the least there is
// L3-SAME:     remark: mean error to the power 3.000000e+00 8.000000e+00, the least there is
// KL-SAME:     remark: divergence 0.000000e+00, the least there is
// OCTAV-SAME:  remark: mean squared error 4.000000e+00{{$}}
// CHECK:       remark: covers -1.000000e+00 to 1.000000e+00 without a search
// NONE: parameters
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#pot = #tpc.op_quant_config<act_method = power_of_two, act_bits = 2, input_bits = [8], default_weight = #w>
func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = tpc.quantize %arg0 as "pot" activation config(#pot)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 10.0, max = 10.0, histogram = #tpc.histogram<step_exponent = -8, first = 2560, counts = dense<4> : tensor<1xi64>>>) : tensor<4xf32>
  %1 = tpc.quantize %arg0 as "tanh" activation config(#pot) range(#tpc.range<-1.0, 1.0>)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 0.75>) : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
