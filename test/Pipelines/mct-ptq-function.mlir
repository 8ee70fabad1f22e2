// One function is quantized: the one that is asked for, or main, or the only public one. The others get no points.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: mct-opt %t/two.mlir --mct-ptq="target=imx500 calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy" | FileCheck %s
// RUN: mct-opt %t/two.mlir --mct-ptq="target=imx500 calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy function=other activation-bias-correction=true" | FileCheck %s --check-prefix=OTHER
// RUN: mct-opt %t/graph.mlir --mct-ptq="target=imx500 calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy activation-bias-correction=true" | FileCheck %s --check-prefix=GRAPH
// RUN: not mct-opt %t/two.mlir --mct-ptq="target=imx500 calibration-data=%S/../Calibration/mct-calibrate/Inputs/two_samples.npy function=none" 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK-LABEL: func.func @main(
// CHECK:         as "exp" activation {{.*}} parameters(
// CHECK-LABEL: func.func @other(
// CHECK-NOT:     tpc.quantize

// OTHER-LABEL: func.func @main(
// OTHER-NOT:     tpc.quantize
// OTHER-LABEL: func.func @other(
// OTHER:         as "tanh" activation {{.*}} parameters(

// GRAPH-LABEL: func.func private @helper(
// GRAPH-NOT:     tpc.quantize
// GRAPH-LABEL: func.func @main_graph(
// GRAPH:         as "exp" activation {{.*}} parameters(

// NONE: error: 'builtin.module' op has no function 'none' with a body; it has 'main', 'other'

//--- two.mlir
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
func.func @other(%arg0: tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %0 = tosa.tanh %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0, %0 : tensor<1x4xf32>, tensor<1x4xf32>
}

//--- graph.mlir
func.func private @helper(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.tanh %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
func.func @main_graph(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
