// RUN: mct-opt %s --mct-lower-to-integer="io=integer" | FileCheck %s
// RUN: mct-opt %s --mct-lower-to-integer="io=integer" | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s --check-prefix=VALID
// VALID: tosa.conv2d

// A convolution with its ReLU: sums of i8 in i32, one rescale, and nothing for
// the ReLU, below whose zero no code lies.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[X:.*]]: tensor<1x1x1x1xi8> {tpc.quantized = {bits = 8 : i64, name = "x", scale = 1.562500e-02 : f64, zero_point = 0 : i64}}
// CHECK-SAME:    -> (tensor<1x1x1x2xi8> {tpc.quantized = {bits = 8 : i64, name = "relu", scale = 1.562500e-02 : f64, zero_point = -128 : i64}})
// CHECK-SAME:    tpc.points = [{bits = 8 : i64, name = "relu", scale = 1.562500e-02 : f64, zero_point = -128 : i64}]
// CHECK:         %[[B:.*]] = "tosa.const"() <{values = dense<[2048, -4096]> : tensor<2xi32>}>
// CHECK:         %[[K:.*]] = "tosa.const"() <{values = dense<{{.*}}[64]{{.*}}[96]{{.*}}> : tensor<2x1x1x1xi8>}>
// CHECK:         %[[SUM:.*]] = tosa.conv2d %[[X]], %[[K]], %[[B]], {{.*}} {acc_type = i32, {{.*}} -> tensor<1x1x1x2xi32>
// CHECK:         %[[M:.*]] = "tosa.const"() <{values = dense<1073741824> : tensor<2xi32>}>
// CHECK:         %[[S:.*]] = "tosa.const"() <{values = dense<[37, 36]> : tensor<2xi8>}>
// CHECK:         %[[R:.*]] = tosa.rescale %[[SUM]], %[[M]], %[[S]], {{.*}} {{{.*}}per_channel = true, rounding_mode = SINGLE_ROUND, scale32 = true}
// CHECK:         return %[[R]]
func.func @main(%x: tensor<1x1x1x1xf32>) -> tensor<1x1x1x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[0.5]]], [[[1.5]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<[0.25, -1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x1x1x1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0]
         parameters(#tpc.power_of_two<threshold = [1.0, 2.0], bits = 8>) : tensor<2x1x1x1xf32>
  %0 = tosa.conv2d %in, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %2 = tpc.quantize %1 as "relu" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x1x1x2xf32>
  return %2 : tensor<1x1x1x2xf32>
}
