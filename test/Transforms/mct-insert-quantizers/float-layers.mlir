// RUN: mct-opt %s --tpc-attach-target=target=tflite --mct-insert-quantizers=keep-float=exp,kept --verify-diagnostics --split-input-file
//
// A layer whose kernel has a point, and that stays float because it reads a value without one.

func.func @rule(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<-1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  // expected-note @below {{it is made here}}
  %0 = tosa.exp %x : (tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  // The reason is looked up through what only moves values.
  %1 = tosa.reverse %0 {axis = 1 : i32} : (tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %2 = tosa.transpose %0 {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %3 = tosa.add %1, %x : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  // expected-warning-re @below {{'conv2d' stays float although the target quantizes it: it reads 'exp', which is not quantized: the override of {{.*}} says so; see docs/guide/troubleshooting.md#an-operator-stays-float}}
  %4 = tosa.conv2d %2, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %5 = tosa.conv2d %3, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  // A rule keeps this one float.
  %6 = tosa.conv2d %2, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32> loc("kept")
  %7 = tosa.add %4, %5 : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %8 = tosa.add %7, %6 : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  return %8 : tensor<1x2x2x1xf32>
}

// -----

// Both factors of a product of two activations are looked at. Only its first result has a point.
func.func @second_result(%x: tensor<1x4x4xf32>) -> tensor<1x4x4xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.tanh %x : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %1 = tosa.exp %x : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  // expected-note @below {{it is made here}}
  %2:2 = tosa.fft2d %0, %x {inverse = false, local_bound = false} : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> (tensor<1x4x4xf32>, tensor<1x4x4xf32>)
  // expected-warning @below {{'matmul' stays float although the target quantizes it: it reads 'fft2d', which is not quantized: only the first result of an operator has a point}}
  %3 = tosa.matmul %2#0, %2#1, %zero, %zero : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  %kept = tosa.abs %1 : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32> loc("kept")
  %4 = tosa.add %3, %kept : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return %4 : tensor<1x4x4xf32>
}
