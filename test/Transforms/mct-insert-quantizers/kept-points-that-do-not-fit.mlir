// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers 2>&1 >/dev/null | FileCheck %s
// RUN: mct-opt %s --tpc-attach-target=target=tflite_v1 --mct-insert-quantizers 2>&1 >/dev/null | FileCheck %s --check-prefix=FIXED
// RUN: mct-opt %s --tpc-attach-target=target=%S/Inputs/unsigned.mlir --mct-insert-quantizers 2>&1 >/dev/null | FileCheck %s --check-prefix=SIGN

// CHECK: warning: {{.*}}'x' has in its file: it has 4 bits, the target 8; they are chosen anew
// CHECK: warning: {{.*}}'exp' has in its file: its threshold 3 is not a power of two; they are chosen anew
// FIXED: warning: {{.*}}'sigmoid' has in its file: its scale is 0.01, and the target fixes 0.00390625; they are chosen anew
// SIGN:  warning: {{.*}}'exp' has in its file: it is not signed, and the target is; they are chosen anew
// SIGN:  warning: {{.*}}'sigmoid' has in its file: it is signed, and the target is not; they are chosen anew
func.func @activations(%x: tensor<1x4xf32> loc("x")) -> tensor<1x4xf32> {
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.symmetric<threshold = [4.0], bits = 4>) selection(#tpc.selection<error_method = imported>) : tensor<1x4xf32>
  %1 = tosa.exp %0 : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("exp")
  %2 = tpc.quantize %1 as "exp" activation parameters(#tpc.symmetric<threshold = [3.0], bits = 8, is_signed = false>) selection(#tpc.selection<error_method = imported>) : tensor<1x4xf32>
  %3 = tosa.sigmoid %2 : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("sigmoid")
  %4 = tpc.quantize %3 as "sigmoid" activation parameters(#tpc.symmetric<threshold = [1.28], bits = 8>) selection(#tpc.selection<error_method = imported>) : tensor<1x4xf32>
  return %4 : tensor<1x4xf32>
}

// CHECK: warning: {{.*}}'axes/kernel_attr' has in its file: it has channels along axes [3], the target along [0]; they are chosen anew
// CHECK: warning: {{.*}}'unsigned/kernel_attr' has in its file: it is not signed, and weights of the target are; they are chosen anew
// CHECK: warning: {{.*}}'table/kernel_attr' has in its file: its method is lut_sym_quantizer, that of the target symmetric; they are chosen anew
func.func @weights(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[0.5, 0.25]]], [[[1.0, 0.125]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<[0.5, 0.25]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %0 = tpc.quantize %k as "axes" weight "kernel_attr" axes [3] parameters(#tpc.symmetric<threshold = [1.0, 2.0], bits = 8>) selection(#tpc.selection<error_method = imported>) : tensor<2x1x1x2xf32>
  %1 = tosa.conv2d %x, %0, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("axes")
  %2 = tpc.quantize %k as "unsigned" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 8, is_signed = false>) selection(#tpc.selection<error_method = imported>) : tensor<2x1x1x2xf32>
  %3 = tosa.conv2d %1, %2, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("unsigned")
  %4 = tpc.quantize %k as "table" weight "kernel_attr" parameters(#tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.0], table = [-90, 0, 64], bits = 8>) selection(#tpc.selection<error_method = imported>) : tensor<2x1x1x2xf32>
  %5 = tosa.conv2d %3, %4, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("table")
  return %5 : tensor<1x4x4x2xf32>
}
