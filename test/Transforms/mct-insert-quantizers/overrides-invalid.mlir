// Every mistake in an overrides file is an error at its line, and leaves no output.
// RUN: split-file %s %t
// RUN: mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/optional.txt | FileCheck %s --check-prefix=OPTIONAL
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/question.txt 2>&1 | FileCheck %s --check-prefix=QUESTION
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=/dev/zero 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/absent.txt 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/selector.txt 2>&1 | FileCheck %s --check-prefix=SELECTOR
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/pattern.txt 2>&1 | FileCheck %s --check-prefix=PATTERN
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/no-list.txt 2>&1 | FileCheck %s --check-prefix=PATTERN
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/no-action.txt 2>&1 | FileCheck %s --check-prefix=PATTERN
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/unmatched.txt 2>&1 | FileCheck %s --check-prefix=UNMATCHED
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/short.txt 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/glob.txt 2>&1 | FileCheck %s --check-prefix=GLOB
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/action.txt 2>&1 | FileCheck %s --check-prefix=ACTION
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/zero.txt 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/nothing.txt 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/effect.txt 2>&1 | FileCheck %s --check-prefix=EFFECT
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/bits.txt 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/weight.txt 2>&1 | FileCheck %s --check-prefix=WEIGHT
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/wide.txt 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not mct-opt %t/net.mlir --mct-insert-quantizers=overrides=%t/input.txt 2>&1 | FileCheck %s --check-prefix=INPUT

// ABSENT: net.mlir:{{.*}}: error: cannot read overrides file '{{.*}}absent.txt': No such file or directory

// SELECTOR: selector.txt:1:1: error: expected 'name', 'op', 'set' or 'pattern', a pattern, and an action

// The parser of attributes says nothing of its own.
// PATTERN-NOT: error
// PATTERN: .txt:1:1: error: expected 'pattern', a list of #tpc.op and #tpc.subgraph, and an action, for example 'pattern [#tpc.op<"tosa.conv2d">] weights=4'; see docs/guide/troubleshooting.md#a-rule-of-overrides-cannot-be-read
// PATTERN-NOT: error

// UNMATCHED: unmatched.txt:1:1: error: the rule matches nothing

// SHORT: short.txt:2:1: error: expected 'name', 'op', 'set' or 'pattern', a pattern, and an action

// GLOB: glob.txt:1:1: error: 'con[v' is not a glob pattern: {{.+}}

// ACTION: action.txt:1:1: error: cannot read 'bits=4'; expected 'float', 'activation=BITS', 'weights=BITS' or 'weights.NAME=BITS', where BITS is a width or 'float', or 'activation-method=METHOD', 'weights-method=METHOD' or 'weights-method.NAME=METHOD'

// ZERO: zero.txt:1:1: error: cannot read 'weights=0'

// DEVICE: error: cannot read overrides file '/dev/zero': expected a file, found a device

// Rules with a question mark that match or do nothing are left out, those that match act.
// OPTIONAL:     as "conv" weight "kernel_attr" {{.*}}config(#{{[a-z_]+}}{{[0-9]*}})
// OPTIONAL-NOT: as "exp"
// OPTIONAL:     return

// QUESTION: question.txt:1:1: error: expected 'name', 'op', 'set' or 'pattern', a pattern, and an action

// Both rules are named in one run.
// NOTHING: nothing.txt:1:1: error: the rule matches nothing; tpc-explain lists the names, ops and operator sets that there are; a rule that may match nothing begins with '?'
// NOTHING: nothing.txt:3:1: error: the rule matches nothing

// No weight, and a result of indices.
// EFFECT: effect.txt:1:1: error: the rule has no effect: none of the 1 operators that it matches has a quantized tensor of that kind
// EFFECT: effect.txt:2:1: error: the rule has no effect

// BITS: bits.txt:2:1: error: the result of 'exp' cannot have 4 bits; the target offers 8 here
// BITS: note: {{.*}}the op is here

// WEIGHT: weight.txt:1:1: error: 'kernel_attr' of 'conv' cannot have 3 bits; the target offers 8 and 4 here
// WEIGHT: note: {{.*}}the op is here

// The target has 16-bit results, and the consumer is why this op cannot.
// WIDE: wide.txt:1:1: error: the result of 'conv' cannot have 16 bits; the target offers 8 here
// WIDE: note: {{.*}}this user reads at most 8 bits

// INPUT: input.txt:1:1: error: the input 'arg0' cannot have 16 bits; the target's default has 8

//--- optional.txt
?name cnov weights=4
? op tosa.exp weights=4
?op tosa.exp activation=float

//--- question.txt
?

//--- selector.txt
layer conv weights=4

//--- pattern.txt
pattern [#tpc.op<"tosa.conv2d"] weights=4

//--- no-list.txt
pattern ["tosa.conv2d"] weights=4

//--- no-action.txt
pattern [#tpc.op<"tosa.conv2d">] # nothing to do

//--- unmatched.txt
pattern [#tpc.subgraph<"softmax">] activation=8

//--- short.txt
# nothing to do
name conv

//--- glob.txt
name con[v weights=4

//--- action.txt
name conv bits=4

//--- zero.txt
name conv weights=0

//--- nothing.txt
name cnov weights=4
set Conv weights=4
op tosa.conv3d float

//--- effect.txt
op tosa.exp weights=4
op tosa.argmax activation=8

//--- bits.txt
set Conv weights=4
op tosa.exp activation=4

//--- weight.txt
set Conv weights=3

//--- wide.txt
set Conv activation=16

//--- input.txt
name arg* activation=16

//--- net.mlir
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#k8 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#k4 = #tpc.attr_quant_config<method = symmetric, bits = 4, enabled = true>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#a16w8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8], weights = {kernel_attr = #k8}, default_weight = #w>
#a8w8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], weights = {kernel_attr = #k8}, default_weight = #w>
#a8w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], weights = {kernel_attr = #k4}, default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act8]>)
    operator_sets [#tpc.operator_set<"Conv", options = #tpc.qc_options<[#a16w8, #a8w8, #a8w4], base = #a8w8>>]
  tpc.binding @npu_on_tosa for @npu [#tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">], weights = {kernel_attr = 1}>]
  func.func @main(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4xi32> {
    %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %0 = tosa.conv2d %arg0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32> loc("conv")
    %1 = tosa.exp %0 : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> loc("exp")
    %2 = tosa.argmax %1 {axis = 3 : i32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4xi32> loc("argmax")
    return %2 : tensor<1x4x4xi32>
  }
}
