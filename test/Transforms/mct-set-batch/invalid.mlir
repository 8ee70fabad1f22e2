// RUN: mct-opt %s --mct-set-batch=size=8 --split-input-file --verify-diagnostics

func.func @reduction(%arg0: tensor<2x3xf32>) -> tensor<1x3xf32> {
  // expected-error @below {{'tosa.reduce_sum' op cannot follow the batch: the op works along it}}
  %0 = tosa.reduce_sum %arg0 {axis = 0 : i32} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}

// -----

func.func @unknown_op(%arg0: tensor<1x3xf32>) -> tensor<1x3xf32> {
  // expected-error @below {{'math.sqrt' op cannot follow the batch: the op is unknown}}
  %0 = math.sqrt %arg0 : tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}

// -----

func.func @one_value_per_sample(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = "tosa.const"() <{values = dense<[[1.0], [2.0]]> : tensor<2x1xf32>}> : () -> tensor<2x1xf32>
  // expected-error @below {{'tosa.add' op cannot follow the batch: an operand that does not depend on the arguments has a size other than 1 along it}}
  %0 = tosa.add %arg0, %c : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @different_dimensions(%arg0: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0 = tosa.transpose %arg0 {perms = array<i32: 1, 0>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  // expected-error @below {{'tosa.add' op cannot follow the batch: it lies in different dimensions of the operands}}
  %1 = tosa.add %arg0, %0 : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return %1 : tensor<3x3xf32>
}

// -----

func.func @inner_dimension(%arg0: tensor<2x3xf32>) -> tensor<6xf32> {
  %shape = tosa.const_shape {values = dense<6> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.transpose %arg0 {perms = array<i32: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // expected-error @below {{'tosa.reshape' op cannot follow the batch: it is not the outermost dimension in memory}}
  %1 = tosa.reshape %0, %shape : (tensor<3x2xf32>, !tosa.shape<1>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// -----

func.func @no_dimension_left(%arg0: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %shape = tosa.const_shape {values = dense<[3, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.reshape' op cannot follow the batch: no leading dimension of the result can carry it}}
  %0 = tosa.reshape %arg0, %shape : (tensor<2x3xf32>, !tosa.shape<2>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

func.func @half_a_row_per_sample(%arg0: tensor<?x1x4x2xf32>) -> tensor<?x4x4xf32> {
  %shape = tosa.const_shape {values = dense<[-1, 4, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  // expected-error @below {{'tosa.reshape' op cannot follow the batch: no leading dimension of the result can carry it}}
  %0 = tosa.reshape %arg0, %shape : (tensor<?x1x4x2xf32>, !tosa.shape<3>) -> tensor<?x4x4xf32>
  return %0 : tensor<?x4x4xf32>
}

// -----

func.func @part_of_the_batch(%arg0: tensor<2x3xf32>) -> tensor<1x3xf32> {
  %start = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[1, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.slice' op cannot follow the batch: the op takes a part of it}}
  %0 = tosa.slice %arg0, %start, %size : (tensor<2x3xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}

// -----

func.func @constant_factor_per_sample(%arg0: tensor<2x3x1xf32>) -> tensor<2x3x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = "tosa.const"() <{values = dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>}> : () -> tensor<2x1x1xf32>
  // expected-error @below {{'tosa.matmul' op cannot follow the batch: the other operand does not depend on the arguments}}
  %0 = tosa.matmul %arg0, %w, %zero, %zero : (tensor<2x3x1xf32>, tensor<2x1x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3x1xf32>
  return %0 : tensor<2x3x1xf32>
}

// -----

// expected-error @below {{'func.func' op has no batch: the leading dimensions of its arguments differ}}
func.func @different_batches(%arg0: tensor<1x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<1x3xf32> {
  return %arg0 : tensor<1x3xf32>
}

// -----

// expected-error @below {{'func.func' op has no batch: argument 0 is not a tensor with a leading dimension}}
func.func @scalar(%arg0: tensor<f32>) -> tensor<f32> {
  return %arg0 : tensor<f32>
}

// -----

func.func @table_per_sample(%arg0: tensor<2x3xi32>) -> tensor<2x3x1xf32> {
  %table = "tosa.const"() <{values = dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>}> : () -> tensor<2x1x1xf32>
  // expected-error @below {{'tosa.gather' op cannot follow the batch: the table has a size other than 1 along it}}
  %0 = tosa.gather %table, %arg0 : (tensor<2x1x1xf32>, tensor<2x3xi32>) -> tensor<2x3x1xf32>
  return %0 : tensor<2x3x1xf32>
}

// -----

func.func @indices_per_sample(%arg0: tensor<2x3x1xf32>) -> tensor<2x1x1xf32> {
  %indices = "tosa.const"() <{values = dense<[[0], [1]]> : tensor<2x1xi32>}> : () -> tensor<2x1xi32>
  // expected-error @below {{'tosa.gather' op cannot follow the batch: it is not the leading dimension of all operands}}
  %0 = tosa.gather %arg0, %indices : (tensor<2x3x1xf32>, tensor<2x1xi32>) -> tensor<2x1x1xf32>
  return %0 : tensor<2x1x1xf32>
}

// -----

func.func @scattered_per_sample(%arg0: tensor<2x3x1xf32>) -> tensor<2x3x1xf32> {
  %indices = "tosa.const"() <{values = dense<[[0], [1]]> : tensor<2x1xi32>}> : () -> tensor<2x1xi32>
  %new = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1xf32>}> : () -> tensor<2x1x1xf32>
  // expected-error @below {{'tosa.scatter' op cannot follow the batch: it is not the leading dimension of all operands}}
  %0 = tosa.scatter %arg0, %indices, %new : (tensor<2x3x1xf32>, tensor<2x1xi32>, tensor<2x1x1xf32>) -> tensor<2x3x1xf32>
  return %0 : tensor<2x3x1xf32>
}

// -----

func.func @token_per_sample(%arg0: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %token = "tosa.const"() <{values = dense<[[1.0], [2.0]]> : tensor<2x1xf32>}> : () -> tensor<2x1xf32>
  // expected-error @below {{'tosa.concat' op cannot follow the batch: not every operand has it in the same dimension}}
  %0 = tosa.concat %token, %arg0 {axis = 1 : i32} : (tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @samples_side_by_side(%arg0: tensor<2x3xf32>) -> tensor<4x3xf32> {
  // expected-error @below {{'tosa.concat' op cannot follow the batch: the op works along it}}
  %0 = tosa.concat %arg0, %arg0 {axis = 0 : i32} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

func.func @padded_batch(%arg0: tensor<2x3xf32>) -> tensor<3x3xf32> {
  %pads = tosa.const_shape {values = dense<[1, 0, 0, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %value = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-error @below {{'tosa.pad' op cannot follow the batch: the op pads it}}
  %0 = tosa.pad %arg0, %pads, %value : (tensor<2x3xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// -----

func.func @repeated_batch(%arg0: tensor<2x3xf32>) -> tensor<4x3xf32> {
  %twice = tosa.const_shape {values = dense<[2, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.tile' op cannot follow the batch: the op repeats it}}
  %0 = tosa.tile %arg0, %twice : (tensor<2x3xf32>, !tosa.shape<2>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

func.func @different_samples_multiplied(%arg0: tensor<2x2x2xf32>) -> tensor<2x2x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.transpose %arg0 {perms = array<i32: 1, 0, 2>} : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  // expected-error @below {{'tosa.matmul' op cannot follow the batch: it is not the leading dimension of both operands}}
  %1 = tosa.matmul %arg0, %0, %zero, %zero : (tensor<2x2x2xf32>, tensor<2x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x2x2xf32>
  return %1 : tensor<2x2x2xf32>
}

// -----

func.func @convolution_over_samples(%arg0: tensor<2x1x1x1xf32>) -> tensor<1x2x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.transpose %arg0 {perms = array<i32: 1, 0, 2, 3>} : (tensor<2x1x1x1xf32>) -> tensor<1x2x1x1xf32>
  // expected-error @below {{'tosa.conv2d' op cannot follow the batch: it is not the leading dimension}}
  %1 = tosa.conv2d %0, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x1x1xf32>
  return %1 : tensor<1x2x1x1xf32>
}

// -----

func.func @kernel_from_arguments(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-error @below {{'tosa.conv2d' op cannot follow the batch: the weights depend on the arguments}}
  %0 = tosa.conv2d %arg0, %arg0, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
