// RUN: mct-opt %s --mct-lower-to-integer="io=integer profile=ethos-u85" | FileCheck %s
// RUN: mct-opt %s --mct-lower-to-integer="io=integer profile=ethos-u55" | FileCheck %s --check-prefix=PLAIN

// Convolutions read images of few channels from the device's own memory: a
// copy of rows of 16 bytes. Small ones, and those of many channels, they read
// where they are.
// CHECK-LABEL: @main
// CHECK-SAME: %[[X:[^:]*]]: tensor<1x20x24x3xi8>
// CHECK-SAME: %[[SMALL:[^:]*]]: tensor<1x2x2x3xi8>
// CHECK-SAME: %[[DEEP:[^:]*]]: tensor<1x8x8x16xi8>
// CHECK: %[[ROWS:.*]] = tosa.reshape %[[X]], {{.*}} -> tensor<1x6x15x16xi8>
// CHECK: %[[COPY:.*]] = tosa.max_pool2d %[[ROWS]] {kernel = array<i64: 1, 1>
// CHECK: %[[BACK:.*]] = tosa.reshape %[[COPY]], {{.*}} -> tensor<1x20x24x3xi8>
// CHECK-NOT: tosa.max_pool2d
// CHECK: tosa.conv2d %[[BACK]]
// CHECK: tosa.conv2d %[[SMALL]]
// CHECK: tosa.conv2d %[[DEEP]]
// PLAIN-NOT: tosa.max_pool2d
func.func @main(%x: tensor<1x20x24x3xf32>, %small: tensor<1x2x2x3xf32>, %deep: tensor<1x8x8x16xf32>)
    -> (tensor<1x20x24x2xf32>, tensor<1x2x2x2xf32>, tensor<1x8x8x1xf32>) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %b2 = "tosa.const"() <{values = dense<[0.25, -0.5]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %b1 = "tosa.const"() <{values = dense<0.5> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k3 = "tosa.const"() <{values = dense<[[[[0.5, -0.25, 0.125]]], [[[1.0, 0.5, -0.75]]]]> : tensor<2x1x1x3xf32>}> : () -> tensor<2x1x1x3xf32>
  %k16 = "tosa.const"() <{values = dense<0.125> : tensor<1x1x1x16xf32>}> : () -> tensor<1x1x1x16xf32>
  %w3 = tpc.quantize %k3 as "first" weight "kernel_attr" axes [] parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<2x1x1x3xf32>
  %w16 = tpc.quantize %k16 as "third" weight "kernel_attr" axes [] parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x1x16xf32>
  %qx = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x20x24x3xf32>
  %qs = tpc.quantize %small as "small" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x2x2x3xf32>
  %qd = tpc.quantize %deep as "deep" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x8x8x16xf32>
  %c0 = tosa.conv2d %qx, %w3, %b2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x20x24x3xf32>, tensor<2x1x1x3xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x20x24x2xf32>
  %c1 = tosa.conv2d %qs, %w3, %b2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x3xf32>, tensor<2x1x1x3xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %c2 = tosa.conv2d %qd, %w16, %b1, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x16xf32>, tensor<1x1x1x16xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x1xf32>
  %q0 = tpc.quantize %c0 as "first" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x20x24x2xf32>
  %q1 = tpc.quantize %c1 as "second" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x2x2x2xf32>
  %q2 = tpc.quantize %c2 as "third" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x8x8x1xf32>
  return %q0, %q1, %q2 : tensor<1x20x24x2xf32>, tensor<1x2x2x2xf32>, tensor<1x8x8x1xf32>
}

// What is made of an image has to lie beside it, and beside what is made of
// that. First 49152 and 393216 bytes do not; then 49152 and 262144 do, but
// not 262144 and 262144.
// CHECK-LABEL: @large
// CHECK-NOT: tosa.max_pool2d
// CHECK-LABEL: @next
// CHECK-NOT: tosa.max_pool2d
// CHECK-LABEL: @last
// CHECK: tosa.max_pool2d
// PLAIN-LABEL: @large
#params = #tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>
func.func @large(%x: tensor<1x128x128x3xf32>) -> tensor<1x128x128x24xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<0.125> : tensor<24x1x1x3xf32>}> : () -> tensor<24x1x1x3xf32>
  %w = tpc.quantize %kernel as "first" weight "kernel_attr" axes [] parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<24x1x1x3xf32>
  %qx = tpc.quantize %x as "x" activation parameters(#params) : tensor<1x128x128x3xf32>
  %c = tosa.conv2d %qx, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x128x128x3xf32>, tensor<24x1x1x3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x128x128x24xf32>
  %q = tpc.quantize %c as "first" activation parameters(#params) : tensor<1x128x128x24xf32>
  return %q : tensor<1x128x128x24xf32>
}
func.func @next(%x: tensor<1x128x128x3xf32>) -> tensor<1x128x128x16xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<0.125> : tensor<16x1x1x3xf32>}> : () -> tensor<16x1x1x3xf32>
  %second = "tosa.const"() <{values = dense<0.125> : tensor<16x1x1x16xf32>}> : () -> tensor<16x1x1x16xf32>
  %w = tpc.quantize %kernel as "first" weight "kernel_attr" axes [] parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<16x1x1x3xf32>
  %v = tpc.quantize %second as "second" weight "kernel_attr" axes [] parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<16x1x1x16xf32>
  %qx = tpc.quantize %x as "x" activation parameters(#params) : tensor<1x128x128x3xf32>
  %c = tosa.conv2d %qx, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x128x128x3xf32>, tensor<16x1x1x3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x128x128x16xf32>
  %q = tpc.quantize %c as "first" activation parameters(#params) : tensor<1x128x128x16xf32>
  %d = tosa.conv2d %q, %v, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x128x128x16xf32>, tensor<16x1x1x16xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x128x128x16xf32>
  %r = tpc.quantize %d as "second" activation parameters(#params) : tensor<1x128x128x16xf32>
  return %r : tensor<1x128x128x16xf32>
}
func.func @last(%x: tensor<1x128x128x3xf32>) -> tensor<1x128x128x4xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<0.125> : tensor<16x1x1x3xf32>}> : () -> tensor<16x1x1x3xf32>
  %second = "tosa.const"() <{values = dense<0.125> : tensor<4x1x1x16xf32>}> : () -> tensor<4x1x1x16xf32>
  %w = tpc.quantize %kernel as "first" weight "kernel_attr" axes [] parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<16x1x1x3xf32>
  %v = tpc.quantize %second as "second" weight "kernel_attr" axes [] parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<4x1x1x16xf32>
  %qx = tpc.quantize %x as "x" activation parameters(#params) : tensor<1x128x128x3xf32>
  %c = tosa.conv2d %qx, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x128x128x3xf32>, tensor<16x1x1x3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x128x128x16xf32>
  %q = tpc.quantize %c as "first" activation parameters(#params) : tensor<1x128x128x16xf32>
  %d = tosa.conv2d %q, %v, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x128x128x16xf32>, tensor<4x1x1x16xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x128x128x4xf32>
  %r = tpc.quantize %d as "second" activation parameters(#params) : tensor<1x128x128x4xf32>
  return %r : tensor<1x128x128x4xf32>
}
