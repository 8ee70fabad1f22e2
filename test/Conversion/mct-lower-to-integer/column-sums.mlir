// Ethos-U adds up the positions of an image faster as a column of few channels, by kernels of ones.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: mct-opt %t/columns.mlir --mct-lower-to-integer="io=integer profile=ethos-u55" | FileCheck %s --check-prefix=U55
// RUN: mct-opt %t/columns.mlir --mct-lower-to-integer="io=integer profile=ethos-u85" | FileCheck %s --check-prefix=U85
// RUN: mct-opt %t/columns.mlir --mct-lower-to-integer=io=integer | FileCheck %s --check-prefix=PLAIN
// RUN: mct-opt %t/columns.mlir --mct-lower-to-integer="io=integer profile=ethos-u55" -o %t/u55.mlirbc
// RUN: mct-run %t/u55.mlirbc --compare=%t/columns.mlir --exact --input=%S/Inputs/column-sums.npy | FileCheck %s --check-prefix=SAME
// RUN: mct-opt %t/columns.mlir --mct-lower-to-integer="io=integer profile=ethos-u85" -o %t/u85.mlirbc
// RUN: mct-run %t/u85.mlirbc --compare=%t/columns.mlir --exact --input=%S/Inputs/column-sums.npy | FileCheck %s --check-prefix=SAME
// SAME: total {{.*}} 0 {{ *}}0

// U55:      %[[IMAGE:.*]] = tosa.reshape {{.*}} -> tensor<1x4x6x8xi8>
// U55:      %[[ONES:.*]] = "tosa.const"() <{values = dense<1> : tensor<4x1x8x1xi8>}>
// U55:      %[[ADDED:.*]] = tosa.depthwise_conv2d %[[IMAGE]], %[[ONES]], {{.*}} -> tensor<1x1x6x8xi32>
// U55:      %[[RESULT:.*]] = tosa.rescale %[[ADDED]], {{.*}} -> tensor<1x1x6x8xi8>
// U55:      tosa.reshape %[[RESULT]]
// U55-NOT:  tosa.reduce_sum
// U85:      tosa.depthwise_conv2d {{.*}} -> tensor<1x1x3x16xi32>
// PLAIN:    tosa.reduce_sum

// With fewer than three columns, and of channels that are no whole columns, sums stay.
// RUN: mct-opt %t/limits.mlir --mct-lower-to-integer="io=integer profile=ethos-u55" | FileCheck %s --check-prefixes=LIMITS,LIMITS55
// RUN: mct-opt %t/limits.mlir --mct-lower-to-integer="io=integer profile=ethos-u85" | FileCheck %s --check-prefixes=LIMITS,LIMITS85
// LIMITS-LABEL:   func.func @channels_40
// LIMITS55:       tosa.depthwise_conv2d {{.*}} -> tensor<1x1x5x8xi32>
// LIMITS85:       tosa.reduce_sum
// LIMITS-LABEL:   func.func @channels_16
// LIMITS:         tosa.reduce_sum
// LIMITS-LABEL:   func.func @channels_50
// LIMITS:         tosa.reduce_sum
// LIMITS-LABEL:   func.func @channels_56
// LIMITS:         tosa.depthwise_conv2d {{.*}} -> tensor<1x1x7x8xi32>

//--- columns.mlir
func.func @main(%arg0: tensor<1x2x2x48xf32>) -> tensor<1x1x1x48xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.uniform<scale = [0.03], zero_point = [131], bits = 8, rounding = half_up>) : tensor<1x2x2x48xf32>
  %0 = tosa.avg_pool2d %x, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x2x2x48xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x48xf32>
  %y = tpc.quantize %0 as "y" activation parameters(#tpc.uniform<scale = [0.011], zero_point = [120], bits = 8, rounding = half_up>) : tensor<1x1x1x48xf32>
  return %y : tensor<1x1x1x48xf32>
}

//--- limits.mlir
func.func @channels_40(%arg0: tensor<1x2x2x40xf32>) -> tensor<1x1x1x40xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.uniform<scale = [0.03], zero_point = [131], bits = 8, rounding = half_up>) : tensor<1x2x2x40xf32>
  %0 = tosa.avg_pool2d %x, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x2x2x40xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x40xf32>
  %y = tpc.quantize %0 as "y" activation parameters(#tpc.uniform<scale = [0.011], zero_point = [120], bits = 8, rounding = half_up>) : tensor<1x1x1x40xf32>
  return %y : tensor<1x1x1x40xf32>
}

func.func @channels_16(%arg0: tensor<1x2x2x16xf32>) -> tensor<1x1x1x16xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.uniform<scale = [0.03], zero_point = [131], bits = 8, rounding = half_up>) : tensor<1x2x2x16xf32>
  %0 = tosa.avg_pool2d %x, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x2x2x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x16xf32>
  %y = tpc.quantize %0 as "y" activation parameters(#tpc.uniform<scale = [0.011], zero_point = [120], bits = 8, rounding = half_up>) : tensor<1x1x1x16xf32>
  return %y : tensor<1x1x1x16xf32>
}

func.func @channels_50(%arg0: tensor<1x2x2x50xf32>) -> tensor<1x1x1x50xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.uniform<scale = [0.03], zero_point = [131], bits = 8, rounding = half_up>) : tensor<1x2x2x50xf32>
  %0 = tosa.avg_pool2d %x, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x2x2x50xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x50xf32>
  %y = tpc.quantize %0 as "y" activation parameters(#tpc.uniform<scale = [0.011], zero_point = [120], bits = 8, rounding = half_up>) : tensor<1x1x1x50xf32>
  return %y : tensor<1x1x1x50xf32>
}

func.func @channels_56(%arg0: tensor<1x2x2x56xf32>) -> tensor<1x1x1x56xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.uniform<scale = [0.03], zero_point = [131], bits = 8, rounding = half_up>) : tensor<1x2x2x56xf32>
  %0 = tosa.avg_pool2d %x, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x2x2x56xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x56xf32>
  %y = tpc.quantize %0 as "y" activation parameters(#tpc.uniform<scale = [0.011], zero_point = [120], bits = 8, rounding = half_up>) : tensor<1x1x1x56xf32>
  return %y : tensor<1x1x1x56xf32>
}
