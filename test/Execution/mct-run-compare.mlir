// The quantized sum against the float one, by name: 8 bits in [0, 64) have steps of 0.25 and hit every value; 2 bits have
// steps of 16 and miss. The reference may be a module without points.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: mct-run %t/quantized.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --compare=%t/float.mlir --json | FileCheck %s
// RUN: mct-run %t/quantized.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --compare=%t/float.mlir | FileCheck %s --check-prefix=TEXT
// RUN: mct-run %t/quantized.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --compare=%t/float.mlir --sort=error | FileCheck %s --check-prefix=SORTED
// RUN: mct-run %t/quantized.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --compare=%t/quantized.mlir | FileCheck %s --check-prefix=SELF
// RUN: mct-run %t/quantized.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --compare=%t/float.mlir --float-points="coa*" | FileCheck %s --check-prefix=FLOAT
// RUN: mct-run %t/quantized.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --compare=%t/quantized.mlir --float-points=coarse,fine | FileCheck %s --check-prefix=BOTH
// RUN: not mct-run %t/quantized.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --float-points="coarse,fi" 2>&1 | FileCheck %s --check-prefix=NOBODY
// RUN: not mct-run %t/quantized.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --float-points="co[" 2>&1 | FileCheck %s --check-prefix=PATTERN
// RUN: not mct-run %t/quantized.mlir --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --compare=%t/other.mlir 2>&1 | FileCheck %s --check-prefix=INPUTS

// The sums are 11, 22, 33, 44, 55 and 6; on the coarse grid they become 16, 16, 32, 48, 48 and 0.
// No answers are compared: sums are no scores.
// CHECK-NOT:  "agreement"
// CHECK:      "results": [
// CHECK:        "name": "coarse",
// CHECK:      "points": [
// CHECK:        "name": "fine",
// CHECK-NEXT:   "sqnr_db": null,
// CHECK-NEXT:   "cosine": 1,
// CHECK-NEXT:   "max_error": 0
// CHECK:        "name": "coarse",
// CHECK-NEXT:   "sqnr_db": 16.
// CHECK-NEXT:   "cosine": 0.98
// CHECK-NEXT:   "max_error": 7
// TEXT: result SQNR dB
// TEXT-NEXT: coarse 16.
// TEXT-NEXT: point SQNR dB
// TEXT: fine inf 1.000000 0
// TEXT: coarse 16.
// SORTED:      point SQNR dB
// SORTED-NEXT: coarse 16.
// SORTED-NEXT: fine inf 1.000000 0
// SELF: result SQNR dB
// SELF-NEXT: add inf
// SELF: point SQNR dB
// SELF: coarse inf
// Points that are switched off, in the module that is run and not in the one that it is compared with.
// FLOAT:      fine inf 1.000000 0
// FLOAT-NEXT: coarse inf 1.000000 0
// BOTH: coarse 15.7
// NOBODY: error: no point is named 'fi'
// PATTERN: error: 'co[': invalid glob pattern
// INPUTS: error: {{.*}}other.mlir: its inputs are not those of {{.*}}quantized.mlir

//--- float.mlir
func.func @main(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tosa.add %arg0, %arg1 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32> loc("fine")
  %1 = tosa.identity %0 : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("coarse")
  return %1 : tensor<1x2xf32>
}

//--- quantized.mlir
func.func @main(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tosa.add %arg0, %arg1 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  %1 = tpc.quantize %0 as "fine" activation parameters(#tpc.power_of_two<threshold = [64.0], bits = 8, is_signed = false>) : tensor<1x2xf32>
  %2 = tpc.quantize %1 as "coarse" activation parameters(#tpc.power_of_two<threshold = [64.0], bits = 2, is_signed = false>) : tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}

//--- other.mlir
func.func @main(%arg0: tensor<1x3xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x3xf32> {
  return %arg0 : tensor<1x3xf32>
}
