// Rules of the user go before the target's.
// RUN: split-file %s %t
// RUN: mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/widths.txt | FileCheck %s --check-prefix=WIDTHS
// RUN: mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/float.txt | FileCheck %s --check-prefix=FLOAT
// RUN: mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/last.txt | FileCheck %s --check-prefix=LAST
// RUN: mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/input.txt | FileCheck %s --check-prefix=INPUT

// A name, an op and a set each select; the base keeps what no rule speaks of. Of the two alternatives with 4-bit kernels
// the one of the base's 16-bit results is taken; the sum's own 16 bits become 8.
// WIDTHS-DAG: #[[K4:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 4, enabled = true>
// WIDTHS-DAG: #[[A16:.*]] = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], weights = {kernel_attr = #[[K4]]}
// WIDTHS-DAG: #[[A8:.*]] = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], default_weight
// The function keeps the rules, without comments.
// WIDTHS:     attributes {tpc.overrides = ["name \22con*\22    weights=4", "op   tosa.add  activation=8", "set  Exp       activation=8"]}
// WIDTHS:     tpc.quantize {{.*}} as "conv" weight "kernel_attr" config(#[[K4]]) candidates({{.*}}) : tensor<1x1x1x1xf32>
// WIDTHS:     tpc.quantize {{.*}} as "conv" activation config(#[[A16]])
// WIDTHS:     tosa.add
// WIDTHS:     tpc.quantize {{.*}} as "sum" activation config(#[[A8]]) : tensor<1x4x4x1xf32>

// A result and a weight are left in float each by its rule.
// FLOAT:     tpc.quantize %{{.*}} as "arg0"
// FLOAT-NOT: tpc.quantize {{.*}} as "conv" weight
// FLOAT:     tpc.quantize {{.*}} as "conv" activation
// FLOAT-NOT: tpc.quantize {{.*}} as "sum"
// FLOAT:     tosa.exp
// FLOAT-NOT: tpc.quantize
// FLOAT:     return

// The last rule wins, tensor by tensor: the convolution's weights are quantized again, and its result stays in float.
// LAST:     #[[K8:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
// LAST:     tpc.quantize {{.*}} as "conv" weight "kernel_attr" config(#[[K8]])
// LAST:     tosa.conv2d
// LAST-NOT: tpc.quantize {{.*}} as "conv" activation
// LAST:     tpc.quantize {{.*}} as "sum" activation

// The point of an input has a name too.
// INPUT-LABEL: func.func
// INPUT-NOT:     as "arg0"
// INPUT:         tpc.quantize {{.*}} as "conv"

//--- widths.txt
# Comments and empty lines do not count.

name "con*"    weights=4       # one of the convolutions
op   tosa.add  activation=8
set  Exp       activation=8

//--- float.txt
set Conv weights.kernel_attr=float
op tosa.add activation=float
name exp float

//--- last.txt
set Conv weights.kernel_attr=2
name * float
name * weights=2
set Conv weights.kernel_attr=4
set Conv weights=8
name sum activation=16

//--- input.txt
name arg0 float

//--- net.mlir
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#k8 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#k4 = #tpc.attr_quant_config<method = symmetric, bits = 4, enabled = true>
#k2 = #tpc.attr_quant_config<method = symmetric, bits = 2, enabled = true>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], default_weight = #w>
#act16 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], default_weight = #w>
#a8w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #k4}, default_weight = #w>
#a16w8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], weights = {kernel_attr = #k8}, default_weight = #w>
#a16w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], weights = {kernel_attr = #k4}, default_weight = #w>
#a16w2 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], weights = {kernel_attr = #k2}, default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act8]>)
    operator_sets [
      #tpc.operator_set<"Conv", options = #tpc.qc_options<[#a16w8, #a8w4, #a16w4, #a16w2], base = #a16w8>>,
      #tpc.operator_set<"Add", options = #tpc.qc_options<[#act16, #act8], base = #act16>>,
      #tpc.operator_set<"Exp", options = #tpc.qc_options<[#act16, #act8], base = #act16>>
    ]
  tpc.binding @npu_on_tosa for @npu [
    #tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">], weights = {kernel_attr = 1}>,
    #tpc.ops_of<"Add", [#tpc.op<"tosa.add">]>, #tpc.ops_of<"Exp", [#tpc.op<"tosa.exp">]>
  ]
  func.func @main(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
    %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %0 = tosa.conv2d %arg0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32> loc("conv")
    %1 = tosa.add %0, %arg0 : (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> loc("sum")
    %2 = tosa.exp %1 : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> loc("exp")
    return %2 : tensor<1x4x4x1xf32>
  }
}
