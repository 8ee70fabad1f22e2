// RUN: not mct-opt %s --mct-measure-sensitivity -o %t 2>&1 | FileCheck %s
// RUN: not test -e %t
// RUN: not mct-opt %s --mct-measure-sensitivity="compare-points=1.5" -o %t 2>&1 | FileCheck %s --check-prefix=FRACTION
// RUN: not test -e %t
// RUN: not mct-opt %s --mct-measure-sensitivity="weighting=hessian" -o %t 2>&1 | FileCheck %s --check-prefix=WEIGHTING
// RUN: not mct-opt %s --mct-measure-sensitivity="distance=kl" -o %t 2>&1 | FileCheck %s --check-prefix=DISTANCE
// RUN: not mct-opt %s --mct-measure-sensitivity="distance=auto weighting=average" -o %t 2>&1 | FileCheck %s
// RUN: not test -e %t

// FRACTION: error: compare-points is 1.5{{0*}}{{.*}}, which is not a fraction; give a number from 0 to 1
// WEIGHTING: error: distance and weighting are of points inside of the network, and compare-points=0 compares none; give, for example, compare-points=1 distance=auto weighting=hessian (mct-ptq: sensitivity-compare-points=1)
// DISTANCE: compare-points=1 distance=kl weighting=average (mct-ptq: sensitivity-compare-points=1)
// CHECK: error: measuring needs samples; give calibration-data=FILE.npy
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#act4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w>
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %0 = tpc.quantize %x as "x" activation config(#act8) candidates(#tpc.alternatives<of = "x", configs = [#act8, #act4], chosen = 0>) parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x1x2xf32>
  return %0 : tensor<1x1x1x2xf32>
}
