// A target file may hold the device that runs its networks. It is the default of `profile`, and `none` checks nothing.
// RUN: split-file %s %t
// RUN: not mct-opt %t/network.mlir --tpc-attach-target=target=%t/target.mlir --mct-lower-to-integer=io=integer 2>&1 | FileCheck %s
// RUN: not mct-opt %t/network.mlir --tpc-attach-target=target=%t/derived.mlir --mct-lower-to-integer=io=integer 2>&1 | FileCheck %s
// RUN: mct-opt %t/network.mlir --tpc-attach-target=target=%t/target.mlir --mct-lower-to-integer="io=integer profile=none" | FileCheck %s --check-prefix=NONE
// RUN: mct-opt %t/network.mlir --tpc-attach-target=target=%t/target.mlir --tpc-explain | FileCheck %s --check-prefix=EXPLAIN
// RUN: mct-opt %t/network.mlir --tpc-attach-target=target=%t/derived.mlir --tpc-explain=format=json | FileCheck %s --check-prefix=JSON
// RUN: mct-opt %t/network.mlir --tpc-attach-target=target=imx500 --tpc-explain | FileCheck %s --check-prefix=STOCK

// A device goes with its target.
// RUN: mct-opt %t/network.mlir --tpc-attach-target=target=%t/target.mlir --tpc-attach-target=target=%t/without.mlir | FileCheck %s --check-prefix=AGAIN
// AGAIN-NOT: tpc.device

// CHECK: error: 'tosa.table' op looks up codes, which my_chip cannot
// CHECK: note: choose steps that are equal
// NONE: tosa.table
// EXPLAIN: device my_chip
// EXPLAIN-NEXT: computes no floating-point numbers
// EXPLAIN-NEXT: refuses tosa.table, which looks up codes: choose steps that are equal
// EXPLAIN-NEXT: refuses tosa.* where #tpc.predicate<"$bits" eq 48 : i64>, which reads 48 bits: rescale to 32 bits
// EXPLAIN-NEXT: knows the cycles of layers by my_costs.json
// JSON: "device": {
// JSON-NEXT: "cost_table": "my_costs.json",
// JSON-NEXT: "integer_only": true,
// JSON-NEXT: "missing_onnx_operators": [],
// JSON-NEXT: "name": "my_chip",
// JSON-NEXT: "onnx_limits": null,
// STOCK: device the IMX500
// STOCK-NEXT: has no ONNX operators ["Erf",
// STOCK-NEXT: runs ONNX files of batch 1 within 8388608 bytes; weights of the IMX500 have 2, 4 or 8 bits, activations of the IMX500 have 8 bits unsigned, 8 or 16 signed

//--- target.mlir
#float = #tpc.attr_quant_config<method = symmetric, bits = 8>
#act8 = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], default_weight = #float>
tpc.platform @my_platform type("my_platform") default(#tpc.qc_options<[#act8]>) operator_sets []
tpc.device @my_chip for ["my_platform"] integer_only {
  tpc.refuse ["tosa.table"] reason("looks up codes") remedy("choose steps that are equal")
  tpc.refuse where(#tpc.predicate<"$bits" eq 48>) reason("reads 48 bits") remedy("rescale to 32 bits")
  tpc.cost_table "my_costs.json"
}

//--- without.mlir
#float = #tpc.attr_quant_config<method = symmetric, bits = 8>
#act8 = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], default_weight = #float>
tpc.platform @other type("my_platform") default(#tpc.qc_options<[#act8]>) operator_sets []

//--- derived.mlir
tpc.derive @mine from "target.mlir"

//--- network.mlir
func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, is_signed = true>) : tensor<1x4xf32>
  %1 = tosa.abs %0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %2 = tpc.quantize %1 as "y" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x4xf32>
  return %2 : tensor<1x4xf32>
}
