// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: mct-opt %t/nothing.mlir --mct-make-training-function --verify-diagnostics
// RUN: mct-opt %t/unknown.mlir --mct-make-training-function=compared=y --verify-diagnostics
// RUN: mct-opt %t/dynamic.mlir --mct-make-training-function --verify-diagnostics
// RUN: mct-opt %t/computed.mlir --mct-make-training-function --verify-diagnostics
// RUN: mct-opt %t/taken.mlir --mct-make-training-function="name=other function=main" --verify-diagnostics
// RUN: mct-opt %t/again.mlir --mct-make-training-function --verify-diagnostics
// RUN: mct-opt %t/blocks.mlir --mct-make-training-function --verify-diagnostics
// RUN: mct-opt %t/no-threshold.mlir --mct-make-training-function --verify-diagnostics

//--- nothing.mlir
// expected-error @below {{'func.func' op has nothing to train: no point has a 'trainable'; mct-make-trainable gives points one}}
func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.symmetric<threshold = [3.0], bits = 4>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

//--- unknown.mlir
// expected-error @below {{has neither an activation point nor a value 'y' to compare; mct-assign-names names its values}}
func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.symmetric<threshold = [3.0], bits = 4>)
         trainable(#tpc.learned_threshold<bits = 4>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

//--- dynamic.mlir
// expected-error @below {{cannot be trained: what is compared (#0) is 'tensor<?x8xf32>', and no tensor of f32 of static shape}}
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.symmetric<threshold = [3.0], bits = 4>)
         trainable(#tpc.learned_threshold<bits = 4>) : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

//--- computed.mlir
func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  // expected-error @below {{'tpc.quantize' op cannot be trained: its operand is not constant}}
  %0 = tpc.quantize %x as "x" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [3.0], bits = 4>)
         trainable(#tpc.learned_threshold<bits = 4>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

//--- taken.mlir
// expected-error @below {{cannot get the training function '@other': the name is taken}}
func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  return %x : tensor<1x8xf32>
}
// expected-note @below {{by this one}}
func.func private @other(%x: tensor<1x8xf32>) -> tensor<1x8xf32>

//--- again.mlir
func.func @main(%x: tensor<1x8xf32>, %t: tensor<1x1xf32>) -> tensor<1x8xf32> {
  // expected-error @below {{has learned values already: '@main' was made for training already; give the network that it was made of}}
  %0 = tpc.quantize %x as "x" activation trainable(#tpc.learned_threshold<bits = 4>) learned(%t : tensor<1x1xf32>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

//--- blocks.mlir
// expected-error @below {{cannot be trained: it is of several blocks}}
func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  cf.br ^end(%x : tensor<1x8xf32>)
^end(%y: tensor<1x8xf32>):
  return %y : tensor<1x8xf32>
}

//--- no-threshold.mlir
func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  // expected-error @below {{has no thresholds to learn from; select parameters of a symmetric grid first}}
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.uniform<scale = [0.1], zero_point = [3], bits = 4>)
         trainable(#tpc.learned_threshold<bits = 4>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}
