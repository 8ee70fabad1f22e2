// A device of one's own is a file of ten lines.
// RUN: mct-opt %s --split-input-file --verify-diagnostics --mct-check-integer=profile=%S/Inputs/toy-device.mlir

func.func @wide(%x: tensor<1x2x2xi16>, %y: tensor<1x2x2xi16>) -> tensor<1x2x2xi48> {
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  // expected-error @below {{multiplies matrices of 16 bits, which the toy cannot}}
  // expected-note @below {{rescale the factors to 8 bits before}}
  %0 = tosa.matmul %x, %y, %zero, %zero : (tensor<1x2x2xi16>, tensor<1x2x2xi16>, tensor<1xi16>, tensor<1xi16>) -> tensor<1x2x2xi48>
  return %0 : tensor<1x2x2xi48>
}

// -----

func.func @narrow(%x: tensor<1x2x2xi8>, %y: tensor<1x2x2xi8>) -> tensor<1x2x2xi32> {
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.matmul %x, %y, %zero, %zero : (tensor<1x2x2xi8>, tensor<1x2x2xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x2x2xi32>
  return %0 : tensor<1x2x2xi32>
}

// -----

func.func @real(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{computes with floating-point numbers, which the toy cannot}}
  // expected-note @below {{quantize it, or split the network before it}}
  %0 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
