// Two layers in a row, a (100 weights) and b (200), with kernels of 8, 4 or 2 bits and results of 8 or 4.
// RUN: mct-opt %s --mct-assign-bit-widths="budget=weights:200 bit-widths-out=%t.json" -o %t.mlir && FileCheck %s --check-prefix=WEIGHTS < %t.json
// RUN: FileCheck %s --check-prefix=FRONT < %t.json
// RUN: mct-opt %s --mct-assign-bit-widths="budget=weights:260 remarks=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MORE
// RUN: mct-opt %s --mct-assign-bit-widths="budget=activations:24 remarks=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=CUT
// RUN: mct-opt %s --mct-assign-bit-widths="budget=weights:150,activations:75% remarks=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: mct-opt %s --mct-assign-bit-widths="budget=total:200 remarks=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TOTAL
// RUN: mct-opt %s --mct-assign-bit-widths="budget=bops:50% remarks=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BOPS

// What was chosen, edited, is read again.
// RUN: sed -e 's/"alternative": 1/"alternative": 2/' -e 's/"kernel_attr": 4/"kernel_attr": 2/' %t.json > %t.edited.json
// RUN: mct-opt %s --mct-assign-bit-widths="bit-widths-in=%t.edited.json remarks=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=EDITED
// RUN: not mct-opt %s --mct-assign-bit-widths="bit-widths-in=%t.json budget=weights:100" -o %t.none 2>&1 | FileCheck %s --check-prefix=TIGHT
// RUN: not test -e %t.none

// An edit of one of the number and the bits only.
// RUN: sed 's/"kernel_attr": 4/"kernel_attr": 2/' %t.json > %t.bits.json
// RUN: not mct-opt %s --mct-assign-bit-widths=bit-widths-in=%t.bits.json -o %t.none 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: sed 's/"alternative": 1/"alternative": 2/' %t.json > %t.number.json
// RUN: not mct-opt %s --mct-assign-bit-widths=bit-widths-in=%t.number.json -o %t.none 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: sed 's/"main"/"other"/' %t.json > %t.other.json
// RUN: not mct-opt %s --mct-assign-bit-widths=bit-widths-in=%t.other.json -o %t.none 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not test -e %t.none

// Rules of the user go first: b keeps its 8 bits, and a has to pay.
// RUN: echo 'name b weights=8' > %t.rules
// RUN: mct-opt %s --mct-assign-bit-widths="budget=weights:250 overrides=%t.rules remarks=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=RULES

// A file goes by them, too: it may say of b what they leave it, and of others what it likes.
// RUN: not mct-opt %s --mct-assign-bit-widths="bit-widths-in=%t.edited.json overrides=%t.rules" -o %t.none 2>&1 | FileCheck %s --check-prefix=AGAINST
// RUN: echo '{"operators": [{"name": "a", "alternative": 2}, {"name": "b", "alternative": 0}]}' > %t.kept.json
// RUN: mct-opt %s --mct-assign-bit-widths="bit-widths-in=%t.kept.json overrides=%t.rules remarks=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: echo 'name b weights=4' > %t.rules
// RUN: echo '{"operators": []}' > %t.unnamed.json
// RUN: not mct-opt %s --mct-assign-bit-widths="bit-widths-in=%t.unnamed.json overrides=%t.rules" -o %t.none 2>&1 | FileCheck %s --check-prefix=UNNAMED
// RUN: not test -e %t.none

// RUN: not mct-opt %s --mct-assign-bit-widths="budget=weights:74" -o %t.none 2>&1 | FileCheck %s --check-prefix=LEAST

// WEIGHTS:      "budget": {
// WEIGHTS-NEXT:  "weights_bytes": 200
// WEIGHTS:      "operators": [
// WEIGHTS:        "alternative": 0,
// WEIGHTS:        "bits": {
// WEIGHTS-NEXT:    "kernel_attr": 8
// WEIGHTS:        "name": "a"
// WEIGHTS:        "alternative": 1,
// WEIGHTS:        "name": "b"
// WEIGHTS:      "resources": {
// WEIGHTS:       "weights_bytes": 200
// WEIGHTS:      "sum_of_sensitivities": 2

// FRONT:      "front": [
// FRONT:        "sum_of_sensitivities": 14,
// FRONT-NEXT:   "weights_bytes": 75
// FRONT:        "sum_of_sensitivities": 10,
// FRONT-NEXT:   "weights_bytes": 100
// FRONT:        "sum_of_sensitivities": 7,
// FRONT-NEXT:   "weights_bytes": 125
// FRONT:        "sum_of_sensitivities": 3,
// FRONT-NEXT:   "weights_bytes": 150
// FRONT:        "sum_of_sensitivities": 2,
// FRONT-NEXT:   "weights_bytes": 200
// FRONT:        "sum_of_sensitivities": 1,
// FRONT-NEXT:   "weights_bytes": 250
// FRONT:        "sum_of_sensitivities": 0,
// FRONT-NEXT:   "weights_bytes": 300

// MORE: remark: 'a' takes alternative 1 of 3: kernel_attr 4 bits, which costs 1.000000e+00
// MORE: remark: 'b' takes alternative 0 of 3: kernel_attr 8 bits, which costs 0.000000e+00
// CUT:    remark: 'a' takes alternative 0 of 3
// CUT:    remark: 'ra' takes alternative 0 of 2
// CUT:    remark: 'b' takes alternative 0 of 3
// CUT:    remark: 'rb' takes alternative 1 of 2: activation 4 bits, which costs 5.000000e-01
// BOTH:   remark: 'a' takes alternative 1 of 3
// BOTH:   remark: 'ra' takes alternative 0 of 2
// BOTH:   remark: 'b' takes alternative 1 of 3
// BOTH:   remark: 'rb' takes alternative 1 of 2
// TOTAL:  remark: 'a' takes alternative 1 of 3
// TOTAL:  remark: 'ra' takes alternative 0 of 2
// TOTAL:  remark: 'b' takes alternative 1 of 3
// TOTAL:  remark: 'rb' takes alternative 0 of 2
// The operations of b are those of its kernel with the result of a: with 4 bits of that it keeps 8.
// BOPS:   remark: 'a' takes alternative 1 of 3
// BOPS:   remark: 'ra' takes alternative 1 of 2
// BOPS:   remark: 'b' takes alternative 0 of 3
// BOPS:   remark: 'rb' takes alternative 0 of 2
// EDITED: remark: 'b' takes alternative 2 of 3: kernel_attr 2 bits
// BITS:   error: cannot read bit widths from '{{.*}}.bits.json': the 'bits' of 'b' are not those of its alternative 1; it has 0 (kernel_attr 8 bits), 1 (kernel_attr 4 bits), 2 (kernel_attr 2 bits): change both, or leave 'bits' out
// NUMBER: error: {{.*}}: the 'bits' of 'b' are not those of its alternative 2;
// FUNCTION: error: {{.*}}: it is for the function 'other', and not for 'main'; take the file of this one, or change its 'function'
// TIGHT:  error: 'func.func' op cannot keep to its budget: weights would be 200 bytes instead of 100 bytes
// RULES:  remark: 'a' takes alternative 1 of 3
// RULES:  remark: 'b' takes alternative 0 of 3
// AGAINST: budgets.mlir:[[# @LINE + 22]]:{{[0-9]+}}: error: 'b' has alternative 2 (kernel_attr 2 bits) with bit-widths-in={{.*}}.edited.json, but the rules of '{{.*}}.rules' ask for alternative 0 (kernel_attr 8 bits); give it that in the file, or change the rules
// UNNAMED: error: 'b' has alternative 0 (kernel_attr 8 bits) with bit-widths-in={{.*}}.unnamed.json, but the rules of '{{.*}}.rules' ask for alternative 1 (kernel_attr 4 bits);
// KEPT:   remark: 'a' takes alternative 2 of 3
// KEPT:   remark: 'b' takes alternative 0 of 3
// LEAST:  error: 'func.func' op cannot keep to its budget: weights would be 75 bytes instead of 74 bytes
// LEAST:  note: the alternatives that come closest: a 2, ra 8, b 2, rb 8; give it more,

#w8 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#w4 = #tpc.attr_quant_config<method = symmetric, bits = 4, enabled = true>
#w2 = #tpc.attr_quant_config<method = symmetric, bits = 2, enabled = true>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [4, 8], default_weight = #w8>
#act4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [4, 8], default_weight = #w8>
func.func @main(%x: tensor<1x1x1x10xf32> loc("x")) -> tensor<1x1x1x20xf32>
    attributes {tpc.sensitivities = {metric = "mse", of = {a = [0.0, 1.0, 5.0], ra = [0.0, 0.75], b = [0.0, 2.0, 9.0], rb = [0.0, 0.5]}, samples = 4 : i64}} {
  %ka = "tosa.const"() <{values = dense<1.0> : tensor<10x1x1x10xf32>}> : () -> tensor<10x1x1x10xf32>
  %kb = "tosa.const"() <{values = dense<1.0> : tensor<20x1x1x10xf32>}> : () -> tensor<20x1x1x10xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %xq = tpc.quantize %x as "x" activation config(#act8) : tensor<1x1x1x10xf32>
  %a = tpc.quantize %ka as "a" weight "kernel_attr" config(#w8) candidates(#tpc.alternatives<of = "a", configs = [#w8, #w4, #w2], chosen = 0>) : tensor<10x1x1x10xf32>
  %0 = tosa.conv2d %xq, %a, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x10xf32>, tensor<10x1x1x10xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x10xf32> loc("a")
  %1 = tosa.abs %0 : (tensor<1x1x1x10xf32>) -> tensor<1x1x1x10xf32> loc("ra")
  %ra = tpc.quantize %1 as "ra" activation config(#act8) candidates(#tpc.alternatives<of = "ra", configs = [#act8, #act4], chosen = 0>) group(["a", "ra"]) : tensor<1x1x1x10xf32>
  %b = tpc.quantize %kb as "b" weight "kernel_attr" config(#w8) candidates(#tpc.alternatives<of = "b", configs = [#w8, #w4, #w2], chosen = 0>) : tensor<20x1x1x10xf32>
  %2 = tosa.conv2d %ra, %b, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x10xf32>, tensor<20x1x1x10xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x20xf32> loc("b")
  %3 = tosa.abs %2 : (tensor<1x1x1x20xf32>) -> tensor<1x1x1x20xf32> loc("rb")
  %rb = tpc.quantize %3 as "rb" activation config(#act8) candidates(#tpc.alternatives<of = "rb", configs = [#act8, #act4], chosen = 0>) group(["b", "rb"]) : tensor<1x1x1x20xf32>
  return %rb : tensor<1x1x1x20xf32>
}
