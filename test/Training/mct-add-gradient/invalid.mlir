// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: mct-opt %t/no-rule.mlir --mct-add-gradient=remarks=true --verify-diagnostics
// RUN: mct-opt %t/behind.mlir --mct-add-gradient=inputs=behind | FileCheck %t/behind.mlir
// RUN: mct-opt %t/dynamic.mlir --mct-add-gradient --verify-diagnostics
// RUN: mct-opt %t/dynamic-inside.mlir --mct-add-gradient --verify-diagnostics
// RUN: mct-opt %t/empty.mlir --mct-add-gradient --verify-diagnostics
// RUN: mct-opt %t/scalar.mlir --mct-add-gradient --verify-diagnostics
// RUN: mct-opt %t/blocks.mlir --mct-add-gradient --verify-diagnostics
// RUN: mct-opt %t/zero-point.mlir --mct-add-gradient --verify-diagnostics
// RUN: mct-opt %t/names.mlir --mct-add-gradient=inputs=sound --verify-diagnostics
// RUN: mct-opt %t/integer-input.mlir --mct-add-gradient=inputs=1 --verify-diagnostics
// RUN: mct-opt %t/no-input.mlir --mct-add-gradient --verify-diagnostics
// RUN: mct-opt %t/no-number.mlir --mct-add-gradient=results=1 --verify-diagnostics
// RUN: mct-opt %t/integer-result.mlir --mct-add-gradient=results=0 --verify-diagnostics
// RUN: mct-opt %t/no-result.mlir --mct-add-gradient --verify-diagnostics
// RUN: mct-opt %t/taken.mlir --mct-add-gradient --verify-diagnostics
// RUN: mct-opt %t/no-window-fits.mlir --split-input-file --mct-add-gradient --verify-diagnostics

//--- no-rule.mlir
func.func @main(%x: tensor<2xf32>, %p: tensor<i1>) -> tensor<2xf32> {
  // expected-error @below {{'tosa.cond_if' op has no rule for its gradient, and lies between an input and a result; implement DifferentiableOpInterface for it, or choose inputs behind it; see docs/guide/troubleshooting.md#an-op-has-no-gradient}}
  // expected-remark @below {{it has no rule for its gradient, and lies between an input and a result}}
  %0 = tosa.cond_if %p(%a = %x) : tensor<i1> (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %1 = tosa.exp %a : (tensor<2xf32>) -> tensor<2xf32>
    tosa.yield %1 : tensor<2xf32>
  } else {
  ^bb0(%a: tensor<2xf32>):
    tosa.yield %a : tensor<2xf32>
  }
  // expected-note @below {{this 'tosa.custom' op has none, too}}
  // expected-remark @below {{it has no rule for its gradient, and lies between an input and a result}}
  %2 = tosa.custom %0 {domain_name = "d", implementation_attrs = "", operator_name = "o"} : (tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}
//--- behind.mlir
// CHECK-LABEL: func.func @main_gradient
// CHECK:         tosa.custom
// CHECK:         tosa.exp
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tosa.custom %x {domain_name = "d", implementation_attrs = "", operator_name = "o"} : (tensor<2xf32>) -> tensor<2xf32> loc("behind")
  %1 = tosa.exp %0 : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
//--- dynamic.mlir
// expected-error @below {{'func.func' op has no gradient: tensors must have a known number of elements, but one is 'tensor<?x2xf32>'; run mct-set-batch=size=N before}}
func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = tosa.exp %x : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
//--- dynamic-inside.mlir
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // expected-error @below {{'tosa.exp' op has no gradient: tensors must have a known number of elements, but one is 'tensor<?x2xf32>'; run mct-set-batch=size=N before}}
  %0 = tosa.exp %x : (tensor<2x2xf32>) -> tensor<?x2xf32>
  %1 = tosa.exp %0 : (tensor<?x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
//--- empty.mlir
// expected-error @below {{'func.func' op has no gradient: tensors must have a known number of elements, but one is 'tensor<0x2xf32>'; run mct-set-batch=size=N before}}
func.func @main(%x: tensor<0x2xf32>) -> tensor<0x2xf32> {
  return %x : tensor<0x2xf32>
}
//--- scalar.mlir
// expected-error @below {{'func.func' op has no argument of real numbers; name the values whose gradients are asked for with inputs=}}
func.func @main(%x: f32) -> f32 {
  return %x : f32
}
//--- blocks.mlir
// expected-error @below {{'func.func' op has no gradient: it is of several blocks}}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  cf.br ^next
^next:
  return %x : tensor<2xf32>
}
//--- zero-point.mlir
func.func @main(%a: tensor<1x2x2xf32>, %z: tensor<1xf32>) -> tensor<1x2x2xf32> {
  // expected-error @below {{'tosa.matmul' op has no gradient: a zero point is not 0}}
  %0 = tosa.matmul %a, %a, %z, %z : (tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32>
  return %0 : tensor<1x2x2xf32>
}
//--- names.mlir
// expected-error @below {{'func.func' op has neither an argument nor a value 'sound'; its arguments are 'image', '1', and mct-assign-names names its values}}
func.func @main(%x: tensor<2xf32> loc("image"), %y: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
//--- integer-input.mlir
// expected-error @below {{'func.func' op has no gradient with respect to '1': it is of 'tensor<2xi32>', and no tensor of real numbers}}
func.func @main(%x: tensor<2xf32>, %i: tensor<2xi32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
//--- no-input.mlir
// expected-error @below {{'func.func' op has no argument of real numbers; name the values whose gradients are asked for with inputs=}}
func.func @main(%i: tensor<2xi32>) -> tensor<2xf32> {
  %0 = tosa.cast %i : (tensor<2xi32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
//--- no-number.mlir
// expected-error @below {{'func.func' op has no result #1; it has 1}}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
//--- integer-result.mlir
// expected-error @below {{'func.func' op has no gradient of result #0: it is of 'tensor<2xi32>', and no tensor of real numbers}}
func.func @main(%x: tensor<2xf32>) -> tensor<2xi32> {
  %0 = tosa.cast %x : (tensor<2xf32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
//--- no-result.mlir
// expected-error @below {{'func.func' op has no result of real numbers, and no gradient}}
func.func @main(%x: tensor<2xf32>) -> tensor<2xi32> {
  %0 = tosa.cast %x : (tensor<2xf32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
//--- taken.mlir
// expected-error @below {{'func.func' op cannot get the gradient '@main_gradient': the name is taken; give another one with name=}}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
// expected-note @below {{by this one}}
func.func @main_gradient(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
//--- no-window-fits.mlir
// The last of the windows would reach beyond the padding: 6 + 2 - 3 is no
// multiple of the stride.
func.func @main(%x: tensor<1x6x6x1xf32>, %k: tensor<1x3x3x1xf32>, %b: tensor<1xf32>, %z: tensor<1xf32>) -> tensor<1x3x3x1xf32> {
  // expected-error @below {{expected input_height - 1 + pad_top + pad_bottom - (kernel_height - 1) * dilation_y to be wholly divisible by stride_y}}
  %0 = tosa.conv2d %x, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : (tensor<1x6x6x1xf32>, tensor<1x3x3x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x1xf32>
  return %0 : tensor<1x3x3x1xf32>
}
// -----
func.func @main(%x: tensor<1x3x3x1xf32>, %k: tensor<1x2x2x1xf32>, %b: tensor<1xf32>, %z: tensor<1xf32>) -> tensor<1x2x4x1xf32> {
  // expected-error @below {{expected out_pad_top > -KH}}
  %0 = tosa.transpose_conv2d %x, %k, %b, %z, %z {acc_type = f32, out_pad = array<i64: -2, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x3x1xf32>, tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x4x1xf32>
  return %0 : tensor<1x2x4x1xf32>
}
