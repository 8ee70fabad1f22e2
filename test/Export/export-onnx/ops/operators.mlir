// RUN: mct-translate --export-onnx --onnx-profile=mct_quantizers --onnx-format=text %s | FileCheck %s

// CHECK: main (float[1,4,3,2] arg0) => (float[1,4,3,2] hard_swish, float[1,4,3,2] hard_sigmoid, float[1,4,3,2] hard_sigmoid_of_keras, float[1,4,3,2] leaky, float[1,4,3,2] relu, float[1,4,3,2] relu6, float[1,4,3,2] relu1, float[1,4,3,2] gelu, float[1,4,3,2] gelu_by_tanh, float[1,4,3,2] swish, float[1,4,3,2] softmax, float[1,4,3,2] div, float[1,4] global_average, float[1,1,3,2] mean, float[1,3,2,4] norm)
// CHECK: {{^[{]$}}
// CHECK-NEXT: [max_pool2d] max_pool2d = MaxPool <kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0]> (arg0)
// CHECK-NEXT: [hard_swish] hard_swish = HardSwish (max_pool2d)
// CHECK-NEXT: [hard_sigmoid] hard_sigmoid = HardSigmoid <alpha = 0.166666672, beta = 0.5> (max_pool2d)
// CHECK-NEXT: [hard_sigmoid_of_keras] hard_sigmoid_of_keras = HardSigmoid <alpha = 0.200000003, beta = 0.5> (max_pool2d)
// CHECK-NEXT: [leaky] leaky = LeakyRelu <alpha = 0.125> (max_pool2d)
// CHECK-NEXT: [relu] relu = Relu (max_pool2d)
// CHECK-NEXT: [relu6] relu6 = Clip (max_pool2d, relu6/min, relu6/max)
// CHECK-NEXT: [relu1] relu1 = Clip (max_pool2d, relu1/min, relu1/max)
// CHECK-NEXT: [gelu] gelu = Gelu <approximate = "none"> (max_pool2d)
// CHECK-NEXT: [gelu_by_tanh] gelu_by_tanh = Gelu <approximate = "tanh"> (max_pool2d)
// CHECK-NEXT: [sigmoid] sigmoid = Sigmoid (max_pool2d)
// CHECK-NEXT: [swish] swish = Mul (max_pool2d, sigmoid)
// CHECK-NEXT: [softmax] softmax = Softmax <axis = 1> (max_pool2d)
// CHECK-NEXT: [exp] exp = Exp (max_pool2d)
// CHECK-NEXT: [div] div = Div (max_pool2d, exp)
// CHECK-NEXT: [global_average/mean] global_average/mean = GlobalAveragePool (max_pool2d)
// CHECK-NEXT: [global_average] global_average = Reshape (global_average/mean, global_average/shape)
// CHECK-NEXT: [mean] mean = ReduceMean (max_pool2d, mean/axes)
// CHECK-NEXT: [max_pool2d/transposed] max_pool2d/transposed = Transpose <perm = [0, 2, 3, 1]> (max_pool2d)
// CHECK-NEXT: [norm] norm = LayerNormalization <axis = -1, epsilon = 0.00100000005> (max_pool2d/transposed, norm/scale, norm/offset)
// CHECK-NEXT: {{^[}]$}}
func.func @main(%arg: tensor<1x3x2x4xf32>) -> (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x4xf32>, tensor<1x3x2x1xf32>, tensor<1x3x2x4xf32>) {
  %i8 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %three = "tosa.const"() <{values = dense<3.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %sixth = "tosa.const"() <{values = dense<0.16666666> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %six = "tosa.const"() <{values = dense<6.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %slope = "tosa.const"() <{values = dense<0.125> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %nought = "tosa.const"() <{values = dense<0.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %root = "tosa.const"() <{values = dense<0.70710678> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %c1 = "tosa.const"() <{values = dense<0.044715> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %c2 = "tosa.const"() <{values = dense<0.79788456> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %quarter = "tosa.const"() <{values = dense<0.25> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %eps = "tosa.const"() <{values = dense<0.001> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %n = "tosa.const"() <{values = dense<0.16666666> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %fifth = "tosa.const"() <{values = dense<0.2> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %x = tosa.max_pool2d %arg {kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>
  %a = tosa.add %x, %three : (tensor<1x3x2x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x3x2x4xf32>
  %b = tosa.clamp %a {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>
  %c = tosa.mul %x, %b, %i8 : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32>
  %hswish = tosa.mul %c, %sixth, %i8 : (tensor<1x3x2x4xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32> loc("hard_swish")
  %a1 = tosa.add %x, %three : (tensor<1x3x2x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x3x2x4xf32>
  %b1 = tosa.clamp %a1 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>
  %hsig = tosa.mul %b1, %sixth, %i8 : (tensor<1x3x2x4xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32> loc("hard_sigmoid")
  %k0 = tosa.mul %x, %fifth, %i8 : (tensor<1x3x2x4xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32>
  %k1 = tosa.add %k0, %half : (tensor<1x3x2x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x3x2x4xf32>
  %keras = tosa.clamp %k1 {min_val = 0.0 : f32, max_val = 1.0 : f32} : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> loc("hard_sigmoid_of_keras")
  %l0 = tosa.mul %x, %slope, %i8 : (tensor<1x3x2x4xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32>
  %leaky = tosa.maximum %x, %l0 : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> loc("leaky")
  %relu = tosa.maximum %x, %nought : (tensor<1x3x2x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x3x2x4xf32> loc("relu")
  %m0 = tosa.maximum %x, %nought : (tensor<1x3x2x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x3x2x4xf32>
  %relu6 = tosa.minimum %m0, %six : (tensor<1x3x2x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x3x2x4xf32> loc("relu6")
  %m1 = tosa.maximum %x, %nought : (tensor<1x3x2x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x3x2x4xf32>
  %relu1 = tosa.minimum %m1, %one : (tensor<1x3x2x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x3x2x4xf32> loc("relu1")
  %g0 = tosa.mul %x, %root, %i8 : (tensor<1x3x2x4xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32>
  %g1 = tosa.erf %g0 : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>
  %g2 = tosa.add %g1, %one : (tensor<1x3x2x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x3x2x4xf32>
  %g3 = tosa.mul %x, %half, %i8 : (tensor<1x3x2x4xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32>
  %gelu = tosa.mul %g3, %g2, %i8 : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32> loc("gelu")
  %t0 = tosa.mul %x, %x, %i8 : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32>
  %t1 = tosa.mul %t0, %x, %i8 : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32>
  %t2 = tosa.mul %t1, %c1, %i8 : (tensor<1x3x2x4xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32>
  %t3 = tosa.add %x, %t2 : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>
  %t4 = tosa.mul %t3, %c2, %i8 : (tensor<1x3x2x4xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32>
  %t5 = tosa.tanh %t4 : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>
  %t6 = tosa.add %t5, %one : (tensor<1x3x2x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x3x2x4xf32>
  %t7 = tosa.mul %x, %half, %i8 : (tensor<1x3x2x4xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32>
  %gelut = tosa.mul %t7, %t6, %i8 : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32> loc("gelu_by_tanh")
  %sg = tosa.sigmoid %x : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> loc("sigmoid")
  %swish = tosa.mul %x, %sg, %i8 : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32> loc("swish")
  %s0 = tosa.reduce_max %x {axis = 3 : i32} : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x1xf32>
  %s1 = tosa.sub %x, %s0 : (tensor<1x3x2x4xf32>, tensor<1x3x2x1xf32>) -> tensor<1x3x2x4xf32>
  %s2 = tosa.exp %s1 : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>
  %s3 = tosa.reduce_sum %s2 {axis = 3 : i32} : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x1xf32>
  %s4 = tosa.reciprocal %s3 : (tensor<1x3x2x1xf32>) -> tensor<1x3x2x1xf32>
  %softmax = tosa.mul %s2, %s4, %i8 : (tensor<1x3x2x4xf32>, tensor<1x3x2x1xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32> loc("softmax")
  %d0 = tosa.exp %x : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> loc("exp")
  %d1 = tosa.reciprocal %d0 : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>
  %div = tosa.mul %x, %d1, %i8 : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32> loc("div")
  %v0 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<1x3x2x4xf32>) -> tensor<1x1x2x4xf32>
  %v1 = tosa.reduce_sum %v0 {axis = 2 : i32} : (tensor<1x1x2x4xf32>) -> tensor<1x1x1x4xf32>
  %s14 = tosa.const_shape {values = dense<[1, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %v2 = tosa.reshape %v1, %s14 : (tensor<1x1x1x4xf32>, !tosa.shape<2>) -> tensor<1x4xf32>
  %n2 = "tosa.const"() <{values = dense<0.16666666> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %gavg = tosa.mul %v2, %n2, %i8 : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32> loc("global_average")
  %u0 = tosa.reduce_sum %x {axis = 3 : i32} : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x1xf32>
  %mean = tosa.mul %u0, %quarter, %i8 : (tensor<1x3x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x3x2x1xf32> loc("mean")
  %n0 = tosa.reduce_sum %x {axis = 3 : i32} : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x1xf32>
  %n1 = tosa.mul %n0, %quarter, %i8 : (tensor<1x3x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x3x2x1xf32>
  %n3 = tosa.sub %x, %n1 : (tensor<1x3x2x4xf32>, tensor<1x3x2x1xf32>) -> tensor<1x3x2x4xf32>
  %n4 = tosa.mul %n3, %n3, %i8 : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32>
  %n5 = tosa.reduce_sum %n4 {axis = 3 : i32} : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x1xf32>
  %n6 = tosa.mul %n5, %quarter, %i8 : (tensor<1x3x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x3x2x1xf32>
  %n7 = tosa.add %n6, %eps : (tensor<1x3x2x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x3x2x1xf32>
  %n8 = tosa.rsqrt %n7 : (tensor<1x3x2x1xf32>) -> tensor<1x3x2x1xf32>
  %n9 = tosa.mul %n3, %n8, %i8 : (tensor<1x3x2x4xf32>, tensor<1x3x2x1xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32>
  %gamma = "tosa.const"() <{values = dense<[[[[0.75, 0.5, 0.25, -1.0]]]]> : tensor<1x1x1x4xf32>}> : () -> tensor<1x1x1x4xf32>
  %beta = "tosa.const"() <{values = dense<[[[[0.5, -0.625, 1.125, -1.25]]]]> : tensor<1x1x1x4xf32>}> : () -> tensor<1x1x1x4xf32>
  %n10 = tosa.mul %n9, %gamma, %i8 : (tensor<1x3x2x4xf32>, tensor<1x1x1x4xf32>, tensor<1xi8>) -> tensor<1x3x2x4xf32>
  %norm = tosa.add %n10, %beta : (tensor<1x3x2x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x3x2x4xf32> loc("norm")
  return %hswish, %hsig, %keras, %leaky, %relu, %relu6, %relu1, %gelu, %gelut, %swish, %softmax, %div, %gavg, %mean, %norm : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x4xf32>, tensor<1x3x2x1xf32>, tensor<1x3x2x4xf32>
}
