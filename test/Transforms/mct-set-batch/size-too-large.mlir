// Elements that nothing can count.
// RUN: mct-opt %s --mct-set-batch=size=2147483648 --verify-diagnostics

// expected-error @below {{'func.func' op cannot get a batch of 2147483648}}
func.func @main(%arg0: tensor<?x4xf32>) -> tensor<?x1099511627776xf32> {
  %often = tosa.const_shape {values = dense<[1, 274877906944]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-note @below {{this value of type 'tensor<?x1099511627776xf32>' would have more elements than fit into memory}}
  %0 = tosa.tile %arg0, %often : (tensor<?x4xf32>, !tosa.shape<2>) -> tensor<?x1099511627776xf32>
  return %0 : tensor<?x1099511627776xf32>
}
