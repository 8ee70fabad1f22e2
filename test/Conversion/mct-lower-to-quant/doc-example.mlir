// RUN: mct-opt %s --mct-lower-to-quant | FileCheck %s

// Points become casts to the type of their grid and back; nothing of our
// dialect is left.
// CHECK-LABEL: func.func @main
// CHECK:         %[[KERNEL:.*]] = "tosa.const"() <{values = dense<{{.*}}> : tensor<2x1x1x1xf32>}>
// CHECK:         %[[Q:.*]] = quant.qcast %[[KERNEL]] : tensor<2x1x1x1xf32> to tensor<2x1x1x1x!quant.uniform<i8:f32:0, {7.812500e-03,1.562500e-02}>>
// CHECK:         %[[W:.*]] = quant.dcast %[[Q]]
// CHECK:         %[[CONV:.*]] = tosa.conv2d %arg0, %[[W]]
// CHECK:         %[[R:.*]] = quant.qcast %[[CONV]] : tensor<1x1x1x2xf32> to tensor<1x1x1x2x!quant.uniform<u8:f32, 1.562500e-02>>
// CHECK:         %[[RESULT:.*]] = quant.dcast %[[R]] : tensor<1x1x1x2x!quant.uniform<u8:f32, 1.562500e-02>> to tensor<1x1x1x2xf32>
// CHECK:         return %[[RESULT]]
// CHECK-NOT:   tpc.
func.func @main(%x: tensor<1x1x1x1xf32>) -> tensor<1x1x1x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[0.5]]], [[[1.5]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0]
         parameters(#tpc.symmetric<threshold = [1.0, 2.0], bits = 8>) : tensor<2x1x1x1xf32>
  %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %1 = tpc.quantize %0 as "conv" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, is_signed = false>) : tensor<1x1x1x2xf32>
  return %1 : tensor<1x1x1x2xf32>
}
