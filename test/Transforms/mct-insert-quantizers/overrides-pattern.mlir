// Rules by pattern select what a binding would: an operator that is several ops as a whole, and a convolution that is a
// dense layer not as a convolution.
// RUN: split-file %s %t
// RUN: mct-opt %t/net.mlir --tpc-attach-target=target=imx500 --mct-insert-quantizers=overrides=%t/conv.txt | FileCheck %s --check-prefix=CONV
// RUN: mct-opt %t/net.mlir --tpc-attach-target=target=imx500 --mct-insert-quantizers=overrides=%t/dense.txt | FileCheck %s --check-prefix=DENSE

// The target has no set for softmax, and none is needed. The clamp is none of those that the filter means.
// CONV:     tpc.overrides = ["pattern [#tpc.op<\22tosa.conv2d\22>]   weights=4", "?pattern [#tpc.subgraph<\22softmax\22>, #tpc.op<\22tosa.clamp\22 where max_val eq 4.0 : f32>] activation=float"]
// CONV:     as "conv" weight "kernel_attr" axes [0] config(#[[K4:.*]]) : tensor<2x3x3x2xf32>
// CONV:     as "bounded" activation
// CONV:     as "dense" weight "kernel_attr" axes [0] config(#[[K8:.*]]) candidates
// CONV:     as "dense" activation
// CONV-NOT: activation
// CONV:     return

// DENSE-DAG: #[[K8:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
// DENSE-DAG: #[[K2:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 2, per_channel = true, enabled = true>
// DENSE:     as "conv" weight "kernel_attr" axes [0] config(#[[K8]]) candidates
// DENSE-NOT: as "bounded"
// DENSE:     as "dense" weight "kernel_attr" axes [0] config(#[[K2]]) : tensor<2x1x1x2xf32>
// DENSE:     as "shares" activation

// Points that are there are chosen for in the same way.
// RUN: mct-opt %t/net.mlir --tpc-attach-target=target=imx500 --mct-insert-quantizers --mct-choose-candidates=overrides=%t/choose.txt \
// RUN:   | FileCheck %s --check-prefix=CHOSEN
// CHOSEN: as "conv" weight "kernel_attr" axes [0] config(#{{.*}}) candidates({{.*}}chosen = 1>)
// CHOSEN: as "dense" weight "kernel_attr" axes [0] config(#{{.*}}) candidates({{.*}}chosen = 0>)

//--- conv.txt
pattern [#tpc.op<"tosa.conv2d">]   weights=4  # no dense layer
?pattern [#tpc.subgraph<"softmax">, #tpc.op<"tosa.clamp" where max_val eq 4.0 : f32>] activation=float

//--- choose.txt
pattern [#tpc.op<"tosa.conv2d">] weights=4

//--- dense.txt
pattern [#tpc.subgraph<"fully_connected">] weights.kernel_attr=2
pattern [#tpc.op<"tosa.clamp" where min_val eq 0.0 : f32 and max_val eq 6.0 : f32>] activation=float

//--- net.mlir
func.func @main(%arg0: tensor<1x1x1x2xf32> loc("image")) -> tensor<1x2xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %wide = "tosa.const"() <{values = dense<1.0> : tensor<2x3x3x2xf32>}> : () -> tensor<2x3x3x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %conv = tosa.conv2d %arg0, %wide, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<2x3x3x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32> loc("conv")
  %bounded = tosa.clamp %conv {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> loc("bounded")
  %dense = tosa.conv2d %bounded, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32> loc("dense")
  %shape = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %flat = tosa.reshape %dense, %shape : (tensor<1x1x1x2xf32>, !tosa.shape<2>) -> tensor<1x2xf32> loc("flat")
  %largest = tosa.reduce_max %flat {axis = 1 : i32} : (tensor<1x2xf32>) -> tensor<1x1xf32>
  %low = tosa.sub %flat, %largest : (tensor<1x2xf32>, tensor<1x1xf32>) -> tensor<1x2xf32>
  %exp = tosa.exp %low : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %sum = tosa.reduce_sum %exp {axis = 1 : i32} : (tensor<1x2xf32>) -> tensor<1x1xf32>
  %inverse = tosa.reciprocal %sum : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %shares = tosa.mul %exp, %inverse, %shift : (tensor<1x2xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x2xf32> loc("shares")
  return %shares : tensor<1x2xf32>
}
