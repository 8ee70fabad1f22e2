// SPDX-License-Identifier: Apache-2.0
//
// Operators of several ops that change the shape, for test_layer_inputs.py.

func.func @Stack(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2x2xf32> {
  %s = tosa.const_shape {values = dense<[1, 4, 4, 2, 1]> : tensor<5xindex>} : () -> !tosa.shape<5>
  %a = tosa.reshape %x, %s : (tensor<1x4x4x2xf32>, !tosa.shape<5>) -> tensor<1x4x4x2x1xf32>
  %b = tosa.reshape %x, %s : (tensor<1x4x4x2xf32>, !tosa.shape<5>) -> tensor<1x4x4x2x1xf32>
  %y = tosa.concat %a, %b {axis = 4 : i32} : (tensor<1x4x4x2x1xf32>, tensor<1x4x4x2x1xf32>) -> tensor<1x4x4x2x2xf32>
  return %y : tensor<1x4x4x2x2xf32>
}
func.func @Unstack(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x2xf32> {
  %b = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %e = tosa.const_shape {values = dense<[1, 1, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %a = tosa.slice %x, %b, %e : (tensor<1x4x4x2xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x1x4x2xf32>
  %s = tosa.const_shape {values = dense<[1, 4, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %y = tosa.reshape %a, %s : (tensor<1x1x4x2xf32>, !tosa.shape<3>) -> tensor<1x4x2xf32>
  return %y : tensor<1x4x2xf32>
}
func.func @StridedSlice(%x: tensor<1x4x4x2xf32>) -> tensor<1x2x4x2xf32> {
  %b = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %e = tosa.const_shape {values = dense<[1, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %a = tosa.reverse %x {axis = 1 : i32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.slice %a, %b, %e : (tensor<1x4x4x2xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x2x4x2xf32>
  return %y : tensor<1x2x4x2xf32>
}
func.func @Fold(%x: tensor<1x4x4x2xf32>) -> tensor<4x2x2x2xf32> {
  %s = tosa.const_shape {values = dense<[1, 2, 2, 2, 2, 2]> : tensor<6xindex>} : () -> !tosa.shape<6>
  %a = tosa.reshape %x, %s : (tensor<1x4x4x2xf32>, !tosa.shape<6>) -> tensor<1x2x2x2x2x2xf32>
  %b = tosa.transpose %a {perms = array<i32: 2, 4, 0, 1, 3, 5>} : (tensor<1x2x2x2x2x2xf32>) -> tensor<2x2x1x2x2x2xf32>
  %t = tosa.const_shape {values = dense<[4, 2, 2, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %y = tosa.reshape %b, %t : (tensor<2x2x1x2x2x2xf32>, !tosa.shape<4>) -> tensor<4x2x2x2xf32>
  return %y : tensor<4x2x2x2xf32>
}
func.func @pad_of_a_constant(%x: tensor<1x4x4x2xf32>) -> tensor<1x6x6x2xf32> {
  %c = "tosa.const"() <{values = dense<0.3> : tensor<1xf32>}> : () -> tensor<1xf32>
  %s = tosa.const_shape {values = dense<[0, 0, 1, 1, 1, 1, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %y = tosa.pad %x, %s, %c : (tensor<1x4x4x2xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x6x6x2xf32>
  return %y : tensor<1x6x6x2xf32>
}
func.func @HardSwish(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %three = "tosa.const"() <{values = dense<3.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %sixth = "tosa.const"() <{values = dense<0.16666666666> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %a = tosa.add %x, %three : (tensor<1x4x4x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x2xf32>
  %c = tosa.clamp %a {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %m = tosa.mul %x, %c, %shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %m, %sixth, %shift : (tensor<1x4x4x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  return %y : tensor<1x4x4x2xf32>
}
