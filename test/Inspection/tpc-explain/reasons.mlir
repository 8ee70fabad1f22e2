// Every reason why something is, or is not, quantized, for people and for programs.
// RUN: split-file %s %t
// RUN: mct-opt %t/net.mlir --tpc-explain -o /dev/null | FileCheck %s
// RUN: mct-opt %t/net.mlir --tpc-explain=format=json -o /dev/null | FileCheck %s --check-prefix=JSON
// RUN: mct-opt %t/net.mlir --tpc-explain=format=json -o /dev/null > %t/explained.json
// RUN: python3 -c "import json, sys; [f] = json.load(open(sys.argv[1]))['functions']; print([n['name'] for n in f['nodes'] if n['result']['cover'] == 'none'])" %t/explained.json | FileCheck %s --check-prefix=FLOAT
// RUN: mct-opt %t/net.mlir --tpc-explain=overrides=%t/rules.txt -o /dev/null | FileCheck %s --check-prefix=RULES

// FLOAT: ['not_on_a_grid', 'no_float', 'left_in_float', 'of_float']

// CHECK:      function main
// CHECK-NEXT:   arg0 (input)
// CHECK-NEXT:     point, 8-bit power_of_two
// CHECK-NEXT:   unread (input)
// CHECK-NEXT:     float, because it has no users

// CHECK-NEXT:   conv (tosa.conv2d)
// CHECK-NEXT:     operator set: Conv, matched by #tpc.op<"tosa.conv2d">
// CHECK-NEXT:     option 0 (dropped): 16-bit power_of_two result, reads 8/16-bit inputs, bias_attr float, kernel_attr 8-bit symmetric; too wide to be read by 'relu'
// CHECK-NEXT:     option 1 (base): 8-bit power_of_two result, reads 8-bit inputs, bias_attr float, kernel_attr 8-bit symmetric
// CHECK-NEXT:     option 2: 8-bit power_of_two result, reads 8-bit inputs, bias_attr float, kernel_attr 4-bit symmetric
// CHECK-NEXT:     fused: conv -> relu
// CHECK-NEXT:     result: no point, it stays inside of the fused chain conv -> relu
// CHECK-NEXT:     weight bias_attr: float, because its configuration is not enabled
// CHECK-NEXT:     weight kernel_attr: point, 8-bit symmetric, per channel of axes 0

// CHECK-NEXT:   relu (tosa.clamp)
// CHECK-NEXT:     operator set: ReLU, matched by #tpc.op<"tosa.clamp" where min_val eq 0.0{{.*}}>
// CHECK:          result: point, 8-bit power_of_two

// CHECK:        moved (tosa.reverse)
// CHECK:          option 0 (base): preserving result
// CHECK-NEXT:     result: no point, its values are those of point relu

// CHECK:        not_on_a_grid (tosa.greater)
// CHECK:          result: float, because tpc.framework says 'quantize = false' of tosa.greater
// CHECK:        no_float (tosa.logical_not)
// CHECK:          result: float, because its type is tensor<1x4x4x1xi1>, and only ranked tensors of f32 are quantized
// CHECK:        left_in_float (tosa.max_pool2d)
// CHECK:          result: float, because operator set 'MaxPool' says 'act_enabled = false'
// CHECK:        of_float (tosa.reverse)
// CHECK:          result: float, because it is preserving, and its operand is not quantized
// CHECK:        tagged (tosa.exp)
// CHECK-NEXT:     operator set: ReLU, named by the op's 'tpc.set'
// CHECK:        group conv -> relu, by #tpc.fusing<["Conv", "ReLU"]>
// CHECK-NOT:  {{.}}

// JSON:      "groups": [
// JSON-NEXT:   {
// JSON-NEXT:     "nodes": [
// JSON-NEXT:       "conv",
// JSON-NEXT:       "relu"
// JSON-NEXT:     ],
// JSON-NEXT:     "pattern": "#tpc.fusing<[\"Conv\", \"ReLU\"]>"
// JSON:      "name": "main",
// JSON:      "contested_by": null,
// JSON-NEXT: "group": 0,
// JSON-NEXT: "location": "loc(\"conv\"
// JSON-NEXT: "name": "conv",
// JSON-NEXT: "operator_set": "Conv",
// JSON-NEXT: "ops": [
// JSON-NEXT:   "tosa.conv2d"
// JSON:      "readers": [
// JSON-NEXT:   "relu"
// JSON-NEXT: ],
// JSON-NEXT: "signedness": "auto",
// JSON-NEXT: "state": "dropped",
// JSON-NEXT: "users": [
// JSON-NEXT:   "relu"
// JSON-NEXT: ],
// JSON:      "why": "too wide to be read by 'relu'"
// JSON:      "pattern": "#tpc.op<\"tosa.conv2d\">",
// JSON-NEXT: "result": {
// JSON-NEXT:   "cover": "fused"
// JSON:      "why_float": "its configuration is not enabled"
// JSON:      "axes": [
// JSON-NEXT:   0
// JSON-NEXT: ],
// JSON-NEXT: "bits": 8,
// JSON-NEXT: "method": "symmetric",
// JSON-NEXT: "name": "kernel_attr",
// JSON-NEXT: "operand": 1,
// JSON-NEXT: "point": true
// JSON:      "cover": "preserved",
// JSON-NEXT: "covered_by": "relu"

// RULES:      option 1 (dropped): {{.*}}; the override of {{.*}}rules.txt:1 excludes it
// RULES-NEXT: option 2 (base): {{.*}}kernel_attr 4-bit
// RULES:      relu (tosa.clamp)
// RULES:      result: float, because the override of {{.*}}rules.txt:2 says so

//--- rules.txt
name conv weights=4
name relu float

//--- net.mlir
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#k8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#k4 = #tpc.attr_quant_config<method = symmetric, bits = 4, per_channel = true, enabled = true>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#float = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = false, default_weight = #w>
#moves = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], act_enabled = false, preserving = true, default_weight = #w>
#a16w8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], weights = {kernel_attr = #k8, bias_attr = #w}, default_weight = #w>
#a8w8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], weights = {kernel_attr = #k8, bias_attr = #w}, default_weight = #w>
#a8w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], weights = {kernel_attr = #k4, bias_attr = #w}, default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act8]>)
    operator_sets [
      #tpc.operator_set<"Conv", options = #tpc.qc_options<[#a16w8, #a8w8, #a8w4], base = #a8w8>>,
      #tpc.operator_set<"ReLU">,
      #tpc.operator_set<"Reverse", options = #tpc.qc_options<[#moves]>>,
      #tpc.operator_set<"MaxPool", options = #tpc.qc_options<[#float]>>
    ]
    fusing [#tpc.fusing<["Conv", "ReLU"]>]
  tpc.binding @npu_on_tosa for @npu [
    #tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">], weights = {kernel_attr = 1, bias_attr = 2}>,
    #tpc.ops_of<"ReLU", [#tpc.op<"tosa.clamp" where min_val eq 0.0 : f32>]>,
    #tpc.ops_of<"Reverse", [#tpc.op<"tosa.reverse">]>,
    #tpc.ops_of<"MaxPool", [#tpc.op<"tosa.max_pool2d">]>
  ]
  tpc.framework @tosa [
    #tpc.op_info<"tosa.conv2d", kernel = 1, bias = 2, out_axes = [0], in_axis = 3, result_axis = -1>,
    #tpc.op_info<"tosa.greater", quantize = false>
  ]
  func.func @main(%arg0: tensor<1x4x4x1xf32>, %unread: tensor<4xf32> loc("unread")) -> (tensor<1x4x4x1xf32>, tensor<1x4x4x1xi1>, tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>) {
    %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %0 = tosa.conv2d %arg0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32> loc("conv")
    %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> loc("relu")
    %2 = tosa.reverse %1 {axis = 1 : i32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> loc("moved")
    %3 = tosa.greater %1, %2 : (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xi1> loc("not_on_a_grid")
    %4 = tosa.logical_not %3 : (tensor<1x4x4x1xi1>) -> tensor<1x4x4x1xi1> loc("no_float")
    %5 = tosa.max_pool2d %2 {kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> loc("left_in_float")
    %6 = tosa.reverse %5 {axis = 2 : i32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> loc("of_float")
    %7 = tosa.exp %2 {tpc.set = "ReLU"} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> loc("tagged")
    return %2, %4, %6, %7 : tensor<1x4x4x1xf32>, tensor<1x4x4x1xi1>, tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>
  }
}
