// RUN: mct-opt %s --split-input-file --verify-diagnostics

// S5
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{has a selection, but no parameters}}
  tpc.quantize %x as "a" activation selection(#tpc.selection<error_method = mse, error = [0.0]>) : tensor<2x4xf32>
  return
}

// -----

// S5
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{has a selection with 3 errors for 2 parameters}}
  tpc.quantize %x as "a" weight "k" axes [0] parameters(#tpc.symmetric<threshold = [1.0, 2.0], bits = 8>) selection(#tpc.selection<error_method = mse, error = [0.0, 1.0, 2.0]>) : tensor<2x4xf32>
  return
}

// -----

// S1
// expected-error@+1 {{'error' must not be negative, but got -1.0}}
func.func private @f() attributes {a = #tpc.selection<error_method = mse, error = [0.5, -1.0]>}

// -----

// S1
// expected-error@+1 {{'error' must not be negative, but got nan}}
func.func private @f() attributes {a = #tpc.selection<error_method = mse, error = [0x7FF8000000000000]>}

// -----

// S2
// expected-error@+1 {{has the certificate bound and no bound}}
func.func private @f() attributes {a = #tpc.selection<error_method = mse, error = [0.5], certificate = bound>}

// -----

// S2
// expected-error@+1 {{has the certificate none and a bound}}
func.func private @f() attributes {a = #tpc.selection<error_method = mse, error = [0.5], bound = 0.5>}

// -----

// S2
// expected-error@+1 {{'bound' must be positive and finite, but got 0.0}}
func.func private @f() attributes {a = #tpc.selection<error_method = mse, error = [0.5], certificate = bound, bound = 0.0>}

// -----

// S3
// expected-error@+1 {{'norm' must be given for 'lp' and for nothing else, but the error method is 'lp'}}
func.func private @f() attributes {a = #tpc.selection<error_method = lp, error = [0.5]>}

// -----

// S3
// expected-error@+1 {{'norm' must be given for 'lp' and for nothing else, but the error method is 'mae'}}
func.func private @f() attributes {a = #tpc.selection<error_method = mae, norm = 2.0, error = [0.5]>}

// -----

// S3
// expected-error@+1 {{'percentile' must be given for 'percentile' and for nothing else, but the error method is 'percentile'}}
func.func private @f() attributes {a = #tpc.selection<error_method = percentile, error = [0.5]>}

// -----

// S3
// expected-error@+1 {{'covers' must be given for 'range' and for nothing else, but the error method is 'mse'}}
func.func private @f() attributes {a = #tpc.selection<error_method = mse, covers = [0.0, 1.0], error = [0.5]>}

// -----

// S3
// expected-error@+1 {{'covers' must be two numbers, but got 1}}
func.func private @f() attributes {a = #tpc.selection<error_method = range, covers = [0.0]>}

// -----

// S3
// expected-error@+1 {{what it covers is empty: 1.0}}
func.func private @f() attributes {a = #tpc.selection<error_method = range, covers = [1.0, 0.0]>}

// -----

// S4
// expected-error@+1 {{has an error, but the error method is 'range'}}
func.func private @f() attributes {a = #tpc.selection<error_method = range, covers = [0.0, 1.0], error = [0.5]>}

// -----

// S4
// expected-error@+1 {{has no error, but the error method is 'kl'}}
func.func private @f() attributes {a = #tpc.selection<error_method = kl>}

// -----

// S4
// expected-error@+1 {{has an error, but the error method is 'imported'}}
func.func private @f() attributes {a = #tpc.selection<error_method = imported, error = [0.5]>}
