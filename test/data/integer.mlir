// A convolution, its sum with what it reads, on two grids, and a clamp; with what our attributes say of it.
func.func @main(%x: tensor<1x4x4x2xi8> {tpc.quantized = {name = "x", scale = 0.5 : f64, zero_point = 3 : i64, bits = 8 : i64}})
    -> (tensor<1x4x4x2xi8> {tpc.quantized = {name = "clamp", scale = 0.5 : f64, zero_point = 0 : i64, bits = 8 : i64}})
    attributes {tpc.points = [{name = "clamp", scale = 0.5 : f64, zero_point = 0 : i64, bits = 8 : i64}]} {
  %kernel = "tosa.const"() <{values = dense<[[[[12, -7]]], [[[-128, 99]]]]> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
  %bias = "tosa.const"() <{values = dense<[100, -5000]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %three = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero8 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero32 = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %m2 = "tosa.const"() <{values = dense<[1073741824, 1518500250]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %s2 = "tosa.const"() <{values = dense<[36, 39]> : tensor<2xi8>}> : () -> tensor<2xi8>
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s30 = "tosa.const"() <{values = dense<30> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s29 = "tosa.const"() <{values = dense<29> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s31 = "tosa.const"() <{values = dense<31> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.conv2d %x, %kernel, %bias, %three, %zero8 {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x4x4x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x4x2xi32>
  %1 = tosa.rescale %0, %m2, %s2, %zero32, %zero8 {scale32 = true, rounding_mode = SINGLE_ROUND, input_unsigned = false, output_unsigned = false, per_channel = true} : (tensor<1x4x4x2xi32>, tensor<2xi32>, tensor<2xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x4x4x2xi8>
  %2 = tosa.rescale %1, %m, %s29, %zero8, %zero32 {scale32 = true, rounding_mode = SINGLE_ROUND, input_unsigned = false, output_unsigned = false, per_channel = false} : (tensor<1x4x4x2xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<1x4x4x2xi32>
  %3 = tosa.rescale %x, %m, %s30, %three, %zero32 {scale32 = true, rounding_mode = SINGLE_ROUND, input_unsigned = false, output_unsigned = false, per_channel = false} : (tensor<1x4x4x2xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<1x4x4x2xi32>
  %4 = tosa.add %2, %3 : (tensor<1x4x4x2xi32>, tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32>
  %5 = tosa.rescale %4, %m, %s31, %zero32, %zero8 {scale32 = true, rounding_mode = SINGLE_ROUND, input_unsigned = false, output_unsigned = false, per_channel = false} : (tensor<1x4x4x2xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x4x4x2xi8>
  %6 = tosa.clamp %5 {min_val = -100 : i8, max_val = 90 : i8} : (tensor<1x4x4x2xi8>) -> tensor<1x4x4x2xi8> loc("clamp")
  return %6 : tensor<1x4x4x2xi8>
}
