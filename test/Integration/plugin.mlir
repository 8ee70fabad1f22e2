// A stock mlir-opt loads dialect and passes from the plugin and runs the whole job; its result is ours, byte for byte.
// RUN: mlir-opt %s --load-dialect-plugin=%mct_obj/lib/MctPlugin.so --load-pass-plugin=%mct_obj/lib/MctPlugin.so --pass-pipeline='builtin.module(mct-ptq{target=imx500 calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy})' -o %t.stock
// RUN: mct-opt %s --mct-ptq="target=imx500 calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy" -o %t.ours
// RUN: diff %t.stock %t.ours
// RUN: FileCheck %s < %t.stock

// CHECK: tpc.quantize {{.*}} as "exp" {{.*}} parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8, is_signed = false>)
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
