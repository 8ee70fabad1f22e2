// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative --mlir-print-debuginfo --mlir-print-local-scope --mlir-elide-resource-strings-if-larger=64 | FileCheck %s

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
#stats_pool = #tpc.statistics<count = 3649, zeros = 0, min = -0.125, max = 7.0, histogram = #tpc.histogram<step_exponent = -9, first = -64, counts = dense<1> : tensor<3649xi64>>>

// What holds shifted values is another value than the one of that name in the float network. The sum joins the group of
// the swish, the padding that of the convolution that reads it. A name that is taken gets a number.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.mul {{.*}} loc("swish")
// CHECK:         tosa.add {{.*}} loc("swish_shifted"("swish"))
// CHECK:         tpc.quantize {{.*}} as "swish_shifted" {{.*}} group(["before", "swish", "swish_shifted"])
// CHECK:         tosa.avg_pool2d {{.*}} loc("pool_shifted_1"("pool"))
// CHECK:         tpc.quantize {{.*}} as "pool_shifted_1"
// CHECK:         tosa.pad {{.*}} loc("conv_pad"("conv"))
// CHECK:         tosa.conv2d {{.*}} loc("conv")
// CHECK:         tpc.quantize {{.*}} as "pool_shifted" {{.*}} group(["conv_pad", "conv", "pool_shifted"])
func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x5x5x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x3x3x2xf32>}> : () -> tensor<1x3x3x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32> loc("swish")
  %q = tpc.quantize %y as "swish" activation config(#act8) group(["before", "swish"])
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %p = tosa.avg_pool2d %q, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x5x2xf32> loc("pool")
  %r = tpc.quantize %p as "pool" activation config(#act8)
    statistics(#stats_pool) parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x5x5x2xf32>
  %c = tosa.conv2d %r, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x5x5x2xf32>, tensor<1x3x3x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x5x1xf32> loc("conv")
  %z = tosa.clamp %c {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x5x5x1xf32>) -> tensor<1x5x5x1xf32> loc("pool_shifted")
  %o = tpc.quantize %z as "pool_shifted" activation config(#act8) group(["conv", "pool_shifted"]) : tensor<1x5x5x1xf32>
  return %o : tensor<1x5x5x1xf32>
}
