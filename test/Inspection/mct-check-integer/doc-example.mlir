// RUN: mct-opt %s --mct-check-integer --verify-diagnostics

func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{'tosa.add' op may have results from -4294967296 to 4294967294, which 'i32' does not hold}}
  // expected-note @below {{let it read values of a coarser scale, or a smaller range}}
  %0 = tosa.add %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
