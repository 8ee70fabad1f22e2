// A table that was measured in another way.
// DEFINE: %{measure} = not mct-opt %s -o %t --mct-measure-sensitivity
// RUN: %{measure} 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %{measure}="compare-points=1" 2>&1 | FileCheck %s --check-prefix=WEIGHTING
// RUN: %{measure}="compare-points=1 distance=mse weighting=hessian" 2>&1 | FileCheck %s --check-prefix=DISTANCE
// RUN: %{measure}="compare-points=0.5 weighting=hessian" 2>&1 | FileCheck %s --check-prefix=FRACTION
// RUN: %{measure}="compare-points=1 weighting=hessian metric=kl" 2>&1 | FileCheck %s --check-prefix=METRIC
// RUN: not test -e %t
// RUN: %{measure}="function=results compare-points=1" 2>&1 | FileCheck %s --check-prefix=RESULTS
// RUN: mct-opt %s --mct-measure-sensitivity="function=results" | FileCheck %s --check-prefix=KEPT

// NONE:      error: 'func.func' op has 'tpc.sensitivities' that was measured with compare-points=1 distance=auto weighting=hessian, and not with compare-points=0; ask for the same, or remove it, and run mct-measure-sensitivity again
// WEIGHTING: measured with compare-points=1 distance=auto weighting=hessian, and not with compare-points=1 distance=auto weighting=average;
// DISTANCE:  measured with compare-points=1 distance=auto weighting=hessian, and not with compare-points=1 distance=mse weighting=hessian;
// FRACTION:  measured with compare-points=1 distance=auto weighting=hessian, and not with compare-points=0.5 distance=auto weighting=hessian;
// METRIC:    error: 'func.func' op has 'tpc.sensitivities' of the metric mse, and not kl; remove it, and run mct-measure-sensitivity again
// RESULTS:   measured with compare-points=0, and not with compare-points=1 distance=auto weighting=average;
// KEPT:      @results
// KEPT-SAME: tpc.sensitivities
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#act4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w>
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32>
    attributes {tpc.sensitivities = {metric = "mse", of = {x = [0.0, 0.1]}, samples = 4 : i64, points = {fraction = 1.0, distance = "auto", weighting = "hessian"}}} {
  %0 = tpc.quantize %x as "x" activation config(#act8) candidates(#tpc.alternatives<of = "x", configs = [#act8, #act4], chosen = 0>) parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
func.func @results(%x: tensor<1x2xf32>) -> tensor<1x2xf32>
    attributes {tpc.sensitivities = {metric = "mse", of = {y = [0.0, 0.1]}, samples = 4 : i64}} {
  %0 = tpc.quantize %x as "y" activation config(#act8) candidates(#tpc.alternatives<of = "y", configs = [#act8, #act4], chosen = 0>) parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
