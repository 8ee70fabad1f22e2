// RUN: mct-opt %s --mct-quantize-apply --split-input-file --verify-diagnostics --allow-unregistered-dialect

// expected-error@+1 {{'func.func' op has no operator that is annotated; mct-quantize-annotate marks them}}
func.func @nothing(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %0 = tosa.tanh %x : (tensor<1x3xf32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}

// -----

func.func @unsupported(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error@+1 {{'tosa.mul' op is annotated, and the default scheme has no quantizers for it; give the mark a config that has weights, activations or outputs, or remove it}}
  %0 = tosa.mul %x, %x, %shift : (tensor<1x3xf32>, tensor<1x3xf32>, tensor<1xi8>) -> tensor<1x3xf32>
  // expected-note@+1 {{annotated here}}
  %1 = tpc.quantize %0 as "mul" activation config(#tpc.quantize_config<>) : tensor<1x3xf32>
  return %1 : tensor<1x3xf32>
}

// -----

func.func @batch_norm_alone(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %gamma = "tosa.const"() <{values = dense<[[2.0, 3.0, 1.0]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
  %0 = tosa.mul %x, %gamma, %shift : (tensor<1x3xf32>, tensor<1x3xf32>, tensor<1xi8>) -> tensor<1x3xf32>
  // expected-error@+1 {{'tosa.add' op is annotated, and the default scheme has no quantizers for it without a layer in front of it that is annotated, too; give the mark}}
  %1 = tosa.add %0, %gamma : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
  // expected-note@+1 {{annotated here}}
  %2 = tpc.quantize %1 as "norm" activation config(#tpc.quantize_config<>) : tensor<1x3xf32>
  return %2 : tensor<1x3xf32>
}

// -----

#q = #tpc.observed_range<observer = last_value, bits = 8>
func.func @two_outputs(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
  // expected-error@+1 {{'tosa.tanh' op has 2 quantizers of one output; give one, or none}}
  %0 = tosa.tanh %x : (tensor<1x3xf32>) -> tensor<1x3xf32>
  // expected-note@+1 {{annotated here}}
  %1 = tpc.quantize %0 as "tanh" activation config(#tpc.quantize_config<outputs = [#q, #q]>) : tensor<1x3xf32>
  return %1 : tensor<1x3xf32>
}

// -----

#q = #tpc.observed_range<observer = last_value, bits = 8>
func.func @two_activations(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
  // expected-error@+1 {{'tosa.tanh' op has 2 quantizers of one activation; give one, or none}}
  %0 = tosa.tanh %x : (tensor<1x3xf32>) -> tensor<1x3xf32>
  // expected-note@+1 {{annotated here}}
  %1 = tpc.quantize %0 as "tanh" activation config(#tpc.quantize_config<activations = [#q, #q]>) : tensor<1x3xf32>
  return %1 : tensor<1x3xf32>
}

// -----

#q = #tpc.observed_range<observer = last_value, bits = 8>
func.func @two_results(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
  // expected-error@+1 {{'test.split' op has 2 results; an operator that is annotated has one}}
  %0:2 = "test.split"(%x) : (tensor<1x3xf32>) -> (tensor<1x3xf32>, tensor<1x3xf32>)
  // expected-note@+1 {{annotated here}}
  %1 = tpc.quantize %0#0 as "split" activation config(#tpc.quantize_config<outputs = [#q]>) : tensor<1x3xf32>
  return %1 : tensor<1x3xf32>
}

// -----

#q = #tpc.observed_range<observer = last_value, bits = 8>
func.func @no_such_weight(%x: tensor<1x1x3xf32>) -> tensor<1x1x2xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x3x2xf32>}> : () -> tensor<1x3x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-error@+1 {{'tosa.matmul' op has no weight 'kernel' to quantize; it has 'kernel_attr'}}
  %0 = tosa.matmul %x, %kernel, %zero, %zero : (tensor<1x1x3xf32>, tensor<1x3x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  // expected-note@+1 {{annotated here}}
  %1 = tpc.quantize %0 as "dense" activation config(#tpc.quantize_config<weights = {kernel = #q}>) : tensor<1x1x2xf32>
  return %1 : tensor<1x1x2xf32>
}

// -----

#q = #tpc.observed_range<observer = last_value, bits = 8>
func.func @no_channels(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %c = "tosa.const"() <{values = dense<[[2.0, 3.0, 1.0]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
  // expected-error@+1 {{'tosa.maximum' op has no known channels of 'pos_attr'; leave it out of 'per_channel'}}
  %0 = tosa.maximum %x, %c : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
  // expected-note@+1 {{annotated here}}
  %1 = tpc.quantize %0 as "maximum" activation config(#tpc.quantize_config<weights = {pos_attr = #q}, per_channel = ["pos_attr"]>) : tensor<1x3xf32>
  return %1 : tensor<1x3xf32>
}
