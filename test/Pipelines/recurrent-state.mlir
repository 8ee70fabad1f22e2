// A state of two rows beside an input of one row: calibration and the corrections take a sample to be all of it, however
// the file is written.
// RUN: mct-opt %s --mct-ptq="target=imx500 overrides=%S/Inputs/conv4.rules calibration-data=row:%S/../Execution/Inputs/a.npy,state:%S/../Execution/Inputs/rows6.npy" -o %t.rows.mlir
// RUN: mct-opt %s --mct-ptq="target=imx500 overrides=%S/Inputs/conv4.rules calibration-data=row:%S/../Execution/Inputs/a.npy,state:%S/../Execution/Inputs/stacked.npy" -o %t.stacked.mlir
// RUN: cmp %t.rows.mlir %t.stacked.mlir
// RUN: FileCheck %s --input-file=%t.stacked.mlir
// RUN: mct-run %t.stacked.mlir --input=0:%S/../Execution/Inputs/a.npy,1:%S/../Execution/Inputs/stacked.npy | FileCheck %s --check-prefix=RUNS

// CHECK: as "row" activation {{.*}}count = 6, zeros = 0, min = 1.000000e+00, max = 6.000000e+00
// CHECK: as "state" activation {{.*}}count = 12, zeros = 1, min = 0.000000e+00, max = 1.100000e+01
// CHECK: as "conv" activation {{.*}}count = 12,
// CHECK: as "sum" activation {{.*}}count = 12,
// RUNS: samples    3
func.func @main(%arg0: tensor<1x2xf32> loc("row"), %arg1: tensor<2x2xf32> loc("state")) -> tensor<2x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = "tosa.const"() <{values = dense<[[[[0.3, -0.7]]], [[[0.11, 0.45]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<[0.1, -0.2]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %image = tosa.const_shape {values = dense<[1, 1, 2, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %rows = tosa.const_shape {values = dense<[2, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.reshape %arg1, %image : (tensor<2x2xf32>, !tosa.shape<4>) -> tensor<1x1x2x2xf32> loc("as_image")
  %1 = tosa.conv2d %0, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2x2xf32> loc("conv")
  %2 = tosa.reshape %1, %rows : (tensor<1x1x2x2xf32>, !tosa.shape<2>) -> tensor<2x2xf32> loc("as_rows")
  %3 = tosa.add %2, %arg0 : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32> loc("sum")
  return %3 : tensor<2x2xf32>
}
