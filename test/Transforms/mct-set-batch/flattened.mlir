// Numbers of the samples that are flattened, and meet a row of constants.
// RUN: mct-opt %s --mct-set-batch=size=1 --split-input-file | FileCheck %s --check-prefix=ONE
// RUN: mct-opt %s --mct-set-batch=size=4 --split-input-file | FileCheck %s --check-prefix=FOUR

// ONE-LABEL:  func.func @main(%{{.*}}: tensor<1x3xf32>) -> tensor<1x4xf32>
// ONE-DAG:      %[[FLAT:.*]] = tosa.const_shape {values = dense<1> : tensor<1xindex>}
// ONE:          tosa.reshape %{{.*}}, %[[FLAT]] : (tensor<1x1xf32>, !tosa.shape<1>) -> tensor<1xf32>
// ONE:          tosa.add {{.*}} : (tensor<1x1xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
// FOUR-LABEL: func.func @main(%{{.*}}: tensor<4x3xf32>) -> tensor<4x4xf32>
// FOUR-DAG:     %[[FLAT:.*]] = tosa.const_shape {values = dense<4> : tensor<1xindex>}
// FOUR:         tosa.reshape %{{.*}}, %[[FLAT]] : (tensor<4x1xf32>, !tosa.shape<1>) -> tensor<4xf32>
// FOUR:         tosa.reshape {{.*}} -> tensor<4x1xf32>
// FOUR:         tosa.add {{.*}} : (tensor<4x1xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
func.func @main(%arg0: tensor<?x3xf32>) -> tensor<?x4xf32> {
  %start = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[-1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %flat = tosa.const_shape {values = dense<-1> : tensor<1xindex>} : () -> !tosa.shape<1>
  %c = "tosa.const"() <{values = dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>}> : () -> tensor<1x4xf32>
  %0 = tosa.slice %arg0, %start, %size : (tensor<?x3xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<?x1xf32>
  %1 = tosa.reshape %0, %flat : (tensor<?x1xf32>, !tosa.shape<1>) -> tensor<?xf32>
  %2 = tosa.reshape %1, %size : (tensor<?xf32>, !tosa.shape<2>) -> tensor<?x1xf32>
  %3 = tosa.add %2, %c : (tensor<?x1xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
  return %3 : tensor<?x4xf32>
}

// -----

// From a batch of two, of which the constant knows nothing.
// ONE-LABEL:  func.func @two(%{{.*}}: tensor<1x1xf32>) -> tensor<1x4xf32>
// FOUR-LABEL: func.func @two(%{{.*}}: tensor<4x1xf32>) -> tensor<4x4xf32>
func.func @two(%arg0: tensor<2x1xf32>) -> tensor<2x4xf32> {
  %c = "tosa.const"() <{values = dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>}> : () -> tensor<1x4xf32>
  %0 = tosa.add %arg0, %c : (tensor<2x1xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
