// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers --verify-diagnostics --split-input-file
// RUN: grep -v expected %s | mct-opt --split-input-file --tpc-attach-target=target=imx500 --tpc-explain=format=text -o /dev/null 2>/dev/null | FileCheck %s
//
// A kernel that the target quantizes but that stays float.

// CHECK-LABEL: function computed
// CHECK:         weight kernel_attr: float, because it is not a constant but the result of 'tosa.abs', which mct-fold-constants evaluates
func.func @computed(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %c = "tosa.const"() <{values = dense<-1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  // expected-note @below {{it is made here}}
  %k = tosa.abs %c : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  // expected-warning @below {{'kernel_attr' of 'conv2d' stays float although the target quantizes it: it is not a constant but the result of 'tosa.abs', which mct-fold-constants evaluates}}
  %0 = tosa.conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %0 : tensor<1x2x2x1xf32>
}

// -----

// CHECK-LABEL: function argument
// CHECK:         weight kernel_attr: float, because it is not a constant but an argument
// expected-note @below {{it is made here}}
func.func @argument(%x: tensor<1x2x2x1xf32>, %k: tensor<1x1x1x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-warning @below {{it is not a constant but an argument}}
  %0 = tosa.conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %0 : tensor<1x2x2x1xf32>
}

// -----

// CHECK-LABEL: function half_precision
// CHECK:         weight kernel_attr: float, because its elements are f16, not f32
func.func @half_precision(%x: tensor<1x2x2x1xf16>) -> tensor<1x2x2x1xf16> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf16>}> : () -> tensor<1xf16>
  // expected-note @below {{it is made here}}
  %k = "tosa.const"() <{values = dense<-1.0> : tensor<1x1x1x1xf16>}> : () -> tensor<1x1x1x1xf16>
  // expected-warning @below {{its elements are f16, not f32}}
  %0 = tosa.conv2d %x, %k, %zero, %zero, %zero {acc_type = f16, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf16>, tensor<1x1x1x1xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<1x2x2x1xf16>
  return %0 : tensor<1x2x2x1xf16>
}

// -----

// A number in more places than any weight has is not expanded, here or by any rewrite before.
// CHECK-LABEL: function huge
// CHECK:         weight kernel_attr: float, because it is one number 40000000000 times
func.func @huge(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x40000000000xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-note @below {{it is made here}}
  %k = "tosa.const"() <{values = dense<-1.0> : tensor<40000000000x1x1x1xf32>}> : () -> tensor<40000000000x1x1x1xf32>
  // expected-warning @below {{it is one number 40000000000 times}}
  %0 = tosa.conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<40000000000x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x40000000000xf32>
  return %0 : tensor<1x2x2x40000000000xf32>
}
