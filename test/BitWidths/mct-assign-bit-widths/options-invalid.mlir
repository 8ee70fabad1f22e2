// RUN: not mct-opt %s --mct-assign-bit-widths 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not mct-opt %s --mct-assign-bit-widths=budget=weight:50% 2>&1 | FileCheck %s --check-prefix=WEIGHT
// RUN: not mct-opt %s --mct-assign-bit-widths=budget=weights:half 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: not mct-opt %s --mct-assign-bit-widths=budget=bops:-1 2>&1 | FileCheck %s --check-prefix=BOPS
// RUN: not mct-opt %s --mct-assign-bit-widths=budget=weights:50%% 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not mct-opt %s --mct-assign-bit-widths=budget=bops:10%% 2>&1 | FileCheck %s --check-prefix=NO-BOPS
// RUN: not mct-opt %s --mct-assign-bit-widths=budget=activations:0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not mct-opt %s --mct-assign-bit-widths=budget=total:1K,total:2K 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not mct-opt %s --mct-assign-bit-widths="budget=weights:1K bit-widths-out=%t/none/out.json" 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not mct-opt %s --mct-assign-bit-widths="budget=weights:1K remeasure=4" 2>&1 | FileCheck %s --check-prefix=SAMPLES
// RUN: not mct-opt %s --mct-assign-bit-widths="max-drop=-1" 2>&1 | FileCheck %s --check-prefix=DROP
// RUN: not mct-opt %s --mct-assign-bit-widths="max-drop=0.01 budget=weights:50%" 2>&1 | FileCheck %s --check-prefix=BUDGET
// RUN: not mct-opt %s --mct-assign-bit-widths="max-drop=0.01 max-loss=1" 2>&1 | FileCheck %s --check-prefix=LOSS
// RUN: not mct-opt %s --mct-assign-bit-widths="max-drop=0.01 device=ethos-u55" 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not mct-opt %s --mct-assign-bit-widths="max-drop=0.01" 2>&1 | FileCheck %s --check-prefix=METRIC
// RUN: not mct-opt %s --mct-assign-bit-widths="max-drop=0.01 drop-metric=top1 labels=%t.npy" 2>&1 | FileCheck %s --check-prefix=UNSEEN
// RUN: not mct-opt %s --mct-assign-bit-widths="budget=weights:1K drop-metric=top1" 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: not mct-opt %s --mct-assign-bit-widths="budget=weights:1K minimize=bops" 2>&1 | FileCheck %s --check-prefix=MINIMIZE
// RUN: echo '{"operators": [{"name": "x", "alternative": 1}]}' > %t.json
// RUN: not mct-opt %s --mct-assign-bit-widths="bit-widths-in=%t.json bit-widths-out=%t.json" 2>&1 | FileCheck %s --check-prefix=SAME

// RUN: not mct-opt %s --mct-assign-bit-widths=bit-widths-in=%t.absent 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: echo '{' > %t.json && not mct-opt %s --mct-assign-bit-widths=bit-widths-in=%t.json 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: echo '[]' > %t.json && not mct-opt %s --mct-assign-bit-widths=bit-widths-in=%t.json 2>&1 | FileCheck %s --check-prefix=OBJECT
// RUN: echo '{"operators": [{"name": "x"}]}' > %t.json && not mct-opt %s --mct-assign-bit-widths=bit-widths-in=%t.json 2>&1 | FileCheck %s --check-prefix=MEMBERS
// RUN: echo '{"operators": [{"name": "y", "alternative": 1}]}' > %t.json && not mct-opt %s --mct-assign-bit-widths=bit-widths-in=%t.json 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: echo '{"operators": [{"name": "x", "alternative": 2}]}' > %t.json && not mct-opt %s --mct-assign-bit-widths=bit-widths-in=%t.json 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: echo '{"operators": [{"name": "x", "alternative": 0}, {"name": "x", "alternative": 1}]}' > %t.json && not mct-opt %s --mct-assign-bit-widths=bit-widths-in=%t.json 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: echo '{"function": 1, "operators": []}' > %t.json && not mct-opt %s --mct-assign-bit-widths=bit-widths-in=%t.json 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: echo '{"operators": [{"name": "x", "alternative": 1, "bits": 4}]}' > %t.json && not mct-opt %s --mct-assign-bit-widths=bit-widths-in=%t.json 2>&1 | FileCheck %s --check-prefix=BITS

// NOTHING: error: 'func.func' op gets no bit widths: give a budget, for example budget=weights:50%, a file, bit-widths-in, max-loss, or max-drop
// DROP: error: max-drop is -1; give a number above 0 in the unit of the metric: of a share, 0.005 is half a point
// BUDGET: error: 'func.func' op gets bit widths by max-drop=0.01, and by a budget; give one of them
// LOSS: error: 'func.func' op gets bit widths by max-drop=0.01, and by max-loss; give one of them
// DEVICE: error: 'func.func' op gets bit widths by max-drop=0.01, and by device; give one of them
// METRIC: error: max-drop=0.01 says of no metric how much it may drop; give drop-metric=top1, for example
// UNSEEN: error: max-drop=0.01 needs samples that nothing else has seen, and what is right of them; give validation-data=FILE.npy and labels=FILE.npy
// UNUSED: error: drop-metric is for max-drop, which is not given; give max-drop=0.005, for example, or leave it out
// MINIMIZE: error: minimize is for max-drop, which is not given
// WEIGHT: error: cannot read the limit 'weight:50%' of the budget; expected weights, activations, total or compressed, and bytes (K, M or G of them) or percent, or bops or cycles and a number or percent, for example weights:50%; see docs/guide/troubleshooting.md#no-bit-widths-keep-to-the-budget
// HALF: error: cannot read the limit 'weights:half' of the budget
// BOPS: error: cannot read the limit 'bops:-1' of the budget
// NONE: error: the limit 'weights:50%' of the budget is 0 bytes; the network needs none, so leave it out
// NO-BOPS: error: the limit 'bops:10%' of the budget is 0 BOPS; the network needs none, so leave it out
// ZERO: error: the limit 'activations:0' of the budget is 0 bytes; give it more
// TWICE: error: the budget limits 'total' twice
// FOLDER: error: cannot write bit widths: {{.*}}out.json
// SAMPLES: error: remeasure=4 needs samples; give calibration-data=FILE.npy, or remeasure=0
// SAME: error: {{.*}}.json
// ABSENT: error: cannot read bit widths from '{{.*}}.absent': No such file or directory
// JSON: error: cannot read bit widths from '{{.*}}.json':
// OBJECT: error: cannot read bit widths from '{{.*}}.json': expected an object with an array 'operators'
// MEMBERS: error: {{.*}}: expected a 'name' and the index of an 'alternative' in each of the 'operators'
// NAME: error: {{.*}}: the function has no operator 'y' with alternatives
// INDEX: error: {{.*}}: 'x' has no alternative 2, but 0 to 1
// AGAIN: error: {{.*}}: it names 'x' twice
// FUNCTION: error: {{.*}}: expected the name of a function as 'function'
// BITS: error: {{.*}}: the 'bits' of 'x' are not those of its alternative 1; it has 0 (activation 8 bits), 1 (activation 4 bits): change both, or leave 'bits' out
#w8 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w8>
#act4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w8>
func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> attributes {tpc.sensitivities = {of = {x = [0.0, 0.1]}}} {
  %0 = tpc.quantize %x as "x" activation config(#act8) candidates(#tpc.alternatives<of = "x", configs = [#act8, #act4], chosen = 0>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
