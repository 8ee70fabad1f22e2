// Kernels are integers with their scales: as few bits as the operator set has, scales of blocks where it has them. Biases are
// int32 in steps of the accumulator.
// RUN: mct-translate --export-onnx --onnx-profile=qdq --onnx-format=text %s | FileCheck %s --check-prefixes=ALL,SET21
// RUN: mct-translate --export-onnx --onnx-profile=qdq --onnx-opset=25 --onnx-format=text %s | FileCheck %s --check-prefixes=ALL,SET25

// SET21: <ir_version: 10, opset_import: ["" : 21],
// SET25: <ir_version: 13, opset_import: ["" : 25],
// ALL: int8[2,2,1,1] eight/kernel_attr/codes = {-80, 8, 127, 0}
// ALL: float[2] eight/kernel_attr/scale = {0.015625, 0.00390625}
// ALL: int8[2] eight/kernel_attr/zero_point = {0, 0}
// ALL: int32[2] eight/bias/codes = {1536, -3072}
// ALL: float[2] eight/bias/scale = {0.00048828125, 0.000122070312}
// ALL: int4[2,2,1,1] four/kernel_attr/codes = {-5, 0, 7, 0}
// ALL: float[2] four/kernel_attr/scale = {0.25, 0.0625}
// ALL: int4[2] four/kernel_attr/zero_point = {0, 0}
// ALL: int32[2] four/bias/codes = {96, -192}
// ALL: float[2] four/bias/scale = {0.0078125, 0.001953125}
// SET21: int4[2,2,1,1] two/kernel_attr/codes = {-2, 0, 1, 0}
// SET25: int2[2,2,1,1] two/kernel_attr/codes = {-2, 0, 1, 0}
// ALL: float two/kernel_attr/scale = {0.5}
// SET21: int4 two/kernel_attr/zero_point = {0}
// SET25: int2 two/kernel_attr/zero_point = {0}
// ALL: int32[2] two/bias/codes = {48, -24}
// ALL: float[2] two/bias/scale = {0.015625, 0.015625}
// ALL: uint4[2,2,1,1] range/kernel_attr/codes = {0, 11, 5, 3}
// ALL: float[2] range/kernel_attr/scale = {0.125, 0.25}
// ALL: uint4[2] range/kernel_attr/zero_point = {10, 3}
// ALL: int32[2] range/bias/codes = {192, -48}
// ALL: float[2] range/bias/scale = {0.00390625, 0.0078125}
// ALL: int8[2,2,1,1] table/kernel_attr/codes = {-90, 0, 64, 0}
// ALL: float[2] table/kernel_attr/scale = {0.01171875, 0.005859375}
// ALL: int8[2] table/kernel_attr/zero_point = {0, 0}
// ALL: int32[2] table/bias/codes = {2048, -2048}
// ALL: float[2] table/bias/scale = {0.000366210938, 0.000183105469}
// ALL: int8[2,2,1,1] block/kernel_attr/codes = {-80, 64, 64, 0}
// ALL: float[2,2,1,1] block/kernel_attr/scale = {0.015625, 0.001953125, 0.0078125, 0.00390625}
// ALL: int8[2,2,1,1] block/kernel_attr/zero_point = {0, 0, 0, 0}
// ALL: float[2] block/bias = {0.75, -0.375}
// ALL: float x/scale = {0.03125}
// ALL: uint8 x/zero_point = {128}
// ALL: [x/codes] x/codes = QuantizeLinear (x, x/scale, x/zero_point)
// ALL: [x/quantized] x/quantized = DequantizeLinear (x/codes, x/scale, x/zero_point)
// ALL: [eight/kernel_attr/quantized] eight/kernel_attr/quantized = DequantizeLinear <axis = 0> (eight/kernel_attr/codes, eight/kernel_attr/scale, eight/kernel_attr/zero_point)
// ALL: [eight/bias/quantized] eight/bias/quantized = DequantizeLinear <axis = 0> (eight/bias/codes, eight/bias/scale)
// ALL: [eight] eight = Conv <kernel_shape = [1, 1], strides = [1, 1], group = 1, pads = [0, 0, 0, 0], dilations = [1, 1]> (x/quantized, eight/kernel_attr/quantized, eight/bias/quantized)
// ALL: [four/kernel_attr/quantized] four/kernel_attr/quantized = DequantizeLinear <axis = 0> (four/kernel_attr/codes, four/kernel_attr/scale, four/kernel_attr/zero_point)
// ALL: [four/bias/quantized] four/bias/quantized = DequantizeLinear <axis = 0> (four/bias/codes, four/bias/scale)
// ALL: [four] four = Conv <kernel_shape = [1, 1], strides = [1, 1], group = 1, pads = [0, 0, 0, 0], dilations = [1, 1]> (x/quantized, four/kernel_attr/quantized, four/bias/quantized)
// ALL: [two/kernel_attr/quantized] two/kernel_attr/quantized = DequantizeLinear (two/kernel_attr/codes, two/kernel_attr/scale, two/kernel_attr/zero_point)
// ALL: [two/bias/quantized] two/bias/quantized = DequantizeLinear <axis = 0> (two/bias/codes, two/bias/scale)
// ALL: [two] two = Conv <kernel_shape = [1, 1], strides = [1, 1], group = 1, pads = [0, 0, 0, 0], dilations = [1, 1]> (x/quantized, two/kernel_attr/quantized, two/bias/quantized)
// ALL: [range/kernel_attr/quantized] range/kernel_attr/quantized = DequantizeLinear <axis = 0> (range/kernel_attr/codes, range/kernel_attr/scale, range/kernel_attr/zero_point)
// ALL: [range/bias/quantized] range/bias/quantized = DequantizeLinear <axis = 0> (range/bias/codes, range/bias/scale)
// ALL: [range] range = Conv <kernel_shape = [1, 1], strides = [1, 1], group = 1, pads = [0, 0, 0, 0], dilations = [1, 1]> (x/quantized, range/kernel_attr/quantized, range/bias/quantized)
// ALL: [table/kernel_attr/quantized] table/kernel_attr/quantized = DequantizeLinear <axis = 0> (table/kernel_attr/codes, table/kernel_attr/scale, table/kernel_attr/zero_point)
// ALL: [table/bias/quantized] table/bias/quantized = DequantizeLinear <axis = 0> (table/bias/codes, table/bias/scale)
// ALL: [table] table = Conv <kernel_shape = [1, 1], strides = [1, 1], group = 1, pads = [0, 0, 0, 0], dilations = [1, 1]> (x/quantized, table/kernel_attr/quantized, table/bias/quantized)
// ALL: [block/kernel_attr/quantized] block/kernel_attr/quantized = DequantizeLinear <axis = 3, block_size = 1> (block/kernel_attr/codes, block/kernel_attr/scale, block/kernel_attr/zero_point)
// ALL: [block] block = Conv <kernel_shape = [1, 1], strides = [1, 1], group = 1, pads = [0, 0, 0, 0], dilations = [1, 1]> (x/quantized, block/kernel_attr/quantized, block/bias)
func.func @main(%x: tensor<1x3x2x2xf32> loc("x")) -> (tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %b = "tosa.const"() <{values = dense<[0.75, -0.375]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %q = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x3x2x2xf32>
  %k0 = "tosa.const"() <{values = dense<[[[[-1.25, 0.125]]], [[[0.5, -0.0]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %w0 = tpc.quantize %k0 as "eight" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [2.0, 0.5], bits = 8>) : tensor<2x1x1x2xf32>
  %0 = tosa.conv2d %q, %w0, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2x2xf32> loc("eight")
  %w1 = tpc.quantize %k0 as "four" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [2.0, 0.5], bits = 4>) : tensor<2x1x1x2xf32>
  %1 = tosa.conv2d %q, %w1, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2x2xf32> loc("four")
  %w2 = tpc.quantize %k0 as "two" weight "kernel_attr" parameters(#tpc.power_of_two<threshold = [1.0], bits = 2>) : tensor<2x1x1x2xf32>
  %2 = tosa.conv2d %q, %w2, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2x2xf32> loc("two")
  %w3 = tpc.quantize %k0 as "range" weight "kernel_attr" axes [0] parameters(#tpc.uniform<scale = [0.125, 0.25], zero_point = [10, 3], bits = 4>) : tensor<2x1x1x2xf32>
  %3 = tosa.conv2d %q, %w3, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2x2xf32> loc("range")
  %w4 = tpc.quantize %k0 as "table" weight "kernel_attr" axes [0] parameters(#tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.5, 0.75], table = [-90, -20, 0, 64], bits = 2>) : tensor<2x1x1x2xf32>
  %4 = tosa.conv2d %q, %w4, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2x2xf32> loc("table")
  %w5 = tpc.quantize %k0 as "block" weight "kernel_attr" axes [0, 3] parameters(#tpc.power_of_two<threshold = [2.0, 0.25, 1.0, 0.5], bits = 8>) : tensor<2x1x1x2xf32>
  %5 = tosa.conv2d %q, %w5, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2x2xf32> loc("block")
  return %0, %1, %2, %3, %4, %5 : tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>
}
