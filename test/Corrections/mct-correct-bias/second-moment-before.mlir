// What mct-correct-second-moment did has the right means already, as far as input-mean can tell.
// RUN: mct-opt %s --mct-correct-bias="estimate=input-mean remarks=true" --verify-diagnostics
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) corrections(#tpc.corrections<applied = ["second_moment"], bias_offset = [0.5], kernel_scale = [1.0]>) : tensor<1x1x1x2xf32>
  // expected-remark@+1 {{is not corrected: its mean was corrected together with its deviation}}
  %0 = tosa.conv2d %arg0, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
