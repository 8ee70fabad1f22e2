// SPDX-License-Identifier: Apache-2.0
//
// What the ops of TOSA 1.0 look like to a quantizer. Ranges are promises: a result outside of one cannot occur.

tpc.framework @tosa [
  #tpc.op_info<"tosa.conv2d", kernel = 1, bias = 2, out_axes = [0], in_axis = 3, result_axis = -1>,
  // The kernel is [KH, KW, C, M]: its output channels run over C and M.
  #tpc.op_info<"tosa.depthwise_conv2d", kernel = 1, bias = 2, out_axes = [2, 3], in_axis = 2, result_axis = -1>,
  #tpc.op_info<"tosa.transpose_conv2d", kernel = 1, bias = 2, out_axes = [0], in_axis = 3, result_axis = -1>,
  #tpc.op_info<"tosa.matmul", kernel = 1, out_axes = [2], in_axis = 1, result_axis = -1>,
  #tpc.op_info<"tosa.sigmoid", range = [0.0, 1.0]>,
  #tpc.op_info<"tosa.tanh", range = [-1.0, 1.0]>,
  #tpc.op_info<"subgraph:fully_connected", result_axis = -1>,
  #tpc.op_info<"subgraph:batch_norm", result_axis = -1>,
  #tpc.op_info<"subgraph:softmax", range = [0.0, 1.0]>,
  // The minimum of x * sigmoid(x) is -0.27846, that of x * relu6(x + 3) / 6 is -0.375.
  #tpc.op_info<"subgraph:swish", range = [-0.279, ?]>,
  // Indices, truth values and bits are not numbers on a grid.
  #tpc.op_info<"tosa.argmax", quantize = false>,
  #tpc.op_info<"tosa.equal", quantize = false>,
  #tpc.op_info<"tosa.greater", quantize = false>,
  #tpc.op_info<"tosa.greater_equal", quantize = false>,
  #tpc.op_info<"tosa.logical_and", quantize = false>,
  #tpc.op_info<"tosa.logical_or", quantize = false>,
  #tpc.op_info<"tosa.logical_xor", quantize = false>,
  #tpc.op_info<"tosa.logical_not", quantize = false>,
  #tpc.op_info<"tosa.bitwise_and", quantize = false>,
  #tpc.op_info<"tosa.bitwise_or", quantize = false>,
  #tpc.op_info<"tosa.bitwise_xor", quantize = false>,
  #tpc.op_info<"tosa.bitwise_not", quantize = false>
]
