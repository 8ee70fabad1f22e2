// RUN: mct-translate --export-onnx --onnx-profile=mct_quantizers --onnx-format=text %s | FileCheck %s

// CHECK: main (float[1,2,3,2] arg0) => (float[1,2,3,2] pot, float[1,2,3,2] symmetric, float[1,2,3,2] tensor, float[1,2,3,2] table, float[1,2,3,2] pot_table, float[1,2,3,2] uniform, float[1,2,3,2] inner, float[1,2,3,2] abs_wide, float[1,2,3,2] abs_unsigned, float[1,2,3,2] abs_free, float[1,2,3,2] abs_range, float[1,2,3,2] add)
// CHECK: float[2,2,1,1] pot/kernel_attr =
// CHECK: float[2] pot/kernel_attr/threshold =
// CHECK: float[2] pot/bias =
// CHECK: float[2,2,1,1] symmetric/kernel_attr =
// CHECK: float[2] symmetric/kernel_attr/threshold =
// CHECK: float[2] symmetric/bias =
// CHECK: float[2,2,1,1] tensor/kernel_attr =
// CHECK: float[1] tensor/kernel_attr/threshold =
// CHECK: float[2] tensor/bias =
// CHECK: float[2,2,1,1] table/kernel_attr =
// CHECK: float[4] table/kernel_attr/table =
// CHECK: float[2] table/kernel_attr/threshold =
// CHECK: float[2] table/bias =
// CHECK: float[2,2,1,1] pot_table/kernel_attr =
// CHECK: float[4] pot_table/kernel_attr/table =
// CHECK: float[2] pot_table/kernel_attr/threshold =
// CHECK: float[2] pot_table/bias =
// CHECK: float[2,2,1,1] uniform/kernel_attr =
// CHECK: float[2] uniform/kernel_attr/min_range =
// CHECK: float[2] uniform/kernel_attr/max_range =
// CHECK: float[2] uniform/bias =
// CHECK: float[2,2,1,1] inner/kernel_attr =
// CHECK: float[2] inner/kernel_attr/threshold =
// CHECK: float[2] inner/bias =
// CHECK: float[2] offset/pos_attr/threshold =
// CHECK: {{^[{]$}}
// CHECK-NEXT: [x/quantized] x/quantized = mct_quantizers.ActivationPOTQuantizer <mctq_version = "1.6.0", num_bits = 8, signed = 1, threshold = 4> (arg0)
// CHECK-NEXT: [pot/kernel_attr/quantized] pot/kernel_attr/quantized = mct_quantizers.WeightsPOTQuantizer <mctq_version = "1.6.0", num_bits = 4, per_channel = 1, channel_axis = 0, signed = 1> (pot/kernel_attr, pot/kernel_attr/threshold)
// CHECK-NEXT: [pot] pot = Conv <kernel_shape = [1, 1], strides = [1, 1], group = 1, pads = [0, 0, 0, 0], dilations = [1, 1]> (x/quantized, pot/kernel_attr/quantized, pot/bias)
// CHECK-NEXT: [symmetric/kernel_attr/quantized] symmetric/kernel_attr/quantized = mct_quantizers.WeightsSymmetricQuantizer <mctq_version = "1.6.0", num_bits = 8, per_channel = 1, channel_axis = 0, signed = 1> (symmetric/kernel_attr, symmetric/kernel_attr/threshold)
// CHECK-NEXT: [symmetric] symmetric = Conv <kernel_shape = [1, 1], strides = [1, 1], group = 1, pads = [0, 0, 0, 0], dilations = [1, 1]> (x/quantized, symmetric/kernel_attr/quantized, symmetric/bias)
// CHECK-NEXT: [tensor/kernel_attr/quantized] tensor/kernel_attr/quantized = mct_quantizers.WeightsSymmetricQuantizer <mctq_version = "1.6.0", num_bits = 2, per_channel = 0, channel_axis = 0, signed = 1> (tensor/kernel_attr, tensor/kernel_attr/threshold)
// CHECK-NEXT: [tensor] tensor = Conv <kernel_shape = [1, 1], strides = [1, 1], group = 1, pads = [0, 0, 0, 0], dilations = [1, 1]> (x/quantized, tensor/kernel_attr/quantized, tensor/bias)
// CHECK-NEXT: [table/kernel_attr/quantized] table/kernel_attr/quantized = mct_quantizers.WeightsLUTSymmetricQuantizer <mctq_version = "1.6.0", num_bits = 2, per_channel = 1, channel_axis = 0, signed = 1, lut_values_bitwidth = 8, eps = 9.99999994e-09, input_rank = 4> (table/kernel_attr, table/kernel_attr/table, table/kernel_attr/threshold)
// CHECK-NEXT: [table] table = Conv <kernel_shape = [1, 1], strides = [1, 1], group = 1, pads = [0, 0, 0, 0], dilations = [1, 1]> (x/quantized, table/kernel_attr/quantized, table/bias)
// CHECK-NEXT: [pot_table/kernel_attr/quantized] pot_table/kernel_attr/quantized = mct_quantizers.WeightsLUTPOTQuantizer <mctq_version = "1.6.0", num_bits = 2, per_channel = 1, channel_axis = 0, signed = 1, lut_values_bitwidth = 8, eps = 9.99999994e-09, input_rank = 4> (pot_table/kernel_attr, pot_table/kernel_attr/table, pot_table/kernel_attr/threshold)
// CHECK-NEXT: [pot_table] pot_table = Conv <kernel_shape = [1, 1], strides = [1, 1], group = 1, pads = [0, 0, 0, 0], dilations = [1, 1]> (x/quantized, pot_table/kernel_attr/quantized, pot_table/bias)
// CHECK-NEXT: [uniform/kernel_attr/quantized] uniform/kernel_attr/quantized = mct_quantizers.WeightsUniformQuantizer <mctq_version = "1.6.0", num_bits = 4, per_channel = 1, channel_axis = 0> (uniform/kernel_attr, uniform/kernel_attr/min_range, uniform/kernel_attr/max_range)
// CHECK-NEXT: [uniform] uniform = Conv <kernel_shape = [1, 1], strides = [1, 1], group = 1, pads = [0, 0, 0, 0], dilations = [1, 1]> (x/quantized, uniform/kernel_attr/quantized, uniform/bias)
// CHECK-NEXT: [inner/kernel_attr/quantized] inner/kernel_attr/quantized = mct_quantizers.WeightsSymmetricQuantizer <mctq_version = "1.6.0", num_bits = 8, per_channel = 1, channel_axis = 1, signed = 1> (inner/kernel_attr, inner/kernel_attr/threshold)
// CHECK-NEXT: [inner] inner = Conv <kernel_shape = [1, 1], strides = [1, 1], group = 1, pads = [0, 0, 0, 0], dilations = [1, 1]> (x/quantized, inner/kernel_attr/quantized, inner/bias)
// CHECK-NEXT: [wide/quantized] wide/quantized = mct_quantizers.ActivationPOTQuantizer <mctq_version = "1.6.0", num_bits = 16, signed = 1, threshold = 4> (arg0)
// CHECK-NEXT: [abs_wide] abs_wide = Abs (wide/quantized)
// CHECK-NEXT: [unsigned/quantized] unsigned/quantized = mct_quantizers.ActivationPOTQuantizer <mctq_version = "1.6.0", num_bits = 8, signed = 0, threshold = 4> (arg0)
// CHECK-NEXT: [abs_unsigned] abs_unsigned = Abs (unsigned/quantized)
// CHECK-NEXT: [free/quantized] free/quantized = mct_quantizers.ActivationSymmetricQuantizer <mctq_version = "1.6.0", num_bits = 8, signed = 1, threshold = 3> (arg0)
// CHECK-NEXT: [abs_free] abs_free = Abs (free/quantized)
// CHECK-NEXT: [range/quantized] range/quantized = mct_quantizers.ActivationUniformQuantizer <mctq_version = "1.6.0", num_bits = 8, min_range = -3.125, max_range = 4.84375> (arg0)
// CHECK-NEXT: [abs_range] abs_range = Abs (range/quantized)
// CHECK-NEXT: [offset/pos_attr/quantized] offset/pos_attr/quantized = mct_quantizers.WeightsSymmetricQuantizer <mctq_version = "1.6.0", num_bits = 8, per_channel = 1, channel_axis = 1, signed = 1> (offset/pos_attr, offset/pos_attr/threshold)
// CHECK-NEXT: [add] add = Add (x/quantized, offset/pos_attr/quantized)
// CHECK-NEXT: {{^[}]$}}
func.func @main(%x: tensor<1x3x2x2xf32>) -> (tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %b = "tosa.const"() <{values = dense<[0.75, 0.375]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %q = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x3x2x2xf32>
  %k_pot = "tosa.const"() <{values = dense<[[[[-1.25, 0.125]]], [[[-0.0, 0.0]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %w_pot = tpc.quantize %k_pot as "pot" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0, 0.5], bits = 4>) : tensor<2x1x1x2xf32>
  %pot = tosa.conv2d %q, %w_pot, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2x2xf32> loc("pot")
  %k_symmetric = "tosa.const"() <{values = dense<[[[[-0.5, -0.125]]], [[[-0.125, 0.625]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %w_symmetric = tpc.quantize %k_symmetric as "symmetric" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [0.75, 1.25], bits = 8>) : tensor<2x1x1x2xf32>
  %symmetric = tosa.conv2d %q, %w_symmetric, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2x2xf32> loc("symmetric")
  %k_tensor = "tosa.const"() <{values = dense<[[[[0.125, -0.0]]], [[[0.75, -0.25]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %w_tensor = tpc.quantize %k_tensor as "tensor" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [0.75], bits = 2>) : tensor<2x1x1x2xf32>
  %tensor = tosa.conv2d %q, %w_tensor, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2x2xf32> loc("tensor")
  %k_table = "tosa.const"() <{values = dense<[[[[-0.25, -0.875]]], [[[0.75, 0.5]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %w_table = tpc.quantize %k_table as "table" weight "kernel_attr" axes [0] parameters(#tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.5, 0.75], table = [-90, -20, 0, 64], bits = 2>) : tensor<2x1x1x2xf32>
  %table = tosa.conv2d %q, %w_table, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2x2xf32> loc("table")
  %k_pot_table = "tosa.const"() <{values = dense<[[[[0.5, 0.375]]], [[[0.0, 0.125]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %w_pot_table = tpc.quantize %k_pot_table as "pot_table" weight "kernel_attr" axes [0] parameters(#tpc.lookup_table<method = lut_pot_quantizer, threshold = [1.0, 2.0], table = [-8, -3, 1, 5], bits = 2, table_bits = 4>) : tensor<2x1x1x2xf32>
  %pot_table = tosa.conv2d %q, %w_pot_table, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2x2xf32> loc("pot_table")
  %k_uniform = "tosa.const"() <{values = dense<[[[[-0.125, -0.125]]], [[[0.0, 0.75]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %w_uniform = tpc.quantize %k_uniform as "uniform" weight "kernel_attr" axes [0] parameters(#tpc.uniform<scale = [0.125, 0.25], zero_point = [7, 3], bits = 4>) : tensor<2x1x1x2xf32>
  %uniform = tosa.conv2d %q, %w_uniform, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2x2xf32> loc("uniform")
  %k_inner = "tosa.const"() <{values = dense<[[[[0.25, -0.0]]], [[[-0.25, -0.375]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %w_inner = tpc.quantize %k_inner as "inner" weight "kernel_attr" axes [3] parameters(#tpc.symmetric<threshold = [0.75, 1.25], bits = 8>) : tensor<2x1x1x2xf32>
  %inner = tosa.conv2d %q, %w_inner, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2x2xf32> loc("inner")
  %a_wide = tpc.quantize %x as "wide" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 16>) : tensor<1x3x2x2xf32>
  %y_wide = tosa.abs %a_wide : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32> loc("abs_wide")
  %a_unsigned = tpc.quantize %x as "unsigned" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, is_signed = false>) : tensor<1x3x2x2xf32>
  %y_unsigned = tosa.abs %a_unsigned : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32> loc("abs_unsigned")
  %a_free = tpc.quantize %x as "free" activation parameters(#tpc.symmetric<threshold = [3.0], bits = 8>) : tensor<1x3x2x2xf32>
  %y_free = tosa.abs %a_free : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32> loc("abs_free")
  %a_range = tpc.quantize %x as "range" activation parameters(#tpc.uniform<scale = [0.03125], zero_point = [100], bits = 8>) : tensor<1x3x2x2xf32>
  %y_range = tosa.abs %a_range : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32> loc("abs_range")
  %e = tpc.quantize %q as "empty" activation : tensor<1x3x2x2xf32>
  %kc = "tosa.const"() <{values = dense<[[[[1.625, 0.5]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %kq = tpc.quantize %kc as "offset" weight "pos_attr" axes [3] parameters(#tpc.symmetric<threshold = [0.75, 1.25], bits = 8>) : tensor<1x1x1x2xf32>
  %off = tosa.add %e, %kq : (tensor<1x3x2x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x3x2x2xf32> loc("add")
  return %pot, %symmetric, %tensor, %table, %pot_table, %uniform, %inner, %y_wide, %y_unsigned, %y_free, %y_range, %off : tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>
}
