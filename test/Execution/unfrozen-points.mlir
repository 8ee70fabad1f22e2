// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: not mct-run %t/learned.mlir --input=0:%S/Inputs/a.npy --input=1:%S/Inputs/a.npy 2>&1 | FileCheck %s --check-prefix=LEARNED
// RUN: not mct-opt %t/learned.mlir --mct-lower-to-integer -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=LEARNED
// RUN: not mct-opt %t/learned.mlir --mct-lower-to-quant -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=LEARNED
// RUN: not mct-translate --export-onnx %t/learned.mlir -o %t/out.onnx 2>&1 | FileCheck %s --check-prefix=LEARNED
// RUN: not mct-opt %t/learned.mlir --mct-simulate-integers -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=LEARNED
// RUN: not mct-translate --export-parameters %t/learned.mlir -o %t/out.onnx 2>&1 | FileCheck %s --check-prefix=LEARNED
// RUN: not mct-opt %t/host.mlir --mct-lower-to-integer -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: not mct-opt %t/host.mlir --mct-lower-to-quant -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: not mct-opt %t/host.mlir --mct-simulate-integers -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: not mct-translate --export-onnx %t/host.mlir -o %t/out.onnx 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: not ls %t/out.mlir %t/out.onnx

// What these points do, their parameters do not tell: nothing runs, lowers or
// exports them as if they did nothing.

// LEARNED: error: 'tpc.quantize' op has learned values, which are not in its parameters; replace it by its computation with mct-expand-trainable-points
// HOST: error: 'tpc.quantize' op is quantized by "some.Where" of the caller, which its parameters do not describe; freeze it there with mct-qat=epochs=0

//--- learned.mlir
func.func @main(%x: tensor<1x8xf32>, %t: tensor<1x1xf32>) -> tensor<1x8xf32> {
  %0 = tpc.quantize %x as "x" activation trainable(#tpc.learned_threshold<bits = 2>) learned(%t : tensor<1x1xf32>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

//--- host.mlir
func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.symmetric<threshold = [1.0], bits = 8>) : tensor<1x8xf32>
  %1 = tpc.quantize %0 as "y" activation trainable(#tpc.host_quantizer<name = "some.Where", config = {}>) : tensor<1x8xf32>
  return %1 : tensor<1x8xf32>
}
