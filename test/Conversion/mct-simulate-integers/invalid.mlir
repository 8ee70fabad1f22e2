// What is left as it is, and why.
// RUN: mct-opt %s --mct-simulate-integers=remarks=true --verify-diagnostics --split-input-file -o /dev/null

func.func @layers(%arg0: tensor<1x1x1x1xf32>, %arg1: tensor<1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) {
  %kernel = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<0.3> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x1x1x1xf32>
  // expected-remark @below {{is not a layer of integers: its kernel is not quantized}}
  %0 = tosa.conv2d %x, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x1x1x1xf32>
  // expected-remark @below {{is not a layer of integers: its input has no single grid}}
  %1 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %table = tpc.quantize %kernel as "table" weight "kernel_attr" axes [0] parameters(#tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.0], table = [0, 33, 128, 255], bits = 2, is_signed = false>) : tensor<1x1x1x1xf32>
  // expected-remark @below {{is not a layer of integers: the levels of its kernel are not evenly spaced}}
  %2 = tosa.conv2d %x, %table, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  // expected-remark @below {{is not a layer of integers: its bias is not constant along its channels}}
  %3 = tosa.conv2d %x, %w, %arg1, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %b = tpc.quantize %bias as "biased" weight "bias_attr" parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1xf32>
  // expected-remark @below {{is not a layer of integers: its bias has a quantizer that rounds it}}
  %4 = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0, %1, %2, %3, %4 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>
}

// -----

// A kernel per tensor whose steps run over input channels.
func.func @input_channels(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.3> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x1x1x2xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [3] parameters(#tpc.power_of_two<threshold = [1.0, 2.0], bits = 8>) : tensor<1x1x1x2xf32>
  // expected-remark @below {{is not a layer of integers: its kernel has not one step for each output channel}}
  %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}

// -----

// A table of activations has a rule of its own, and no candidates of its kind are known for the value in front of it.
func.func @own_rule(%a: tensor<1x8xf32>) -> tensor<1x8xf32> {
  // expected-remark @below {{'x' rounds as before: its quantizer has its own rule for rounding}}
  %0 = tpc.quantize %a as "x" activation parameters(#tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.0], table = [-128, -16, 0, 64], bits = 2>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}
