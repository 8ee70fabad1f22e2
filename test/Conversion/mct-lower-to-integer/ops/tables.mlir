// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// Functions of one value: one look-up each, whatever they are made of.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-17: tosa.table {{.*}} : (tensor<1x256xi8>, tensor<256xi8>) -> tensor<1x256xi8>
// CHECK-NEXT: return
func.func @main(%x_float: tensor<1x256xf32>) -> (tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>) {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x256xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %three = "tosa.const"() <{values = dense<3.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %sixth = "tosa.const"() <{values = dense<0.1666666716337204> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %slope = "tosa.const"() <{values = dense<0.125> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %root = "tosa.const"() <{values = dense<0.7071067690849304> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %base = "tosa.const"() <{values = dense<1.5> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %sigmoid_y = tosa.sigmoid %x : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %sigmoid = tpc.quantize %sigmoid_y as "sigmoid" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x256xf32>
  %tanh_y = tosa.tanh %x : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %tanh = tpc.quantize %tanh_y as "tanh" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x256xf32>
  %erf_y = tosa.erf %x : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %erf = tpc.quantize %erf_y as "erf" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x256xf32>
  %exp_y = tosa.exp %x : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %exp = tpc.quantize %exp_y as "exp" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8, rounding = half_up>) : tensor<1x256xf32>
  %abs_y = tosa.abs %x : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %abs = tpc.quantize %abs_y as "abs" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8, rounding = half_up>) : tensor<1x256xf32>
  %ceil_y = tosa.ceil %x : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %ceil = tpc.quantize %ceil_y as "ceil" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8, rounding = half_up>) : tensor<1x256xf32>
  %floor_y = tosa.floor %x : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %floor = tpc.quantize %floor_y as "floor" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8, rounding = half_up>) : tensor<1x256xf32>
  %sin_y = tosa.sin %x : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %sin = tpc.quantize %sin_y as "sin" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x256xf32>
  %cos_y = tosa.cos %x : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %cos = tpc.quantize %cos_y as "cos" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x256xf32>
  %away = tosa.abs %x : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %positive = tosa.add %away, %half : (tensor<1x256xf32>, tensor<1x1xf32>) -> tensor<1x256xf32>
  %log_y = tosa.log %positive : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %log = tpc.quantize %log_y as "log" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x256xf32>
  %rsqrt_y = tosa.rsqrt %positive : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %rsqrt = tpc.quantize %rsqrt_y as "rsqrt" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x256xf32>
  %reciprocal_y = tosa.reciprocal %positive : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %reciprocal = tpc.quantize %reciprocal_y as "reciprocal" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x256xf32>
  %pow_y = tosa.pow %base, %x : (tensor<1x1xf32>, tensor<1x256xf32>) -> tensor<1x256xf32>
  %pow = tpc.quantize %pow_y as "pow" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x256xf32>
  %gate = tosa.sigmoid %x : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %swish_y = tosa.mul %x, %gate, %shift : (tensor<1x256xf32>, tensor<1x256xf32>, tensor<1xi8>) -> tensor<1x256xf32>
  %swish = tpc.quantize %swish_y as "swish" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x256xf32>
  %s3 = tosa.add %x, %three : (tensor<1x256xf32>, tensor<1x1xf32>) -> tensor<1x256xf32>
  %s6 = tosa.clamp %s3 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %h = tosa.mul %x, %s6, %shift : (tensor<1x256xf32>, tensor<1x256xf32>, tensor<1xi8>) -> tensor<1x256xf32>
  %hard_swish_y = tosa.mul %h, %sixth, %shift : (tensor<1x256xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x256xf32>
  %hard_swish = tpc.quantize %hard_swish_y as "hard_swish" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x256xf32>
  %scaled = tosa.mul %x, %slope, %shift : (tensor<1x256xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x256xf32>
  %leaky_y = tosa.maximum %x, %scaled : (tensor<1x256xf32>, tensor<1x256xf32>) -> tensor<1x256xf32>
  %leaky = tpc.quantize %leaky_y as "leaky" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x256xf32>
  %g0 = tosa.mul %x, %root, %shift : (tensor<1x256xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x256xf32>
  %g1 = tosa.erf %g0 : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %g2 = tosa.add %g1, %one : (tensor<1x256xf32>, tensor<1x1xf32>) -> tensor<1x256xf32>
  %g3 = tosa.mul %x, %g2, %shift : (tensor<1x256xf32>, tensor<1x256xf32>, tensor<1xi8>) -> tensor<1x256xf32>
  %gelu_y = tosa.mul %g3, %half, %shift : (tensor<1x256xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x256xf32>
  %gelu = tpc.quantize %gelu_y as "gelu" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x256xf32>
  return %sigmoid, %tanh, %erf, %exp, %abs, %ceil, %floor, %sin, %cos, %log, %rsqrt, %reciprocal, %pow, %swish, %hard_swish, %leaky, %gelu : tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>
}
