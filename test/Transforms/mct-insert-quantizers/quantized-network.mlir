// RUN: mct-opt %s --split-input-file --mct-insert-quantizers --verify-diagnostics

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act8]>) operator_sets []
  tpc.binding @npu_on_tosa for @npu []
  func.func @layer_of_integers(%x: tensor<1x4x4x2xi8>) -> tensor<1x4x4x2xi32> {
    %kernel = "tosa.const"() <{values = dense<1> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
    %bias = "tosa.const"() <{values = dense<0> : tensor<2xi32>}> : () -> tensor<2xi32>
    %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    // expected-error @below {{the network is quantized already: 'tosa.conv2d' makes 'tensor<1x4x4x2xi32>' of 'tensor<1x4x4x2xi8>'; quantize the float network that it was made of, or run this one as it is}}
    %0 = tosa.conv2d %x, %kernel, %bias, %zero, %zero {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
        : (tensor<1x4x4x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x4x2xi32>
    return %0 : tensor<1x4x4x2xi32>
  }
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act8]>) operator_sets []
  tpc.binding @npu_on_tosa for @npu []
  func.func @integers_and_back(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
    %scale = "tosa.const"() <{values = dense<2.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
    %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %steps = tosa.mul %x, %scale, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
    // expected-error @below {{the network is quantized already: 'tosa.cast' makes 'tensor<1x4xi32>' of 'tensor<1x4xf32>'}}
    %0 = tosa.cast %steps : (tensor<1x4xf32>) -> tensor<1x4xi32>
    %1 = tosa.cast %0 : (tensor<1x4xi32>) -> tensor<1x4xi8>
    %2 = tosa.reverse %1 {axis = 1 : i32} : (tensor<1x4xi8>) -> tensor<1x4xi8>
    %3 = tosa.cast %2 : (tensor<1x4xi8>) -> tensor<1x4xf32>
    %4 = tosa.mul %3, %scale, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
    return %4 : tensor<1x4xf32>
  }
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act8]>) operator_sets []
  tpc.binding @npu_on_tosa for @npu []
  func.func @table(%x: tensor<1x4xi8>) -> tensor<1x4xi8> {
    %table = "tosa.const"() <{values = dense<1> : tensor<256xi8>}> : () -> tensor<256xi8>
    // expected-error @below {{the network is quantized already: 'tosa.table'}}
    %0 = tosa.table %x, %table : (tensor<1x4xi8>, tensor<256xi8>) -> tensor<1x4xi8>
    return %0 : tensor<1x4xi8>
  }
}

// -----

// Bytes of an image, codes of the result, stored weights, integers that are no codes (indices, whole numbers), rounding
// and flags quantize nothing.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act8]>) operator_sets []
  tpc.binding @npu_on_tosa for @npu []
  func.func @integers_of_a_float_network(%bytes: tensor<1x4xi8>) -> (tensor<1x4xi8>, tensor<1x4xf32>) {
    %stored = "tosa.const"() <{values = dense<3> : tensor<1x4xi8>}> : () -> tensor<1x4xi8>
    %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %0 = tosa.cast %bytes : (tensor<1x4xi8>) -> tensor<1x4xf32>
    %1 = tosa.cast %stored : (tensor<1x4xi8>) -> tensor<1x4xf32>
    %2 = tosa.add %0, %1 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    %3 = tosa.cast %2 : (tensor<1x4xf32>) -> tensor<1x4xi32>
    %4 = tosa.cast %3 : (tensor<1x4xi32>) -> tensor<1x4xf32>
    %5 = tosa.greater %2, %4 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xi1>
    %6 = tosa.cast %5 : (tensor<1x4xi1>) -> tensor<1x4xf32>
    %7 = tosa.mul %6, %4, %shift : (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1xi8>) -> tensor<1x4xf32>
    %8 = tosa.cast %7 : (tensor<1x4xf32>) -> tensor<1x4xi8>
    %9 = tosa.cast %8 : (tensor<1x4xi8>) -> tensor<1x4xf32>
    return %8, %9 : tensor<1x4xi8>, tensor<1x4xf32>
  }
}
