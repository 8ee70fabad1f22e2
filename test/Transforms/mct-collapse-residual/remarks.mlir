// RUN: mct-opt %s --mct-collapse-residual=remarks=true --verify-diagnostics
// RUN: grep -v expected-remark %s | mct-opt --mct-collapse-residual 2>&1 | FileCheck %s --implicit-check-not=remark
//
// What stays as it is, and why. Nothing is said without the option.

// CHECK: func.func
func.func @transposed(%x: tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[1.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.transpose_conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x3x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x1xf32>
  // expected-remark @below {{not collapsed with the convolution before it: it is a transposed convolution}}
  %1 = tosa.add %0, %x : (tensor<1x3x3x1xf32>, tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32>
  return %1 : tensor<1x3x3x1xf32>
}

func.func @stride(%x: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[1.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  // expected-remark @below {{not collapsed with the convolution before it: its stride is not 1}}
  %1 = tosa.add %0, %x : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %1 : tensor<1x1x1x1xf32>
}

func.func @even(%x: tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[1.0], [1.0]], [[1.0], [1.0]]]]> : tensor<1x2x2x1xf32>}> : () -> tensor<1x2x2x1xf32>
  %0 = tosa.conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 0, 1, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x3x1xf32>, tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x1xf32>
  // expected-remark @below {{not collapsed with the convolution before it: its kernel has an even size and no centre}}
  %1 = tosa.add %0, %x : (tensor<1x3x3x1xf32>, tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32>
  return %1 : tensor<1x3x3x1xf32>
}

func.func @off_centre(%x: tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[1.0], [1.0], [1.0]], [[1.0], [1.0], [1.0]], [[1.0], [1.0], [1.0]]]]> : tensor<1x3x3x1xf32>}> : () -> tensor<1x3x3x1xf32>
  %0 = tosa.conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 2, 0, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x3x3x1xf32>, tensor<1x3x3x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x1xf32>
  // expected-remark @below {{not collapsed with the convolution before it: its padding does not centre the kernel}}
  %1 = tosa.add %0, %x : (tensor<1x3x3x1xf32>, tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32>
  return %1 : tensor<1x3x3x1xf32>
}

func.func @broadcast(%x: tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[1.0, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x3x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x1xf32>
  // expected-remark @below {{not collapsed with the convolution before it: its operands differ in shape}}
  %1 = tosa.add %0, %x : (tensor<1x3x3x1xf32>, tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  return %1 : tensor<1x3x3x2xf32>
}

func.func @point(%x: tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[1.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %p = tpc.quantize %k as "0" weight "kernel_attr" : tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %p, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x3x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x1xf32>
  // expected-remark @below {{not collapsed with the convolution before it: the kernel has a quantization point}}
  %1 = tosa.add %0, %x : (tensor<1x3x3x1xf32>, tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32>
  return %1 : tensor<1x3x3x1xf32>
}

// Another reader sees the convolution alone.
func.func @reader(%x: tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[1.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x3x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x1xf32>
  %1 = tosa.add %0, %x : (tensor<1x3x3x1xf32>, tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32>
  %2 = tosa.maximum %1, %0 : (tensor<1x3x3x1xf32>, tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32>
  return %2 : tensor<1x3x3x1xf32>
}
