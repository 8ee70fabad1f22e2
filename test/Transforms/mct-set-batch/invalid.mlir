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

func.func @part_of_the_batch(%arg0: tensor<2x3xf32>) -> tensor<1x3xf32> {
  %start = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[1, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @below {{'tosa.slice' op cannot follow the batch: the op takes a part of it}}
  %0 = tosa.slice %arg0, %start, %size : (tensor<2x3xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}

// -----

func.func @constant_factor(%arg0: tensor<2x3x4xf32>) -> tensor<2x3x5xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = "tosa.const"() <{values = dense<1.0> : tensor<2x4x5xf32>}> : () -> tensor<2x4x5xf32>
  // expected-error @below {{'tosa.matmul' op cannot follow the batch: the other operand does not depend on the arguments}}
  %0 = tosa.matmul %arg0, %w, %zero, %zero : (tensor<2x3x4xf32>, tensor<2x4x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
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
