// RUN: split-file %s %t
// RUN: mct-opt %t/net.mlir --mct-insert-quantizers | FileCheck %s
// RUN: mct-opt %t/net.mlir --tpc-explain -o /dev/null | FileCheck %s --check-prefix=WHY
// RUN: mct-opt %t/repeated.mlir --mct-insert-quantizers | FileCheck %s --check-prefix=REPEATED
// RUN: mct-opt %t/repeated.mlir --tpc-explain -o /dev/null | FileCheck %s --check-prefix=WHY-REPEATED
// RUN: mct-opt %t/means.mlir --mct-insert-quantizers | FileCheck %s --check-prefix=MEANS
// RUN: mct-opt %t/means.mlir --tpc-explain -o /dev/null | FileCheck %s --check-prefix=WHY-MEANS
// RUN: mct-opt %t/both.mlir --mct-insert-quantizers --verify-diagnostics

//--- net.mlir
// exp writes 16 or 8 bits. Reverse and Concat preserve and read both widths; tanh reads 8 bits only.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#wide8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], default_weight = #w>
#wide16 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], default_weight = #w>
#moves = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], act_enabled = false, preserving = true, default_weight = #w>
// CHECK-DAG: #[[$WIDE8:.*]] = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], default
// CHECK-DAG: #[[$WIDE16:.*]] = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], default
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act8]>)
    operator_sets [
      #tpc.operator_set<"Exp", options = #tpc.qc_options<[#wide16, #wide8], base = #wide16>>,
      #tpc.operator_set<"Reverse", options = #tpc.qc_options<[#moves]>>,
      #tpc.operator_set<"Concat", options = #tpc.qc_options<[#moves]>>,
      #tpc.operator_set<"Pad", options = #tpc.qc_options<[#moves]>>,
      #tpc.operator_set<"Max", options = #tpc.qc_options<[#moves]>>
    ]
  tpc.binding @npu_on_tosa for @npu [
    #tpc.ops_of<"Exp", [#tpc.op<"tosa.exp">]>, #tpc.ops_of<"Reverse", [#tpc.op<"tosa.reverse">]>,
    #tpc.ops_of<"Concat", [#tpc.op<"tosa.concat">]>, #tpc.ops_of<"Pad", [#tpc.op<"tosa.pad">]>,
    #tpc.ops_of<"Max", [#tpc.op<"tosa.maximum">]>
  ]

  // The reader after two moves limits the producer, and the moves get no point.
  // CHECK-LABEL: func.func @limit_passes_through
  // CHECK:         tosa.exp
  // CHECK-NEXT:    tpc.quantize {{.*}} as "exp" activation config(#[[$WIDE8]]) : tensor<4xf32>
  // CHECK-NEXT:    tosa.reverse
  // CHECK-NEXT:    tosa.reverse
  // CHECK-NEXT:    tosa.tanh
  // CHECK-NEXT:    tpc.quantize {{.*}} as "tanh"
  // WHY-LABEL: function limit_passes_through
  // WHY:         option 0 (dropped): {{.*}}; too wide to be read by 'tanh'
  // WHY:       reverse (tosa.reverse)
  // WHY:         result: no point, its values are those of point exp
  // WHY:       reverse_1 (tosa.reverse)
  // WHY:         result: no point, its values are those of point exp
  func.func @limit_passes_through(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tosa.reverse %0 {axis = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tosa.reverse %1 {axis = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    %3 = tosa.tanh %2 : (tensor<4xf32>) -> tensor<4xf32>
    return %3 : tensor<4xf32>
  }

  // Two inputs have two quantizers, neither of which covers the result. It gets its own, which covers what preserves it.
  // CHECK-LABEL: func.func @several_inputs_do_not_preserve
  // CHECK:         tosa.concat
  // CHECK-NEXT:    tpc.quantize {{.*}} as "concat" activation config(#[[$WIDE8]]) : tensor<8xf32>
  // CHECK-NEXT:    tosa.reverse
  // CHECK-NEXT:    return
  // WHY-LABEL: function several_inputs_do_not_preserve
  // WHY:       concat (tosa.concat)
  // WHY:         result: point, 8-bit power_of_two
  // WHY:       reverse (tosa.reverse)
  // WHY:         result: no point, its values are those of point concat
  func.func @several_inputs_do_not_preserve(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<8xf32> {
    %0 = tosa.concat %arg0, %arg1 {axis = 0 : i32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    %1 = tosa.reverse %0 {axis = 0 : i32} : (tensor<8xf32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }

  // The other values of a pad with 0 are on every grid; any other number, or a constant beside the values, is on none.
  // CHECK-LABEL: func.func @added_numbers
  // CHECK:         tosa.pad
  // CHECK-NEXT:    tosa.pad
  // CHECK-NEXT:    tpc.quantize {{.*}} as "pad_1" activation
  // CHECK-NEXT:    tosa.concat
  // CHECK-NEXT:    tpc.quantize {{.*}} as "concat" activation
  func.func @added_numbers(%arg0: tensor<4xf32>) -> tensor<10xf32> {
    %zero = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
    %third = "tosa.const"() {values = dense<0.3> : tensor<1xf32>} : () -> tensor<1xf32>
    %constant = "tosa.const"() {values = dense<[0.3, 0.1]> : tensor<2xf32>} : () -> tensor<2xf32>
    %ends = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
    %0 = tosa.pad %arg0, %ends, %zero : (tensor<4xf32>, !tosa.shape<2>, tensor<1xf32>) -> tensor<6xf32>
    %1 = tosa.pad %0, %ends, %third : (tensor<6xf32>, !tosa.shape<2>, tensor<1xf32>) -> tensor<8xf32>
    %2 = tosa.concat %1, %constant {axis = 0 : i32} : (tensor<8xf32>, tensor<2xf32>) -> tensor<10xf32>
    return %2 : tensor<10xf32>
  }

  // The larger of two values.
  // CHECK-LABEL: func.func @larger_value
  // CHECK:         tosa.maximum
  // CHECK-NEXT:    tpc.quantize {{.*}} as "maximum" activation
  func.func @larger_value(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %constant = "tosa.const"() {values = dense<-0.4> : tensor<1xf32>} : () -> tensor<1xf32>
    %0 = tosa.maximum %arg0, %constant : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }

  // The input's point covers what is moved from it.
  // WHY-LABEL: function input_covers_what_is_moved_from_it
  // WHY:         result: no point, its values are those of point arg0
  func.func @input_covers_what_is_moved_from_it(%arg0: tensor<4xf32>) -> tensor<8xf32> {
    %0 = tosa.concat %arg0, %arg0 {axis = 0 : i32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

//--- repeated.mlir
// The target has a point after what moves values, too, whose config says so.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#moves = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = false, preserving = true, default_weight = #w>
// REPEATED-DAG: #[[$MOVES:.*]] = #tpc.op_quant_config<{{.*}}preserving = true
module attributes {tpc.target = @npu} {
  tpc.platform @npu insert_preserving_quantizers default(#tpc.qc_options<[#act8]>)
    operator_sets [#tpc.operator_set<"Reverse", options = #tpc.qc_options<[#moves]>>]
  tpc.binding @npu_on_tosa for @npu [#tpc.ops_of<"Reverse", [#tpc.op<"tosa.reverse">]>]
  // REPEATED:      tosa.exp
  // REPEATED-NEXT: tpc.quantize {{.*}} as "exp"
  // REPEATED-NEXT: tosa.reverse
  // REPEATED-NEXT: tpc.quantize {{.*}} as "reverse" activation config(#[[$MOVES]]) : tensor<4xf32>
  // REPEATED-NEXT: return
  // WHY-REPEATED:  reverse (tosa.reverse)
  // WHY-REPEATED:    result: point, with the parameters of point exp
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tosa.reverse %0 {axis = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

//--- means.mlir
// Means are no values of their input: they are rounded to its grid, whatever the target says of other movements.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#moves = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = false, preserving = true, default_weight = #w>
#preserved = #tpc.qc_options<[#moves]>
// MEANS-DAG: #[[$KEPT:.*]] = #tpc.op_quant_config<{{.*}}preserving = true
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act8]>)
    operator_sets [#tpc.operator_set<"AvgPool", options = #preserved>, #tpc.operator_set<"MaxPool", options = #preserved>]
  tpc.binding @npu_on_tosa for @npu [
    #tpc.ops_of<"AvgPool", [#tpc.op<"tosa.avg_pool2d">]>, #tpc.ops_of<"MaxPool", [#tpc.op<"tosa.max_pool2d">]>]
  // MEANS:      = tosa.avg_pool2d
  // MEANS-NEXT: tpc.quantize {{.*}} as "avg_pool2d" activation config(#[[$KEPT]]) : tensor<1x2x2x1xf32>
  // MEANS-NEXT: tosa.max_pool2d
  // MEANS-NEXT: return
  // WHY-MEANS:  avg_pool2d (tosa.avg_pool2d)
  // WHY-MEANS:    result: point, with the parameters of point arg0
  // WHY-MEANS:  max_pool2d (tosa.max_pool2d)
  // WHY-MEANS:    result: no point, its values are those of point arg0
  func.func @main(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x1x1x1xf32> {
    %zero = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
    %0 = tosa.avg_pool2d %arg0, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>}
           : (tensor<1x4x4x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
    %1 = tosa.max_pool2d %0 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>}
           : (tensor<1x2x2x1xf32>) -> tensor<1x1x1x1xf32>
    return %1 : tensor<1x1x1x1xf32>
  }
}

//--- both.mlir
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#both = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], preserving = true, default_weight = #w>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act8]>) operator_sets [#tpc.operator_set<"Exp", options = #tpc.qc_options<[#both]>>]
  tpc.binding @npu_on_tosa for @npu [#tpc.ops_of<"Exp", [#tpc.op<"tosa.exp">]>]
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{has a configuration with both 'act_enabled' and 'preserving', which exclude each other; change operator set 'Exp' of the target}}
    %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
