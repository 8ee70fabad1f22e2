// A module that says what becomes of samples is run as one that is told so, by every tool and pass.
// DEFINE: %{digits} = %S/../data/digits.mlirbc
// DEFINE: %{test} = --input=%S/../data/digits_test.npy
// DEFINE: %{data} = calibration-data=%S/../data/digits_calib.npy
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: mct-opt %{digits} --mct-record-preprocessing=scale=0.0625 -o %t/recorded.mlirbc
// RUN: mct-run %t/recorded.mlirbc %{test} --output=%t/recorded.npy
// RUN: mct-run %{digits} %{test} --input-scale=0.0625 --output=%t/told.npy && cmp %t/told.npy %t/recorded.npy
// Options go first.
// RUN: mct-run %t/recorded.mlirbc %{test} --input-scale=1 --output=%t/one.npy && not cmp %t/told.npy %t/one.npy
// RUN: mct-run %{digits} %{test} --output=%t/plain.npy && cmp %t/one.npy %t/plain.npy

// The record is there in what is made of the module, and everything that runs it on the way reads it.
// RUN: mct-opt %t/recorded.mlirbc --mct-ptq="target=imx500 %{data}" -o %t/quantized.mlirbc
// RUN: mct-opt %t/quantized.mlirbc --mct-record-preprocessing -o %t/without.mlir
// RUN: mct-opt %{digits} --mct-ptq="target=imx500 %{data} input-scale=0.0625" -o %t/quantized.mlir && cmp %t/without.mlir %t/quantized.mlir
// RUN: mct-run %t/quantized.mlirbc --signature | FileCheck %s --check-prefix=SIGNATURE
// RUN: mct-run %t/nchw.mlir --signature --json | FileCheck %s --check-prefix=JSON
// SIGNATURE: input {{.*}} tensor<1x8x8x1xf32>  sample scale 0.0625
// JSON:      "type": "tensor<1x3x2x2xf32>",
// JSON-NEXT: "preprocessing": {
// JSON-NEXT:   "scale": [
// JSON:          100
// JSON-NEXT:   ],
// JSON-NEXT:   "axis": [
// JSON-NEXT:     1
// JSON:        "permutation": [

// An integer network has it, too; what it is compared with need not.
// RUN: mct-opt %t/recorded.mlirbc --mct-ptq="target=imx500_v1_pot %{data}" --mct-simulate-integers -o %t/simulated.mlirbc
// RUN: mct-opt %t/simulated.mlirbc --mct-lower-to-integer=io=integer -o %t/integer.mlirbc
// RUN: mct-opt %t/simulated.mlirbc --mct-record-preprocessing -o %t/unrecorded.mlirbc
// RUN: mct-run %t/integer.mlirbc %{test} --samples=50 --compare=%t/unrecorded.mlirbc --exact | FileCheck %s --check-prefix=EXACT
// EXACT: total {{ *[0-9]+ +0 +[0-9.e-]+$}}

// Samples with the channels last, for a network that has them first.
// RUN: mct-run %t/make.mlir --input=%S/Inputs/cubes.npy --output=%t/cubes.npy
// RUN: mct-run %t/nchw.mlir --input=%t/cubes.npy --output=%t/nchw.npy
// RUN: mct-run %t/nhwc.mlir --input=%t/cubes.npy --output=%t/nhwc.npy && cmp %t/nchw.npy %t/nhwc.npy
// RUN: not mct-run %t/nchw.mlir --input=%S/Inputs/cubes.npy --output=%t/none.npy 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not ls %t/none.npy
// SHAPE: cubes.npy': expected shape Nx2x2x3 for input '{{.*}}', found 2x2x2x2

//--- nchw.mlir
func.func @main(%x: tensor<1x3x2x2xf32> {tpc.preprocessing = {scale = array<f64: 1.0, 10.0, 100.0>, axis = 1 : i64, permutation = array<i64: 2, 0, 1>}}) -> tensor<1x3x2x2xf32> {
  %0 = tosa.abs %x : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  return %0 : tensor<1x3x2x2xf32>
}
//--- nhwc.mlir
func.func @main(%x: tensor<1x2x2x3xf32>) -> tensor<1x3x2x2xf32> {
  %scale = "tosa.const"() <{values = dense<[[[[1.0, 10.0, 100.0]]]]> : tensor<1x1x1x3xf32>}> : () -> tensor<1x1x1x3xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %scale, %shift : (tensor<1x2x2x3xf32>, tensor<1x1x1x3xf32>, tensor<1xi8>) -> tensor<1x2x2x3xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x2x2x3xf32>) -> tensor<1x3x2x2xf32>
  return %1 : tensor<1x3x2x2xf32>
}
//--- make.mlir
func.func @main(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x2x3xf32> {
  %start = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 2, 2, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.slice %x, %start, %size : (tensor<1x2x2x2xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x2x2x1xf32>
  %1 = tosa.exp %0 : (tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %2 = tosa.concat %x, %1 {axis = 3 : i32} : (tensor<1x2x2x2xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x2x3xf32>
  return %2 : tensor<1x2x2x3xf32>
}
