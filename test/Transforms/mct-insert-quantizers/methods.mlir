// Rules ask for methods that the target offers, or for special cases of them.
// RUN: split-file %s %t
// RUN: mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/narrower.txt | FileCheck %s
// RUN: mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/all.txt | FileCheck %s --check-prefix=ALL
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/wider.txt 2>&1 | FileCheck %s --check-prefix=WIDER
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/weight.txt 2>&1 | FileCheck %s --check-prefix=WEIGHT
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/input.txt 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/unknown.txt 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: mct-opt %t/net.mlir --mct-insert-quantizers -o %t/points.mlir
// RUN: mct-opt %t/points.mlir --mct-choose-candidates=overrides=%t/same.txt | FileCheck %s --check-prefix=SAME
// RUN: not mct-opt %t/points.mlir --mct-choose-candidates=overrides=%t/narrower.txt 2>&1 | FileCheck %s --check-prefix=POINTS

// Both alternatives of the kernel have power-of-two thresholds; the result has a symmetric grid where the target has zero points.
// CHECK-DAG: #[[K8:.*]] = #tpc.attr_quant_config<method = power_of_two, bits = 8, enabled = true>
// CHECK-DAG: #[[K4:.*]] = #tpc.attr_quant_config<method = power_of_two, bits = 4, enabled = true>
// CHECK-DAG: #[[SYMMETRIC:.*]] = #tpc.op_quant_config<act_method = symmetric, act_bits = 8, {{.*}} weights = {kernel_attr = #[[K8]]}
// CHECK-DAG: #[[UNIFORM:.*]] = #tpc.op_quant_config<act_method = uniform,
// CHECK:     as "x" activation config(#[[UNIFORM]])
// CHECK:     as "conv" weight "kernel_attr" config(#[[K8]]) candidates({{.*}}configs = [#[[K8]], #[[K4]]]
// CHECK:     as "conv" activation config(#[[SYMMETRIC]])

// A rule for all operators changes what it can.
// ALL-DAG: #[[K8:.*]] = #tpc.attr_quant_config<method = power_of_two, bits = 8, enabled = true>
// ALL-DAG: #[[FREE:.*]] = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight
// ALL-DAG: #[[CONV:.*]] = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], weights = {kernel_attr = #[[K8]]}
// ALL:     as "x" activation config(#[[FREE]])
// ALL:     as "conv" weight "kernel_attr" config(#[[K8]])
// ALL:     as "conv" activation config(#[[CONV]])

// WIDER: wider.txt:1:1: error: 'kernel_attr' of 'conv' cannot have the method 'uniform'; the target offers symmetric here, and a rule takes one of these or a special case; derive a target that offers it
// WIDER: note: {{.*}}the op is here

// WEIGHT: weight.txt:1:1: error: the result of 'conv' cannot have the method 'lut_pot_quantizer'; the target offers uniform here

// INPUT: input.txt:1:1: error: the input 'x' cannot have the method 'lut_sym_quantizer'; the target's default has uniform

// UNKNOWN: unknown.txt:1:1: error: there is no method 'narrow'; there are 'power_of_two', 'symmetric', 'uniform', 'lut_pot_quantizer' and 'lut_sym_quantizer'

// Points have the methods of their alternatives.
// SAME:   as "conv" weight "kernel_attr" config(#[[K:.*]]) candidates
// POINTS: narrower.txt:1:1: error: the result of 'conv' cannot get the method 'symmetric' now that it has a point; insert points with this rule
// POINTS: note: {{.*}}the point is here

//--- narrower.txt
name conv activation-method=symmetric weights-method.kernel_attr=power_of_two

//--- all.txt
all activation-method=power_of_two weights-method=power_of_two

//--- wider.txt
name conv weights-method=uniform

//--- weight.txt
set Conv activation-method=lut_pot_quantizer

//--- input.txt
name x activation-method=lut_sym_quantizer

//--- unknown.txt
name conv weights-method=narrow

//--- same.txt
name conv activation-method=uniform weights-method=symmetric

//--- net.mlir
#kernel8 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#kernel4 = #tpc.attr_quant_config<method = symmetric, bits = 4, enabled = true>
#none = #tpc.attr_quant_config<method = symmetric, bits = 8>
#conv8 = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], weights = {kernel_attr = #kernel8}, default_weight = #none>
#conv4 = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], weights = {kernel_attr = #kernel4}, default_weight = #none>
#plain = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], default_weight = #none>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#plain]>)
    operator_sets [#tpc.operator_set<"Conv", options = #tpc.qc_options<[#conv8, #conv4], base = #conv8>>]
  tpc.binding @npu_on_tosa for @npu [#tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">], weights = {kernel_attr = 1}>]
  func.func @main(%x: tensor<1x4x4x1xf32> loc("x")) -> tensor<1x4x4x1xf32> {
    %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %0 = tosa.conv2d %x, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32> loc("conv")
    return %0 : tensor<1x4x4x1xf32>
  }
}
