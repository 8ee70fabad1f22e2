// For TensorFlow Lite values that a concatenation or a product makes of two have a grid of their own, and the layer after them becomes integer.
// RUN: mct-opt %s --tpc-attach-target=target=tflite --mct-insert-quantizers | FileCheck %s
// RUN: mct-opt %s --mct-ptq="target=tflite calibration-data=%S/Inputs/joined-values.npy" | mct-opt --mct-lower-to-integer -o - | FileCheck %s --check-prefix=INTEGER

// CHECK-DAG: #[[$OWN:.*]] = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], default_weight
// CHECK-LABEL: func.func @main
// CHECK:         %[[JOINED:.*]] = tosa.concat
// CHECK:         tpc.quantize %[[JOINED]] as "concat" activation config(#[[$OWN]])
// CHECK:         %[[PRODUCT:.*]] = tosa.mul
// CHECK:         tpc.quantize %[[PRODUCT]] as "mul" activation config(#[[$OWN]])

// INTEGER:       tosa.concat {{.*}}i8>
// INTEGER:       tosa.conv2d {{.*}}i32>
func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %kernel = "tosa.const"() <{values = dense<[[[[0.5, -0.25, 1.0, 0.125]]], [[[-1.0, 0.5, 0.25, 0.75]]]]> : tensor<2x1x1x4xf32>}> : () -> tensor<2x1x1x4xf32>
  %bias = "tosa.const"() <{values = dense<[0.5, -0.5]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %0 = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.concat %x, %0 {axis = 3 : i32} : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x4xf32>
  %2 = tosa.conv2d %1, %kernel, %bias, %zero, %zero {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
         : (tensor<1x4x4x4xf32>, tensor<2x1x1x4xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %3 = tosa.mul %2, %0, %shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  return %3 : tensor<1x4x4x2xf32>
}
