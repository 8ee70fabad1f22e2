// RUN: mct-opt %s --allow-unregistered-dialect --mct-insert-quantizers | FileCheck %s

// A set that only this target knows, bound to an op that nobody registered: 4-bit results, and a constant operand that
// the binding names.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#table = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#act4 = #tpc.op_quant_config<act_method = uniform, act_bits = 4, input_bits = [8], weights = {table = #table}, default_weight = #w>
// CHECK-DAG: #[[$ACT4:.*]] = #tpc.op_quant_config<act_method = uniform, act_bits = 4
// CHECK-DAG: #[[$TABLE:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act8]>)
    operator_sets [#tpc.operator_set<"Spline", options = #tpc.qc_options<[#act4]>>]
  tpc.binding @npu_on_mine for @npu [#tpc.ops_of<"Spline", [#tpc.op<"mine.spline" where degree eq 3 : i64>], weights = {table = 1}>]
  // CHECK-LABEL: func.func @set_of_the_user
  // CHECK:         tpc.quantize {{.*}} as "spline" weight "table" config(#[[$TABLE]])
  // CHECK:         "mine.spline"
  // CHECK-NEXT:    tpc.quantize {{.*}} as "spline" activation config(#[[$ACT4]])
  func.func @set_of_the_user(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %c = "tosa.const"() <{values = dense<1.0> : tensor<4xf32>}> : () -> tensor<4xf32>
    %0 = "mine.spline"(%arg0, %c) {degree = 3 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
