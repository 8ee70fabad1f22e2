// RUN: mct-opt %s --mct-raise-linalg=remarks=true --split-input-file --verify-diagnostics

#id = affine_map<(i) -> (i)>
func.func @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %c = arith.cmpf one, %in, %zero : f32
    // expected-error @+2 {{'cf.assert' op may not hold: 'unimplemented: tensor with zero element'}}
    // expected-note @+1 {{a network cannot stop at a sample; remove the assertion, or what makes it necessary}}
    cf.assert %c, "unimplemented: tensor with zero element"
    %d = arith.divf %one, %in : f32
    linalg.yield %d : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @outside(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // expected-error @+2 {{'cf.assert' op may not hold: 'the caller says so'}}
  // expected-note @+1 {{a network cannot stop at a sample; remove the assertion, or what makes it necessary}}
  cf.assert %c, "the caller says so"
  return %x : tensor<4xf32>
}

// -----

// A convolution along three axes.
func.func @layer(%x: tensor<1x4x4x4x2xf32>, %k: tensor<2x2x2x2x3xf32>, %o: tensor<1x3x3x3x3xf32>) -> tensor<1x3x3x3x3xf32> {
  // expected-warning @+2 {{'linalg.conv_3d_ndhwc_dhwcf' op is not raised to TOSA: it is not a convolution along one or two axes of known sizes}}
  // expected-note @+1 {{targets say how layers of TOSA are quantized; this one is in no operator set of theirs unless they name the op}}
  %0 = linalg.conv_3d_ndhwc_dhwcf ins(%x, %k : tensor<1x4x4x4x2xf32>, tensor<2x2x2x2x3xf32>) outs(%o : tensor<1x3x3x3x3xf32>) -> tensor<1x3x3x3x3xf32>
  return %0 : tensor<1x3x3x3x3xf32>
}

// -----

func.func @diagonal(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-remark @+1 {{'linalg.generic' op is not raised to TOSA: it has a form that TOSA has no ops for}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
         ins(%x : tensor<4x4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+2 {{'func.func' op is on buffers ('memref'), not on tensors}}
// expected-note @+1 {{take the network from in front of 'one-shot-bufferize'; torch-mlir's output type LINALG_ON_TENSORS is that}}
func.func @bufferized(%x: memref<4xf32>) {
  return
}

// -----

func.func @buffers_inside(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+2 {{'bufferization.to_buffer' op is on buffers ('memref'), not on tensors}}
  // expected-note @+1 {{take the network from in front of 'one-shot-bufferize'; torch-mlir's output type LINALG_ON_TENSORS is that}}
  %m = bufferization.to_buffer %x : tensor<4xf32> to memref<4xf32>
  %t = bufferization.to_tensor %m : memref<4xf32> to tensor<4xf32>
  return %t : tensor<4xf32>
}
