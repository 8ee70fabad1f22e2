// Where no activation is quantized no samples are needed; with samples the biases are corrected as well.
// RUN: printf 'name "*" activation=float\n' > %t.rules
// RUN: mct-opt %s --mct-ptq="target=imx500 overrides=%t.rules" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=SAYS
// RUN: FileCheck %s < %t.mlir
// RUN: mct-opt %s --mct-ptq="target=imx500 overrides=%t.rules activation-channel-equalization=true weights-error-method=hmse" -o %t.hmse.mlir 2>&1 | FileCheck %s --check-prefix=HMSE
// RUN: FileCheck %s < %t.hmse.mlir
// RUN: mct-opt %s --mct-ptq="target=imx500 overrides=%t.rules calibration-data=%S/Inputs/image.npy" -o %t.corrected.mlir 2>&1 | FileCheck %s --check-prefix=SAMPLES
// RUN: FileCheck %s --check-prefix=CORRECTED < %t.corrected.mlir
// RUN: not mct-opt %s --mct-ptq=target=imx500 2>&1 | FileCheck %s --check-prefix=ACTIVATIONS

// SAYS:     remark: only weights are quantized: activations stay float, and need no samples
// SAYS:     note: corrections that run the network do; give calibration-data where they are wanted
// SAYS-NOT: error
// HMSE:     warning: takes mse instead of hmse
// HMSE-NOT: error

// CHECK-NOT:     as {{.*}} activation
// CHECK:         tpc.quantize {{.*}} weight "kernel_attr" {{.*}} parameters(
// CHECK-NOT:     corrections(
// CHECK-NOT:     as {{.*}} activation
// CHECK:         return

// SAMPLES:     remark: only weights are quantized
// SAMPLES-NOT: note
// CORRECTED: tpc.quantize {{.*}} weight "kernel_attr" {{.*}} corrections(

// ACTIVATIONS: error: calibration needs samples; give calibration-data=FILE.npy
func.func @main(%arg0: tensor<1x1x1x4xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[0.11, 0.23, 0.31, 1.0]]]]> : tensor<1x1x1x4xf32>}> : () -> tensor<1x1x1x4xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %arg0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
