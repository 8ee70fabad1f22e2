// Samples of another range than the network was trained on are told, and others not. The samples are [0, 0, 0.5, -1] and
// [0.25, 0, 0, 1]: of standard deviation 0.53, by which kernels of the norm 2 vary by 1.06.
// RUN: split-file %s %t
// RUN: mct-opt %t/ones.mlir --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy" 2>&1 -o /dev/null | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: mct-opt %t/ones.mlir --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy input-scale=0.0625" 2>&1 -o /dev/null | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: mct-opt %t/ones.mlir --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy input-scale=12" 2>&1 -o /dev/null | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: mct-opt %t/hundreds.mlir --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy input-scale=100" 2>&1 -o /dev/null | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: mct-opt %t/few.mlir --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy" 2>&1 -o /dev/null | FileCheck %s --check-prefix=NONE --allow-empty
// Real numbers may have any size: embeddings, decibels.
// RUN: mct-opt %t/ones.mlir --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy input-scale=255.3" 2>&1 -o /dev/null | FileCheck %s --check-prefix=NONE --allow-empty
// NONE-NOT: warning

// RUN: mct-opt %t/hundreds.mlir --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy" 2>&1 -o /dev/null | FileCheck %s --check-prefix=SMALL
// SMALL: warning: {{.*}}the samples of input 'pixels' seem to have another range than the network expects: it reads values from -1 to 1, which change the results of its first layer 'dense' by 0.01{{[0-9]*}} times their biases
// SMALL: note: {{.*}}if they were pixels that are scaled to 0 to 1, leave them as they are, or give input-scale=255

// RUN: mct-opt %t/ones.mlir --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy input-scale=256" 2>&1 -o /dev/null | FileCheck %s --check-prefix=LARGE
// LARGE: warning: {{.*}}the samples of input 'pixels' seem to have another range than the network expects: it reads values from -256 to 256, which change the results of its first layer 'dense' by 2{{[0-9.]*}} times their biases
// LARGE: note: {{.*}}where they are whole numbers that are to be scaled and the network reads values from 0 to 1, give input-scale=0.00390625

// What a network normalizes itself is a part of the layer: (x - 128) / 64 moves the bias, and makes the kernel smaller.
// RUN: mct-opt %t/normalized.mlir --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy" 2>&1 -o /dev/null | FileCheck %s --check-prefix=NORMALIZED
// NORMALIZED: which change the results of its first layer 'dense' by 0.00{{[0-9]*}} times their biases
// RUN: mct-opt %t/normalized.mlir --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy input-scale=128" 2>&1 -o /dev/null | FileCheck %s --check-prefix=NONE --allow-empty

// A recorded scale says what samples were expected, whatever reads them.
// RUN: mct-opt %t/recorded.mlir --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy" 2>&1 -o /dev/null | FileCheck %s --check-prefix=RECORDED
// RECORDED: warning: {{.*}}the samples of input 'pixels' seem to have another range than the network expects: it reads values from -0.003922 to 0.003922, which were -1 to 1 before the recorded scale of 0.003922
// RECORDED: note: {{.*}}if they were pixels that are scaled to 0 to 1
// RUN: mct-opt %t/doubled.mlir --mct-calibrate="calibration-data=%S/Inputs/channels.npy" 2>&1 -o /dev/null | FileCheck %s --check-prefix=DOUBLED
// DOUBLED: it reads values from 1 to 79, which were 1 to 40 before the recorded scale of 2
// DOUBLED: note: {{.*}}where they are pixels
// A scale that is given takes its place.
// RUN: mct-opt %t/doubled.mlir --mct-calibrate="calibration-data=%S/Inputs/channels.npy input-scale=1" 2>&1 -o /dev/null | FileCheck %s --check-prefix=NONE --allow-empty

//--- ones.mlir
func.func @main(%arg0: tensor<1x4xf32> loc("pixels")) -> tensor<1x1x1x4xf32> {
  %x = tpc.quantize %arg0 as "pixels" activation : tensor<1x4xf32>
  %shape = tosa.const_shape {values = dense<[1, 1, 1, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<4x1x1x4xf32>}> : () -> tensor<4x1x1x4xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, -1.0, 1.0, 1.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %image = tosa.reshape %x, %shape : (tensor<1x4xf32>, !tosa.shape<4>) -> tensor<1x1x1x4xf32>
  %0 = tosa.conv2d %image, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x4xf32>, tensor<4x1x1x4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x4xf32> loc("dense")
  return %0 : tensor<1x1x1x4xf32>
}

//--- hundreds.mlir
func.func @main(%arg0: tensor<1x4xf32> loc("pixels")) -> tensor<1x1x1x4xf32> {
  %x = tpc.quantize %arg0 as "pixels" activation : tensor<1x4xf32>
  %shape = tosa.const_shape {values = dense<[1, 1, 1, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<4x1x1x4xf32>}> : () -> tensor<4x1x1x4xf32>
  %bias = "tosa.const"() <{values = dense<[100.0, -100.0, 1000.0, 1.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %image = tosa.reshape %x, %shape : (tensor<1x4xf32>, !tosa.shape<4>) -> tensor<1x1x1x4xf32>
  %0 = tosa.conv2d %image, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x4xf32>, tensor<4x1x1x4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x4xf32> loc("dense")
  return %0 : tensor<1x1x1x4xf32>
}

//--- few.mlir
// One of four channels has a bias: that says nothing.
func.func @main(%arg0: tensor<1x4xf32> loc("pixels")) -> tensor<1x1x1x4xf32> {
  %x = tpc.quantize %arg0 as "pixels" activation : tensor<1x4xf32>
  %shape = tosa.const_shape {values = dense<[1, 1, 1, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<4x1x1x4xf32>}> : () -> tensor<4x1x1x4xf32>
  %bias = "tosa.const"() <{values = dense<[1000.0, 0.0, 0.0, 0.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %image = tosa.reshape %x, %shape : (tensor<1x4xf32>, !tosa.shape<4>) -> tensor<1x1x1x4xf32>
  %0 = tosa.conv2d %image, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x4xf32>, tensor<4x1x1x4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x4xf32> loc("dense")
  return %0 : tensor<1x1x1x4xf32>
}

//--- normalized.mlir
func.func @main(%arg0: tensor<1x4xf32> loc("pixels")) -> tensor<1x1x1x4xf32> {
  %x = tpc.quantize %arg0 as "pixels" activation : tensor<1x4xf32>
  %shape = tosa.const_shape {values = dense<[1, 1, 1, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<4x1x1x4xf32>}> : () -> tensor<4x1x1x4xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, -1.0, 1.0, 1.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mean = "tosa.const"() <{values = dense<128.0> : tensor<1x4xf32>}> : () -> tensor<1x4xf32>
  %factor = "tosa.const"() <{values = dense<0.015625> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %centred = tosa.sub %x, %mean : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %scaled = tosa.mul %centred, %factor, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
  %image = tosa.reshape %scaled, %shape : (tensor<1x4xf32>, !tosa.shape<4>) -> tensor<1x1x1x4xf32>
  %0 = tosa.conv2d %image, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x4xf32>, tensor<4x1x1x4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x4xf32> loc("dense")
  return %0 : tensor<1x1x1x4xf32>
}

//--- recorded.mlir
func.func @main(%arg0: tensor<1x4xf32> {tpc.preprocessing = {scale = array<f64: 0.00392156862745098>}} loc("pixels")) -> tensor<1x4xf32> {
  %x = tpc.quantize %arg0 as "pixels" activation : tensor<1x4xf32>
  return %x : tensor<1x4xf32>
}

//--- doubled.mlir
func.func @main(%arg0: tensor<1x2x2xf32> {tpc.preprocessing = {scale = array<f64: 2.0>, offset = array<f64: -1.0>}} loc("pixels")) -> tensor<1x2x2xf32> {
  %x = tpc.quantize %arg0 as "pixels" activation : tensor<1x2x2xf32>
  return %x : tensor<1x2x2xf32>
}
