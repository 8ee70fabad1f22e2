// RUN: mct-opt %s --mct-make-trainable="weights=perturbed-rounding most-levels=0" --verify-diagnostics

// expected-error @below {{'func.func' op weights must be moved by a positive number of levels at most, but most-levels=0}}
func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  return %x : tensor<1x8xf32>
}
