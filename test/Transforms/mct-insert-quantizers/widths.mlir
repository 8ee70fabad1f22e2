// Options that stand for rules: a width wherever the target offers it, and patterns of what stays float.
// RUN: split-file %s %t
// RUN: mct-opt %t/net.mlir --mct-insert-quantizers=weights=4 | FileCheck %s --check-prefix=WEIGHTS
// RUN: mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/all.txt | FileCheck %s --check-prefix=WEIGHTS
// RUN: mct-opt %t/net.mlir --mct-insert-quantizers=activations=8 | FileCheck %s --check-prefix=ACTIVATIONS
// RUN: mct-opt %t/net.mlir --mct-insert-quantizers="weights=4 keep-float=s*,exp" | FileCheck %s --check-prefix=FLOAT
// RUN: mct-opt %t/net.mlir --mct-insert-quantizers="weights=4 keep-float=s* overrides=%t/last.txt" | FileCheck %s --check-prefix=LAST
// RUN: mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/optional.txt | FileCheck %s --check-prefix=OPTIONAL
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers="weights=5 activations=4" 2>&1 | FileCheck %s --check-prefix=WIDTHS
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/none.txt 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=keep-float=exp,cnov* 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=keep-float=con[v 2>&1 | FileCheck %s --check-prefix=GLOB

// The input and the sum have no weights, and keep their widths. The function has the rule.
// WEIGHTS-DAG: #[[K4:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 4, enabled = true>
// WEIGHTS-DAG: #[[A16:.*]] = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], weights = {kernel_attr = #[[K4]]}
// WEIGHTS:     attributes {tpc.overrides = ["all weights=4"]}
// WEIGHTS:     as "conv" weight "kernel_attr" config(#[[K4]])
// WEIGHTS:     as "conv" activation config(#[[A16]])

// The input has no other width than that.
// ACTIVATIONS:     attributes {tpc.overrides = ["all activation=8"]}
// ACTIVATIONS:     tpc.quantize %{{.*}} as "arg0" activation config(#[[D8:[a-z0-9_]*]])
// ACTIVATIONS-NOT: act_bits = 16
// ACTIVATIONS:     as "sum" activation config(#[[A8:[a-z0-9_]*]])
// ACTIVATIONS:     as "exp" activation config(#[[A8]])

// FLOAT:     attributes {tpc.overrides = ["all weights=4", "name \22s*\22 float", "name \22exp\22 float"]}
// FLOAT:     as "conv" activation
// FLOAT-NOT: as "sum"
// FLOAT-NOT: as "exp"
// FLOAT:     return

// Rules of a file go before the options.
// LAST:     #[[K2:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 2, enabled = true>
// LAST:     as "conv" weight "kernel_attr" config(#[[K2]])
// LAST:     as "sum" activation

// OPTIONAL: as "conv" weight "kernel_attr"

// Both are named in one run.
// WIDTHS: weights=5:1:1: error: none of the quantized weights can have 5 bits; the target offers 8, 4 and 2 in this network
// WIDTHS: activations=4:1:1: error: none of the results can have 4 bits; the target offers 16 and 8 in this network

// NONE: none.txt:1:1: error: none of the results can have 12 bits

// NAME: keep-float=cnov*:1:1: error: the rule matches nothing

// GLOB: keep-float=con[v:1:1: error: 'con[v' is not a glob pattern

//--- all.txt
all weights=4

//--- last.txt
name conv weights=2
name sum activation=16

//--- optional.txt
?all weights=5

//--- none.txt
all activation=12

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
