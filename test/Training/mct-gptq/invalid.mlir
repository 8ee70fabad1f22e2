// DEFINE: %{samples} = %S/../../Corrections/Inputs/eight_pairs.npy
// RUN: split-file %s %t
// RUN: mct-opt %t/none.mlir --mct-gptq="calibration-data=%{samples} remarks=true" --verify-diagnostics
// RUN: not mct-opt %t/net.mlir --mct-gptq 2>&1 | FileCheck %s --check-prefix=SAMPLES
// RUN: not mct-opt %t/net.mlir --mct-gptq="calibration-data=%{samples} temperature=0" 2>&1 | FileCheck %s --check-prefix=TEMPERATURE
// RUN: not mct-opt %t/net.mlir --mct-gptq="calibration-data=%{samples} loss=attention hessian-weights=false" 2>&1 | FileCheck %s --check-prefix=ATTENTION
// RUN: not mct-opt %t/net.mlir --mct-gptq="calibration-data=%{samples} loss=program" 2>&1 | FileCheck %s --check-prefix=PROGRAM
// RUN: not mct-opt %t/net.mlir --mct-gptq="calibration-data=%{samples} softness=0.6" 2>&1 | FileCheck %s --check-prefix=SOFTNESS
// RUN: not mct-opt %t/net.mlir --mct-gptq="calibration-data=%{samples} momentum=0.5" 2>&1 | FileCheck %s --check-prefix=MOMENTUM
// RUN: not mct-opt %t/net.mlir --mct-gptq="calibration-data=%{samples} bias-momentum=0.5" 2>&1 | FileCheck %s --check-prefix=BIAS-MOMENTUM
// RUN: not mct-opt %t/net.mlir --mct-gptq="calibration-data=%{samples} most-levels=-1" 2>&1 | FileCheck %s --check-prefix=LEVELS
// RUN: not mct-opt %t/net.mlir --mct-gptq="calibration-data=%{samples} checkpoint-every=3" 2>&1 | FileCheck %s --check-prefix=EVERY
// RUN: not mct-opt %t/net.mlir --mct-gptq="calibration-data=%{samples} checkpoint=%t/net.mlir" 2>&1 | FileCheck %s --check-prefix=OVERWRITTEN
// RUN: not mct-opt %t/net.mlir --mct-gptq="calibration-data=%{samples} gradual=true gradual-initial=0.5 gradual-target=0.5" 2>&1 | FileCheck %s --check-prefix=GRADUAL
// RUN: not mct-opt %t/net.mlir --mct-gptq="calibration-data=%{samples} gradual-end=5" 2>&1 | FileCheck %s --check-prefix=NOT-GRADUAL
// RUN: not mct-opt %t/net.mlir --mct-gptq="calibration-data=%{samples} bias-rate=1e38 epochs=9" 2>&1 | FileCheck %s --check-prefix=DIVERGED
// RUN: not mct-opt %t/integers.mlir --mct-gptq="calibration-data=%{samples}" 2>&1 | FileCheck %s --check-prefix=INTEGERS
// RUN: not mct-opt %t/identity.mlir --mct-gptq="calibration-data=%{samples}" 2>&1 | FileCheck %s --check-prefix=IDENTITY
// RUN: not mct-opt %t/infinite.mlir --mct-gptq="calibration-data=%{samples}" 2>&1 | FileCheck %s --check-prefix=INFINITE
// RUN: mct-opt %t/net.mlir --mct-gptq="calibration-data=%{samples} rate=0 quantizer-rate=0 train-bias=false epochs=1" 2>&1 | FileCheck %s --check-prefix=KEPT

// SAMPLES: net.mlir:{{.*}} error: training needs samples; give calibration-data=FILE.npy
// TEMPERATURE: error: a temperature is positive, but temperature=0
// ATTENTION: error: loss=attention is made of Hessian scores; drop hessian-weights=false, or take loss=mse
// PROGRAM: net.mlir:{{.*}} error: 'func.func' op cannot be trained: loss=program needs a loss of the caller; give mct.gptq.GradientPTQConfig one, or take another loss
// SOFTNESS: error: a weight starts at most half a step from its level, but softness={{6.*e-01|0.6.*}}; give a number from 0 to 0.5
// MOMENTUM: error: momentum=5.000000e-01 is of optimizer=sgd; Adam has its own
// BIAS-MOMENTUM: error: bias-momentum=5.000000e-01 is of bias-optimizer=sgd; Adam has its own
// LEVELS: error: weights are moved by a positive number of levels at most, but most-levels=-1
// EVERY: error: checkpoint-every=3 needs a file; give checkpoint=FILE
// OVERWRITTEN: error: {{.*}}net.mlir
// GRADUAL: error: 'func.func' op {{.*}}0.5
// NOT-GRADUAL: error: gradual-initial, gradual-target, gradual-start and gradual-end are of gradual=true; give it, too
// DIVERGED: error: {{.*}}smaller learning rate
// INTEGERS: error: 'func.func' op has no result of f32 with the batch first, by which training could be judged
// INFINITE: error: 'func.func' op results of the float network are not finite
// IDENTITY: error: 'func.func' op has no result that an op makes, which could be trained; take loss=mse

// Without a gain the network stays as it is, and everybody is told.
// KEPT: warning: 'func.func' op: training does not lower the mean squared error of its results on 2 samples from [[ERROR:.*]], but makes it [[ERROR]]; it stays as it is
// KEPT: "tosa.const"() <{values = dense<{{\[\[\[\[}}1.000000e+00, 3.000000e-01]]]]>
// KEPT: parameters(#tpc.symmetric<threshold = [1.000000e+00], bits = 2>) : tensor

//--- none.mlir
// expected-warning @below {{'func.func' op is not trained: no layer has a kernel of its own on evenly spaced levels}}
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  return %x : tensor<1x1x1x2xf32>
}

//--- net.mlir
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.3]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %x, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}

//--- integers.mlir
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1xi32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %x, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %1 = tosa.argmax %0 {axis = 3 : i32} : (tensor<1x1x1x1xf32>) -> tensor<1x1x1xi32>
  return %1 : tensor<1x1x1xi32>
}

//--- identity.mlir
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %x, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %x : tensor<1x1x1x2xf32>
}

//--- infinite.mlir
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %x, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %zeroes = "tosa.const"() <{values = dense<0.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %1 = tosa.reciprocal %zeroes : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  %2 = tosa.add %0, %1 : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %2 : tensor<1x1x1x1xf32>
}
