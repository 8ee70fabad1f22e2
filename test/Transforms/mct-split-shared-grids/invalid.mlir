// RUN: mct-opt %s --mct-split-shared-grids=completed-by="builtin.module(func.func(mct-assign-names))" --verify-diagnostics

// Nothing measures the groups of channels.
// expected-error @below {{'completed-by' leaves point 'head_channels_0_1' without statistics; give passes that calibrate}}
module {
func.func @main(%x: tensor<1x1x4xf32>) -> (tensor<1x1x2xf32>, tensor<1x1x1xf32>) {
  %k = "tosa.const"() <{values = dense<1.0> : tensor<1x4x3xf32>}> : () -> tensor<1x4x3xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %k, %z, %z : (tensor<1x1x4xf32>, tensor<1x4x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3xf32>
  %p = tpc.quantize %0 as "head" activation statistics(#tpc.statistics<count = 6, zeros = 0, min = 0.0, max = 36.0>) : tensor<1x1x3xf32>
  %start = tosa.const_shape {values = dense<[0, 0, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[1, 1, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %1 = tosa.slice %p, %start, %size : (tensor<1x1x3xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x1x2xf32>
  %start2 = tosa.const_shape {values = dense<[0, 0, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size2 = tosa.const_shape {values = dense<[1, 1, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %2 = tosa.slice %p, %start2, %size2 : (tensor<1x1x3xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x1x1xf32>
  return %1, %2 : tensor<1x1x2xf32>, tensor<1x1x1xf32>
}
}
