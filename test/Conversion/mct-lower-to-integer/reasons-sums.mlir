// Sums, products and comparisons that have no integer form.
// RUN: mct-opt %s --mct-lower-to-integer --split-input-file --verify-diagnostics

func.func @main(%x_float: tensor<1x4x4x2xf32>) -> tensor<1x8x4xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %ky_float = "tosa.const"() <{values = dense<[[[[0.5, -0.25]]], [[[1.0, 0.125]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %ky = tpc.quantize %ky_float as "ky" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0, 0.75], bits = 8>) : tensor<2x1x1x2xf32>
  %by = "tosa.const"() <{values = dense<[0.0, 0.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %y = tosa.conv2d %x, %ky, %by, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %s = tosa.const_shape {values = dense<[1, 8, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %t = tosa.const_shape {values = dense<[1, 4, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %r = tosa.reshape %y, %s : (tensor<1x4x4x2xf32>, !tosa.shape<3>) -> tensor<1x8x4xf32>
  %z = tosa.add %r, %r : (tensor<1x8x4xf32>, tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  // expected-remark @below {{stays float: 'tosa.add' op reads sums that have scales along another axis}}
  %out = tpc.quantize %z as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x8x4xf32>
  return %out : tensor<1x8x4xf32>
}

// -----

func.func @main(%x_float: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %ky_float = "tosa.const"() <{values = dense<[[[[0.5, -0.25]]], [[[1.0, 0.125]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %ky = tpc.quantize %ky_float as "ky" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0, 0.75], bits = 8>) : tensor<2x1x1x2xf32>
  %by = "tosa.const"() <{values = dense<[0.0, 0.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %y = tosa.conv2d %x, %ky, %by, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %r = tosa.reduce_sum %y {axis = 3 : i32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32>
  // expected-remark @below {{stays float: 'tosa.reduce_sum' op reads sums that have scales along another axis}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x1xf32>
  return %out : tensor<1x4x4x1xf32>
}

// -----

func.func @main(%x_float: tensor<1x4x4x2xf32>, %p_float: tensor<1x4x4x1xf32>, %q_float: tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %p = tpc.quantize %p_float as "p" activation parameters(#tpc.power_of_two<threshold = [0.25], bits = 8, rounding = half_up>) : tensor<1x4x4x1xf32>
  %q = tpc.quantize %q_float as "q" activation parameters(#tpc.power_of_two<threshold = [0.25], bits = 8, rounding = half_up>) : tensor<1x4x4x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %ky_float = "tosa.const"() <{values = dense<[[[[0.5, -0.25]]], [[[1.0, 0.125]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %ky = tpc.quantize %ky_float as "ky" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0, 0.7], bits = 8>) : tensor<2x1x1x2xf32>
  %by = "tosa.const"() <{values = dense<[0.0, 0.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %y = tosa.conv2d %x, %ky, %by, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %c = tosa.mul %p, %q, %shift : (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>, tensor<1xi8>) -> tensor<1x4x4x1xf32>
  %r = tosa.add %y, %c : (tensor<1x4x4x2xf32>, tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.add' op reads sums that have scales along another axis}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}

// -----

func.func @main(%x_float: tensor<1x4x4x2xf32>, %p_float: tensor<1x4x4x2xf32>, %q_float: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %p = tpc.quantize %p_float as "p" activation parameters(#tpc.power_of_two<threshold = [1099511627776.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %q = tpc.quantize %q_float as "q" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %c = tosa.mul %x, %q, %shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %r = tosa.add %c, %p : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.add' op has sums that do not fit into 32 bits}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}

// -----

func.func @main(%x_float: tensor<1x4x4x2xf32>, %q_float: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %q = tpc.quantize %q_float as "q" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %n = "tosa.const"() <{values = dense<[[[[1.0, 999999995904.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %c = tosa.mul %x, %q, %shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %r = tosa.add %c, %n : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.add' op adds a number that is too large for its scale}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}

// -----

func.func @main(%x_float: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %ky_float = "tosa.const"() <{values = dense<[[[[0.5, -0.25]]], [[[1.0, 0.125]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %ky = tpc.quantize %ky_float as "ky" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0, 0.75], bits = 8>) : tensor<2x1x1x2xf32>
  %by = "tosa.const"() <{values = dense<[0.0, 0.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %y = tosa.conv2d %x, %ky, %by, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %c = tosa.clamp %y {min_val = -0.1 : f32, max_val = 0.1 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %r = tosa.add %c, %x : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.clamp' op limits sums by numbers that are not on their grid}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}

// -----

func.func @main(%x_float: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %ky_float = "tosa.const"() <{values = dense<[[[[0.5, -0.25]]], [[[1.0, 0.125]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %ky = tpc.quantize %ky_float as "ky" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0, 0.75], bits = 8>) : tensor<2x1x1x2xf32>
  %by = "tosa.const"() <{values = dense<[0.0, 0.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %y = tosa.conv2d %x, %ky, %by, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %c = tosa.reverse %y {axis = 3 : i32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %r = tosa.add %c, %x : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.reverse' op moves sums that have a scale for each channel}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}

// -----

func.func @main(%x_float: tensor<1x4x4x2xf32>, %q_float: tensor<1x4x4x2xf32>, %p_float: tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %q = tpc.quantize %q_float as "q" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %p = tpc.quantize %p_float as "p" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x5x4x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %fill = "tosa.const"() <{values = dense<0.5> : tensor<1xf32>}> : () -> tensor<1xf32>
  %sizes = tosa.const_shape {values = dense<[0, 0, 1, 0, 0, 0, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %c = tosa.mul %x, %q, %shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %w = tosa.pad %c, %sizes, %fill : (tensor<1x4x4x2xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x5x4x2xf32>
  %r = tosa.add %w, %p : (tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.pad' op fills up sums with numbers}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x5x4x2xf32>
  return %out : tensor<1x5x4x2xf32>
}

// -----

func.func @main(%x_float: tensor<1x4x4x2xf32>, %q_float: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %q = tpc.quantize %q_float as "q" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %c = tosa.mul %x, %q, %shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %d = tosa.mul %c, %q, %shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %e = tosa.mul %d, %x, %shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %r = tosa.mul %e, %d, %shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.mul' op has products that do not fit into 32 bits}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}

// -----

func.func @main(%x_float: tensor<1x4x4x2xf32>, %q_float: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %q = tpc.quantize %q_float as "q" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %n = "tosa.const"() <{values = dense<0x7FC00000> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %c = tosa.greater %x, %n : (tensor<1x4x4x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x2xi1>
  %r = tosa.select %c, %x, %q : (tensor<1x4x4x2xi1>, tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.greater' op compares with NaN}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}

// -----

func.func @main(%x_float: tensor<1x4x4x2xf32>, %q_float: tensor<1x4x4x2xf32>, %p: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %q = tpc.quantize %q_float as "q" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %c = tosa.greater %x, %p : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xi1>
  %r = tosa.select %c, %x, %q : (tensor<1x4x4x2xi1>, tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.greater' op compares an input that is not quantized}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}

// -----

func.func @main(%x_float: tensor<1x4x4x2xf32>, %q_float: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %s = tpc.quantize %q_float as "s" activation parameters(#tpc.symmetric<threshold = [0.7], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %q = tpc.quantize %q_float as "q" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %c = tosa.greater %x, %s : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xi1>
  %r = tosa.select %c, %x, %q : (tensor<1x4x4x2xi1>, tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.greater' op compares values on two grids that share no steps}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}

// -----

func.func @main(%x_float: tensor<1x4x4x2xf32>, %q_float: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %q = tpc.quantize %q_float as "q" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %c = tosa.cast %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xi1>
  %r = tosa.select %c, %x, %q : (tensor<1x4x4x2xi1>, tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.cast' op has no integer form}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}

// -----

// A sum of a moved argument that nothing quantizes.
func.func @main(%x_float: tensor<1x4x4x2xf32>) -> tensor<1x8x4xf32> {
  %s = tosa.const_shape {values = dense<[1, 8, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r = tosa.reshape %x_float, %s : (tensor<1x4x4x2xf32>, !tosa.shape<3>) -> tensor<1x8x4xf32>
  %z = tosa.add %r, %r : (tensor<1x8x4xf32>, tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  // expected-remark @below {{stays float: 'tosa.add' op reads an input that is not quantized}}
  %out = tpc.quantize %z as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x8x4xf32>
  return %out : tensor<1x8x4xf32>
}
