// RUN: not mct-run %s --input=%mct_data/digits_test.npy --output=%t.npy 2>&1 | FileCheck %s
// RUN: not ls %t.npy

// CHECK: unsupported-op.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: 'tosa.custom' op cannot be executed
// CHECK-NOT: error:
func.func @main(%arg0: tensor<1x8x8x1xf32>) -> tensor<1x8x8x1xf32> {
  %0 = tosa.custom %arg0 {domain_name = "npu", implementation_attrs = "", operator_name = "mystery"} : (tensor<1x8x8x1xf32>) -> tensor<1x8x8x1xf32>
  return %0 : tensor<1x8x8x1xf32>
}
