// Why something has no integer form.
// RUN: mct-opt %s --mct-lower-to-integer --split-input-file --verify-diagnostics

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x3xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tosa.identity %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %kf = "tosa.const"() <{values = dense<0.5> : tensor<3x1x1x2xf32>}> : () -> tensor<3x1x1x2xf32>
  %k = tpc.quantize %kf as "conv" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0, 1.0, 0.5], bits = 8>) : tensor<3x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<0.0> : tensor<3xf32>}> : () -> tensor<3xf32>
  %r = tosa.conv2d %in, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x3xf32>
  // expected-remark @below {{stays float: 'tosa.conv2d' op reads an input that is not quantized}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x3xf32>
  return %out : tensor<1x4x4x3xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x3xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %kf = "tosa.const"() <{values = dense<0.5> : tensor<3x1x1x2xf32>}> : () -> tensor<3x1x1x2xf32>
  %k = tpc.quantize %kf as "conv" weight "kernel_attr" axes [] parameters(#tpc.lookup_table<method = lut_pot_quantizer, threshold = [1.0], table = [0, 3, 5, 255], bits = 2, is_signed = false>) : tensor<3x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<0.0> : tensor<3xf32>}> : () -> tensor<3xf32>
  %r = tosa.conv2d %in, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x3xf32>
  // expected-remark @below {{stays float: 'tosa.conv2d' op has a kernel whose levels are not 8-bit integers}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x3xf32>
  return %out : tensor<1x4x4x3xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x3xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %kf = "tosa.const"() <{values = dense<0.5> : tensor<3x1x1x2xf32>}> : () -> tensor<3x1x1x2xf32>
  %k = tpc.quantize %kf as "conv" weight "kernel_attr" axes [3] parameters(#tpc.power_of_two<threshold = [1.0, 0.5], bits = 8>) : tensor<3x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<0.0> : tensor<3xf32>}> : () -> tensor<3xf32>
  %r = tosa.conv2d %in, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x3xf32>
  // expected-remark @below {{stays float: 'tosa.conv2d' op has a kernel with scales along other axes than its output channels}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x3xf32>
  return %out : tensor<1x4x4x3xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x3xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %kf = "tosa.const"() <{values = dense<0.5> : tensor<3x1x1x2xf32>}> : () -> tensor<3x1x1x2xf32>
  %k = tpc.quantize %kf as "conv" weight "kernel_attr" axes [] parameters(#tpc.uniform<scale = [0.01], zero_point = [3], bits = 8>) : tensor<3x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<0.0> : tensor<3xf32>}> : () -> tensor<3xf32>
  %r = tosa.conv2d %in, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x3xf32>
  // expected-remark @below {{stays float: 'tosa.conv2d' op has a kernel with zero points}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x3xf32>
  return %out : tensor<1x4x4x3xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x3xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %kf = "tosa.const"() <{values = dense<0.5> : tensor<3x1x1x2xf32>}> : () -> tensor<3x1x1x2xf32>
  %k = tpc.quantize %kf as "conv" weight "kernel_attr" axes [] parameters(#tpc.power_of_two<threshold = [1.0], bits = 9>) : tensor<3x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<0.0> : tensor<3xf32>}> : () -> tensor<3xf32>
  %r = tosa.conv2d %in, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x3xf32>
  // expected-remark @below {{stays float: 'tosa.conv2d' op has a kernel with levels beyond 8 signed bits}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x3xf32>
  return %out : tensor<1x4x4x3xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>, %b: tensor<3xf32>) -> tensor<1x4x4x3xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %kf = "tosa.const"() <{values = dense<0.5> : tensor<3x1x1x2xf32>}> : () -> tensor<3x1x1x2xf32>
  %k = tpc.quantize %kf as "conv" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0, 1.0, 0.5], bits = 8>) : tensor<3x1x1x2xf32>
  %r = tosa.conv2d %in, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x3xf32>
  // expected-remark @below {{stays float: 'tosa.conv2d' op has a bias that is not one constant per channel}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x3xf32>
  return %out : tensor<1x4x4x3xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x3xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %kf = "tosa.const"() <{values = dense<0.5> : tensor<3x1x1x2xf32>}> : () -> tensor<3x1x1x2xf32>
  %k = tpc.quantize %kf as "conv" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0, 1.0, 0.5], bits = 8>) : tensor<3x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<1.0e9> : tensor<3xf32>}> : () -> tensor<3xf32>
  %r = tosa.conv2d %in, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x3xf32>
  // expected-remark @below {{stays float: 'tosa.conv2d' op has sums that do not fit into its accumulator}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x3xf32>
  return %out : tensor<1x4x4x3xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %r = tosa.clamp %x {min_val = 0.0 : f32, max_val = 1.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: an argument that it is made of is not quantized}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %r = tosa.sin %in : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: it has more than 8 bits; extensions=int16 allows 16}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 12, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %r = tosa.sin %in : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: its levels are not a grid that integers of 8 or 16 bits store}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.lookup_table<method = lut_pot_quantizer, threshold = [1.0], table = [0, 3, 5, 255], bits = 2, is_signed = false>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}

// -----

func.func @main(%x: tensor<1x3x2xf32>, %y: tensor<1x2x3xf32>) -> tensor<1x3x3xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %a = tpc.quantize %x as "a" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x3x2xf32>
  %r = tosa.matmul %a, %y, %z, %z : (tensor<1x3x2xf32>, tensor<1x2x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3xf32>
  // expected-remark @below {{stays float: 'tosa.matmul' op reads an input that is not quantized}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x3x3xf32>
  return %out : tensor<1x3x3xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %a = tpc.quantize %x as "a" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %r = tosa.add %a, %y : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.add' op reads an input that is not quantized}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %n = "tosa.const"() <{values = dense<[[[[1.0, 1.0e12]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %a = tpc.quantize %x as "a" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %r = tosa.add %a, %n : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.add' op adds a number that is too large for its scale}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %n = "tosa.const"() <{values = dense<[[[[1.0]], [[0.5]], [[0.3]], [[2.0]]]]> : tensor<1x4x1x1xf32>}> : () -> tensor<1x4x1x1xf32>
  %a = tpc.quantize %x as "a" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %r = tosa.mul %a, %n, %s : (tensor<1x4x4x2xf32>, tensor<1x4x1x1xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.mul' op multiplies by numbers that are not quantized}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %a = tpc.quantize %x as "a" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %r = tosa.mul %a, %y, %s : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.mul' op reads an input that is not quantized}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x1x4x2xf32> {
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %n = "tosa.const"() <{values = dense<0x7F800000> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %a = tpc.quantize %x as "a" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %q = tosa.reduce_sum %a {axis = 1 : i32} : (tensor<1x4x4x2xf32>) -> tensor<1x1x4x2xf32>
  %r = tosa.mul %q, %n, %s : (tensor<1x1x4x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.mul' op multiplies by numbers that sums are not scaled with}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x1x4x2xf32>
  return %out : tensor<1x1x4x2xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x1x4x2xf32> {
  %r = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<1x4x4x2xf32>) -> tensor<1x1x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.reduce_sum' op reads an input that is not quantized}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x1x4x2xf32>
  return %out : tensor<1x1x4x2xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x3x3x2xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %r = tosa.avg_pool2d %x, %z, %z {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x2xf32>
  // expected-remark @below {{stays float: 'tosa.avg_pool2d' op reads an input that is not quantized}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x3x3x2xf32>
  return %out : tensor<1x3x3x2xf32>
}

// -----

func.func @main(%x: tensor<1x600xf32>) -> tensor<1x600xf32> {
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %a = tpc.quantize %x as "a" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x600xf32>
  %m = tosa.reduce_max %a {axis = 1 : i32} : (tensor<1x600xf32>) -> tensor<1x1xf32>
  %d = tosa.sub %a, %m : (tensor<1x600xf32>, tensor<1x1xf32>) -> tensor<1x600xf32>
  %e = tosa.exp %d : (tensor<1x600xf32>) -> tensor<1x600xf32>
  %t = tosa.reduce_sum %e {axis = 1 : i32} : (tensor<1x600xf32>) -> tensor<1x1xf32>
  %i = tosa.reciprocal %t : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %r = tosa.mul %e, %i, %s : (tensor<1x600xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x600xf32>
  // expected-remark @below {{stays float: 'tosa.mul' op ends a softmax; softmax=integer lowers it to integers, and softmax=cut removes one at the end}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x600xf32>
  return %out : tensor<1x600xf32>
}

// -----

func.func @main(%x_f: tensor<1x256x2xf32>) -> tensor<1x256x2xf32> {
  %x = tpc.quantize %x_f as "x" activation parameters(#tpc.power_of_two<threshold = [128.0], bits = 8, rounding = half_up>) : tensor<1x256x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %sl = "tosa.const"() <{values = dense<[[[0.1, 0.3]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %p = tosa.greater_equal %x, %z : (tensor<1x256x2xf32>, tensor<1x1x1xf32>) -> tensor<1x256x2xi1>
  %n = tosa.mul %x, %sl, %shift : (tensor<1x256x2xf32>, tensor<1x1x2xf32>, tensor<1xi8>) -> tensor<1x256x2xf32>
  %r = tosa.select %p, %x, %n : (tensor<1x256x2xi1>, tensor<1x256x2xf32>, tensor<1x256x2xf32>) -> tensor<1x256x2xf32>
  // expected-remark @below {{stays float: no rescale makes the codes that its products and sums have in f32; one exists for factors of at most 16 bits}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [128.0], bits = 8, rounding = half_up>) : tensor<1x256x2xf32>
  return %out : tensor<1x256x2xf32>
}

// -----

// What the remark says: nothing stays float.
func.func @main(%x_f: tensor<1x256x2xf32>) -> tensor<1x256x2xf32> {
  %x = tpc.quantize %x_f as "x" activation parameters(#tpc.power_of_two<threshold = [128.0], bits = 8, rounding = half_up>) : tensor<1x256x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %sl = "tosa.const"() <{values = dense<[[[0.100006103515625, 0.29998779296875]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %p = tosa.greater_equal %x, %z : (tensor<1x256x2xf32>, tensor<1x1x1xf32>) -> tensor<1x256x2xi1>
  %n = tosa.mul %x, %sl, %shift : (tensor<1x256x2xf32>, tensor<1x1x2xf32>, tensor<1xi8>) -> tensor<1x256x2xf32>
  %r = tosa.select %p, %x, %n : (tensor<1x256x2xi1>, tensor<1x256x2xf32>, tensor<1x256x2xf32>) -> tensor<1x256x2xf32>
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [128.0], bits = 8, rounding = half_up>) : tensor<1x256x2xf32>
  return %out : tensor<1x256x2xf32>
}
