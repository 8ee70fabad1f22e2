// RUN: mct-opt %s --split-input-file --mct-quantize-apply | FileCheck %s

// A quantizer of the kernel and one of the activation, none of the output: the config of a dense layer as it stands in
// the documentation of TensorFlow Model Optimization. What it was made of does not matter here.
// CHECK-LABEL: func.func @dense
// CHECK:         %[[W:.*]] = tpc.quantize %{{.*}} as "dense" weight "kernel_attr" trainable(#tpc.observed_range<observer = last_value, bits = 8>)
// CHECK-NEXT:    %[[DENSE:.*]] = tosa.matmul %{{.*}}, %[[W]]
// CHECK-NEXT:    %[[RELU:.*]] = tosa.clamp %[[DENSE]]
// CHECK-NEXT:    %[[Q:.*]] = tpc.quantize %[[RELU]] as "relu" activation trainable(#tpc.observed_range<observer = moving_average, bits = 8, decay = 5.000000e-01>)
// CHECK-NEXT:    return %[[Q]]
func.func @dense(%x: tensor<1x1x3xf32>) -> tensor<1x1x2xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x3x2xf32>}> : () -> tensor<1x3x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %kernel, %zero, %zero : (tensor<1x1x3xf32>, tensor<1x3x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32> loc("dense")
  %1 = tpc.quantize %0 as "dense" activation config(#tpc.quantize_config<
         weights = {kernel_attr = #tpc.observed_range<observer = last_value, bits = 8>},
         activations = [#tpc.observed_range<observer = moving_average, bits = 8, decay = 0.5>], outputs = [],
         name = "my_module.MyDenseQuantizeConfig", config = {}>) : tensor<1x1x2xf32>
  %2 = tosa.clamp %1 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32> loc("relu")
  return %2 : tensor<1x1x2xf32>
}

// -----

// Channels of a kernel, a bias, a quantizer that stays, and one of the program around the compiler. The activation and
// the output are one value here, quantized by both.
// CHECK-LABEL: func.func @convolution
// CHECK:         %[[BIAS:.*]] = tpc.quantize %{{.*}} as "conv" weight "bias_attr" parameters(#tpc.symmetric<threshold = [2.000000e+00], bits = 16>)
// CHECK-NEXT:    %[[W:.*]] = tpc.quantize %{{.*}} as "conv" weight "kernel_attr" axes [0] trainable(#tpc.observed_range<observer = last_value, bits = 4>)
// CHECK-NEXT:    %[[CONV:.*]] = tosa.conv2d %{{.*}}, %[[W]], %[[BIAS]]
// CHECK-NEXT:    %[[Q:.*]] = tpc.quantize %[[CONV]] as "conv" activation trainable(#tpc.observed_range<observer = moving_average, bits = 8>)
// CHECK-NEXT:    %[[OUT:.*]] = tpc.quantize %[[Q]] as "conv_output" activation trainable(#tpc.host_quantizer<name = "mine.Rounded", config = {}>)
// CHECK-NEXT:    return %[[OUT]]
func.func @convolution(%x: tensor<1x4x4x3xf32>) -> tensor<1x4x4x2xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x3xf32>}> : () -> tensor<2x1x1x3xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, tensor<2x1x1x3xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("conv")
  %1 = tpc.quantize %0 as "conv" activation config(#tpc.quantize_config<
         weights = {kernel_attr = #tpc.observed_range<observer = last_value, bits = 4>, bias_attr = #tpc.symmetric<threshold = [2.0], bits = 16>},
         per_channel = ["kernel_attr"], outputs = [#tpc.host_quantizer<name = "mine.Rounded", config = {}>]>) : tensor<1x4x4x2xf32>
  return %1 : tensor<1x4x4x2xf32>
}

// -----

// Nothing, and a constant operand of what the scheme does not know.
// CHECK-LABEL: func.func @nothing
// CHECK:         %[[X:.*]] = tpc.quantize %{{.*}} as "arg0" activation
// CHECK:         %[[SUM:.*]] = tosa.add %[[X]], %[[X]]
// CHECK-NEXT:    %[[C:.*]] = tpc.quantize %{{.*}} as "product" weight "pos_attr" trainable(#tpc.observed_range<observer = last_value, bits = 8>)
// CHECK-NEXT:    %[[PRODUCT:.*]] = tosa.mul %[[SUM]], %[[C]]
// CHECK-NEXT:    return %[[PRODUCT]]
func.func @nothing(%arg0: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %factors = "tosa.const"() <{values = dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
  %0 = tosa.add %arg0, %arg0 : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("sum")
  %1 = tpc.quantize %0 as "sum" activation config(#tpc.quantize_config<weights = {}, activations = [], outputs = []>) : tensor<1x3xf32>
  %2 = tosa.mul %1, %factors, %shift : (tensor<1x3xf32>, tensor<1x3xf32>, tensor<1xi8>) -> tensor<1x3xf32> loc("product")
  %3 = tpc.quantize %2 as "product" activation config(#tpc.quantize_config<weights = {pos_attr = #tpc.observed_range<observer = last_value, bits = 8>}>) : tensor<1x3xf32>
  return %3 : tensor<1x3xf32>
}

// -----

// A ReLU that says something itself speaks for the layer in front of it, whose kernel keeps its quantizer; of an
// activation function alone what it reads is quantized, where it is computed from codes.
// CHECK-LABEL: func.func @functions
// CHECK:         tpc.quantize %{{.*}} as "layer" weight "kernel_attr"
// CHECK-NEXT:    %[[LAYER:.*]] = tosa.matmul
// CHECK-NEXT:    %[[RELU:.*]] = tosa.clamp %[[LAYER]]
// CHECK-NEXT:    %[[Q:.*]] = tpc.quantize %[[RELU]] as "relu" activation trainable(#tpc.observed_range<observer = all_values, bits = 4>)
// CHECK-NEXT:    %[[IN:.*]] = tpc.quantize %[[Q]] as "sigmoid_input" activation trainable(#tpc.observed_range<observer = last_value, bits = 8>)
// CHECK-NEXT:    %[[OUT:.*]] = tosa.sigmoid %[[IN]]
// CHECK-NEXT:    return %[[OUT]], %[[Q]]
func.func @functions(%x: tensor<1x1x3xf32>) -> (tensor<1x1x2xf32>, tensor<1x1x2xf32>) {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x3x2xf32>}> : () -> tensor<1x3x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %kernel, %zero, %zero : (tensor<1x1x3xf32>, tensor<1x3x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32> loc("layer")
  %1 = tpc.quantize %0 as "layer" activation config(#tpc.quantize_config<>) : tensor<1x1x2xf32>
  %2 = tosa.clamp %1 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32> loc("relu")
  %3 = tpc.quantize %2 as "relu" activation config(#tpc.quantize_config<outputs = [#tpc.observed_range<observer = all_values, bits = 4>]>) : tensor<1x1x2xf32>
  %4 = tosa.sigmoid %3 : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32> loc("sigmoid")
  %5 = tpc.quantize %4 as "sigmoid" activation config(#tpc.quantize_config<activations = [#tpc.observed_range<observer = last_value, bits = 8>]>) : tensor<1x1x2xf32>
  return %5, %3 : tensor<1x1x2xf32>, tensor<1x1x2xf32>
}
