// RUN: mct-opt %s --mct-add-gradient="with-results=true" | FileCheck %s

// What comes back is asked of whoever has the quantizer, with what it quantized.
// CHECK-LABEL: func.func @main_gradient(
// CHECK-SAME:    %[[X:[^ ]*]]: tensor<3x2xf32>, %[[G:[^ ]*]]: tensor<3x2xf32>)
// CHECK:         %[[Q:.*]] = tpc.quantize %[[X]] as "a" activation trainable(#tpc.host_quantizer<name = "my_module.MyQuantizer", config = {bits = 4 : i64}>)
// CHECK:         %[[BACK:.*]] = tosa.custom %[[X]], %[[G]] {axes = array<i64>, domain_name = "mct",
// CHECK-SAME:      host_quantizer = #tpc.host_quantizer<name = "my_module.MyQuantizer", config = {bits = 4 : i64}>,
// CHECK-SAME:      implementation_attrs = "a", operator_name = "host_gradient"}
// CHECK:         %[[RESULT:.*]] = tosa.identity %[[BACK]]
// CHECK:         return %[[Q]], %[[RESULT]]
func.func @main(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0 = tpc.quantize %x as "a" activation trainable(#tpc.host_quantizer<name = "my_module.MyQuantizer", config = {bits = 4 : i64}>) : tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
