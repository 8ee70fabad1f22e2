// Statistics of a channel with infinite values say nothing of its range.
// RUN: mct-opt %s --mct-rescale-parts="remarks=true" 2>&1 | FileCheck %s

// CHECK: remark: 'joined' is not rescaled: the ranges of its channels are not known
// CHECK: as "joined" activation statistics
#joined = #tpc.statistics<count = 8, zeros = 0, min = -16.0, max = 64.0,
  channel_mean = dense<0.0> : tensor<3xf64>, channel_mean_square = dense<1.0> : tensor<3xf64>,
  channel_min = dense<[-1.0, 0.0, -16.0]> : tensor<3xf32>, channel_max = dense<[1.0, 64.0, 0x7F800000]> : tensor<3xf32>>
func.func @same_source(%x: tensor<1x1x1xf32>, %y: tensor<1x1x1xf32>) -> tensor<1x1x3xf32> {
  %gain = "tosa.const"() <{values = dense<64.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %back = "tosa.const"() <{values = dense<3.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %gain, %shift : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1xf32>
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %2 = tosa.concat %y, %1, %0 {axis = 2 : i32} : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x3xf32>
  %joined = tpc.quantize %2 as "joined" activation statistics(#joined) : tensor<1x1x3xf32>
  %3 = tosa.mul %joined, %back, %shift : (tensor<1x1x3xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x3xf32>
  return %3 : tensor<1x1x3xf32>
}

