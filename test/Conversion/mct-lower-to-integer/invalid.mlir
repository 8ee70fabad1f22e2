// RUN: mct-opt %s --mct-lower-to-integer --split-input-file --verify-diagnostics
// RUN: not mct-opt %S/Inputs/called.mlir --mct-lower-to-integer="io=integer" 2>&1 | FileCheck %s --check-prefix=CALLED
// RUN: mct-opt %S/Inputs/called.mlir --mct-lower-to-integer | FileCheck %s --check-prefix=FLOAT
// CALLED: called.mlir:1:1: error: 'func.func' op is called, and its arguments and results would not be those of the call any more
// CALLED: called.mlir:6:8: note: called here; io=float keeps them, or inline it before
// FLOAT: call @main
// RUN: not mct-opt %S/doc-example.mlir --mct-lower-to-integer="extensions=int5" 2>&1 | FileCheck %s --check-prefix=EXTENSION
// EXTENSION: error: unknown extension 'int5'
// EXTENSION: note: there are int4 and int16
// RUN: not mct-opt %S/doc-example.mlir --mct-lower-to-integer="batch=-1" 2>&1 | FileCheck %s --check-prefix=BATCH
// BATCH: invalid

// expected-error @below {{no function has an activation point with parameters}}
// expected-note @below {{quantize the network before (mct-ptq)}}
module {
  func.func @main(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
    %in = tpc.quantize %x as "x" activation : tensor<1x3xf32>
    return %in : tensor<1x3xf32>
  }
}

// -----

// expected-error @below {{has several blocks, which no integer network has}}
// expected-note @below {{only straight code is lowered}}
func.func @main(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %in = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x3xf32>
  cf.br ^next
^next:
  return %in : tensor<1x3xf32>
}

// -----

// expected-error @below {{'func.func' op has an argument of type 'tensor<1x?xf32>', and integer networks have static shapes}}
// expected-note @below {{give the batch with batch=N}}
func.func @main(%x: tensor<1x?xf32>) -> tensor<1x?xf32> {
  %in = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x?xf32>
  return %in : tensor<1x?xf32>
}
