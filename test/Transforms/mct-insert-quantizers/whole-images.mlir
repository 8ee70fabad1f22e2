// For TensorFlow Lite pools keep the grid of their input, and means over whole images have one of their own.
// RUN: mct-opt %s --tpc-attach-target=target=tflite --mct-insert-quantizers | FileCheck %s

// CHECK-DAG: #[[$OWN:.*]] = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], default_weight
// CHECK-DAG: #[[$KEPT:.*]] = #tpc.op_quant_config<{{.*}}act_enabled = false, preserving = true
// CHECK-LABEL: func.func @main
// CHECK:         tpc.quantize %{{.*}} as "avg_pool2d" activation config(#[[$KEPT]])
// CHECK:         tpc.quantize %{{.*}} as "avg_pool2d_1" activation config(#[[$OWN]])
func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.avg_pool2d %x, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
         : (tensor<1x4x4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %1 = tosa.avg_pool2d %0, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x2x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  return %1 : tensor<1x1x1x2xf32>
}
