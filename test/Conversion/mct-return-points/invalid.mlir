// RUN: mct-opt %s --mct-return-points --split-input-file --verify-diagnostics

// expected-error @below {{'func.func' op is called, so that it cannot get more results}}
func.func @part(%x: tensor<1x4xi8>) -> tensor<1x4xi8>
    attributes {tpc.points = [{name = "a", scale = 0.5 : f64, zero_point = 0 : i64, bits = 8 : i64}]} {
  %0 = tosa.abs %x : (tensor<1x4xi8>) -> tensor<1x4xi8> loc("a")
  return %0 : tensor<1x4xi8>
}
func.func @main(%x: tensor<1x4xi8>) -> tensor<1x4xi8> {
  // expected-note @below {{it is called here; inline it first, by the pass inline}}
  %0 = func.call @part(%x) : (tensor<1x4xi8>) -> tensor<1x4xi8>
  return %0 : tensor<1x4xi8>
}

// -----

// expected-error @below {{'func.func' op has several blocks: its points cannot be returned}}
func.func @main(%x: tensor<1x4xi8>) -> tensor<1x4xi8>
    attributes {tpc.points = [{name = "a", scale = 0.5 : f64, zero_point = 0 : i64, bits = 8 : i64}]} {
  %0 = tosa.abs %x : (tensor<1x4xi8>) -> tensor<1x4xi8> loc("a")
  cf.br ^end
^end:
  return %0 : tensor<1x4xi8>
}
