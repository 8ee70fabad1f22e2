// RUN: mct-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{has corrections, which belong to a weight}}
  tpc.quantize %x as "a" activation corrections(#tpc.corrections<applied = ["input_mean"], bias_offset = [0.0], kernel_scale = [1.0]>) : tensor<2x4xf32>
  return
}

// -----

// K1
// expected-error@+1 {{'applied' must name at least one correction}}
func.func private @f() attributes {a = #tpc.corrections<applied = [], bias_offset = [0.0], kernel_scale = [1.0]>}

// -----

// K1
// expected-error@+1 {{'equalization' is not a correction; expected second_moment, activation_bias, input_mean, quantized_network or rounded_weights}}
func.func private @f() attributes {a = #tpc.corrections<applied = ["equalization"], bias_offset = [0.0], kernel_scale = [1.0]>}

// -----

// K1
// expected-error@+1 {{'input_mean' is applied twice}}
func.func private @f() attributes {a = #tpc.corrections<applied = ["input_mean", "input_mean"], bias_offset = [0.0], kernel_scale = [1.0]>}

// -----

// K2
// expected-error@+1 {{'bias_offset' must have one number per channel}}
func.func private @f() attributes {a = #tpc.corrections<applied = ["input_mean"], bias_offset = [], kernel_scale = []>}

// -----

// K2
// expected-error@+1 {{'bias_offset' must be finite, but got}}
func.func private @f() attributes {a = #tpc.corrections<applied = ["input_mean"], bias_offset = [0x7FF0000000000000], kernel_scale = [1.0]>}

// -----

// K2
// expected-error@+1 {{'kernel_scale' must be positive and finite, but got 0}}
func.func private @f() attributes {a = #tpc.corrections<applied = ["second_moment"], bias_offset = [0.0], kernel_scale = [0.0]>}

// -----

// K3
// expected-error@+1 {{has 2 kernel scales for 3 bias offsets}}
func.func private @f() attributes {a = #tpc.corrections<applied = ["second_moment"], bias_offset = [0.0, 0.0, 0.0], kernel_scale = [1.0, 2.0]>}

// -----

// K4
// expected-error@+1 {{'samples' must be positive, but got 0}}
func.func private @f() attributes {a = #tpc.corrections<applied = ["second_moment"], bias_offset = [0.0], kernel_scale = [1.0], samples = 0>}

// -----

// K5
// expected-error@+1 {{'kernel' must be there where rounded_weights is applied, and only there}}
func.func private @f() attributes {a = #tpc.corrections<applied = ["rounded_weights"], bias_offset = [0.0], kernel_scale = [1.0]>}

// -----

// K5
// expected-error@+1 {{'kernel' must be there where rounded_weights is applied, and only there}}
func.func private @f() attributes {a = #tpc.corrections<applied = ["input_mean"], bias_offset = [0.0], kernel_scale = [1.0], kernel = dense<1.0> : tensor<1xf32>>}

// -----

// K5
// expected-error@+1 {{'kernel' must be of f32, but got 'tensor<1xi8>'}}
func.func private @f() attributes {a = #tpc.corrections<applied = ["rounded_weights"], bias_offset = [0.0], kernel_scale = [1.0], kernel = dense<1> : tensor<1xi8>>}

// -----

// K5
// expected-error@+1 {{'kernel_scale' must be [1.0] where weights were rounded}}
func.func private @f() attributes {a = #tpc.corrections<applied = ["rounded_weights"], bias_offset = [0.0], kernel_scale = [2.0], kernel = dense<1.0> : tensor<1xf32>>}

// -----

// K5
func.func @f() {
  %k = "tosa.const"() <{values = dense<1.0> : tensor<2x4xf32>}> : () -> tensor<2x4xf32>
  // expected-error@+1 {{has corrections with a float kernel of 'tensor<4x2xf32>', but quantizes 'tensor<2x4xf32>'}}
  tpc.quantize %k as "a" weight "kernel_attr" corrections(#tpc.corrections<applied = ["rounded_weights"], bias_offset = [0.0], kernel_scale = [1.0], kernel = dense<1.0> : tensor<4x2xf32>>) : tensor<2x4xf32>
  return
}
