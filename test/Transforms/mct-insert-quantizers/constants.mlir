// RUN: mct-opt %s --mct-insert-quantizers | FileCheck %s

// Constants of Add, Concat and Gather are weights here, per channel; those of Mul are not.
#off = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#on = #tpc.attr_quant_config<method = power_of_two, bits = 8, per_channel = true, enabled = true>
#on4 = #tpc.attr_quant_config<method = power_of_two, bits = 4, enabled = true>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #off>
#default_on = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #on>
#named_on = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], weights = {pos_attr = #on4}, default_weight = #off>
// CHECK-DAG: #[[$ON:.*]] = #tpc.attr_quant_config<method = power_of_two, bits = 8, per_channel = true, enabled = true>
// CHECK-DAG: #[[$ON4:.*]] = #tpc.attr_quant_config<method = power_of_two, bits = 4, enabled = true>
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act8]>)
    operator_sets [
      #tpc.operator_set<"Add", options = #tpc.qc_options<[#default_on]>>,
      #tpc.operator_set<"Concat", options = #tpc.qc_options<[#named_on]>>,
      #tpc.operator_set<"Gather", options = #tpc.qc_options<[#default_on]>>,
      #tpc.operator_set<"Sub", options = #tpc.qc_options<[#default_on]>>
    ]
  tpc.binding @npu_on_tosa for @npu [
    #tpc.ops_of<"Add", [#tpc.op<"tosa.add">]>, #tpc.ops_of<"Concat", [#tpc.op<"tosa.concat">]>,
    #tpc.ops_of<"Gather", [#tpc.op<"tosa.gather">]>, #tpc.ops_of<"Sub", [#tpc.op<"tosa.avg_pool2d">, #tpc.op<"tosa.scatter">, #tpc.op<"linalg.select">,
      #tpc.op<"tensor.concat">, #tpc.op<"tosa.greater">, #tpc.op<"tosa.reshape">]>
  ]

  // CHECK-LABEL: func.func @default_weight_config_enables_a_constant
  // CHECK:         tpc.quantize {{.*}} as "add" weight "pos_attr" axes [1] config(#[[$ON]]) : tensor<1x2xf32>
  func.func @default_weight_config_enables_a_constant(%arg0: tensor<4x2xf32>) -> tensor<4x2xf32> {
    %c = "tosa.const"() <{values = dense<[[1.0, 2.0]]> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
    %0 = tosa.add %arg0, %c : (tensor<4x2xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
    return %0 : tensor<4x2xf32>
  }

  // What fills the place that a result is added to is no value of the network.
  // CHECK-LABEL: func.func @constants_that_are_repeated_have_no_point
  // CHECK:         linalg.fill
  // CHECK-NEXT:    linalg.broadcast
  // CHECK-NEXT:    linalg.conv_2d_nhwc_hwcf
  // CHECK-NEXT:    tpc.quantize
  func.func @constants_that_are_repeated_have_no_point(%arg0: tensor<1x2x2x1xf32>, %kernel: tensor<1x1x1x2xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) {
    %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %n = arith.constant 1.0 : f32
    %e = tensor.empty() : tensor<1x2x2x2xf32>
    %f = linalg.fill ins(%n : f32) outs(%e : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
    %b = linalg.broadcast ins(%c : tensor<2xf32>) outs(%e : tensor<1x2x2x2xf32>) dimensions = [0, 1, 2]
    %0 = linalg.conv_2d_nhwc_hwcf ins(%arg0, %kernel : tensor<1x2x2x1xf32>, tensor<1x1x1x2xf32>) outs(%b : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
    return %0, %f : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>
  }

  // CHECK-LABEL: func.func @broadcast_constant_has_one_parameter
  // CHECK:         tpc.quantize {{.*}} as "add" weight "pos_attr" config(#[[$ON]]) : tensor<1x1xf32>
  func.func @broadcast_constant_has_one_parameter(%arg0: tensor<4x2xf32>) -> tensor<4x2xf32> {
    %c = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
    %0 = tosa.add %arg0, %c : (tensor<4x2xf32>, tensor<1x1xf32>) -> tensor<4x2xf32>
    return %0 : tensor<4x2xf32>
  }

  // CHECK-LABEL: func.func @several_constants_have_numbers
  // CHECK-DAG:     tpc.quantize {{.*}} as "concat" weight "pos_attr_0" config(#[[$ON4]]) : tensor<2xf32>
  // CHECK-DAG:     tpc.quantize {{.*}} as "concat" weight "pos_attr_2" config(#[[$ON4]]) : tensor<2xf32>
  func.func @several_constants_have_numbers(%arg0: tensor<2xf32>) -> tensor<6xf32> {
    %a = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
    %b = "tosa.const"() <{values = dense<[3.0, 4.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
    %0 = tosa.concat %a, %arg0, %b {axis = 0 : i32} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }

  // The table is a weight, the indices are not.
  // CHECK-LABEL: func.func @table_of_a_gather
  // CHECK:         %[[TABLE:.*]] = tpc.quantize {{.*}} as "gather" weight "pos_attr" axes [2] config(#[[$ON]]) : tensor<1x3x2xf32>
  // CHECK-NEXT:    tosa.gather %[[TABLE]], %
  func.func @table_of_a_gather(%arg0: tensor<1x4xi32>) -> tensor<1x4x2xf32> {
    %c = "tosa.const"() <{values = dense<1.0> : tensor<1x3x2xf32>}> : () -> tensor<1x3x2xf32>
    %0 = tosa.gather %c, %arg0 : (tensor<1x3x2xf32>, tensor<1x4xi32>) -> tensor<1x4x2xf32>
    return %0 : tensor<1x4x2xf32>
  }

  // The platform's default does not enable constants; zero points are parameters of an op whatever its config says.
  // CHECK-LABEL: func.func @others_stay_float
  // CHECK-NOT:     weight
  // CHECK:         return
  func.func @others_stay_float(%arg0: tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> {
    %c = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
    %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %0 = tosa.mul %arg0, %c, %shift : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
    %1 = tosa.avg_pool2d %0, %zero, %zero {acc_type = f32, kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
    return %1 : tensor<1x2x2x2xf32>
  }

  // CHECK-LABEL: func.func @input_of_a_scatter
  // CHECK:         tpc.quantize {{.*}} as "scatter" weight "pos_attr" axes [2] config(#[[$ON]]) : tensor<1x2x2xf32>
  func.func @input_of_a_scatter(%arg0: tensor<1x3x2xf32>, %at: tensor<1x2xi32>) -> tensor<1x3x2xf32> {
    %c = "tosa.const"() <{values = dense<1.0> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
    %0 = tosa.scatter %arg0, %at, %c : (tensor<1x3x2xf32>, tensor<1x2xi32>, tensor<1x2x2xf32>) -> tensor<1x3x2xf32>
    return %0 : tensor<1x3x2xf32>
  }

  // CHECK-LABEL: func.func @concatenation_of_tensor
  // CHECK:         tpc.quantize {{.*}} as "concat" weight "pos_attr" {{.*}}config(#[[$ON]]) : tensor<2xf32>
  func.func @concatenation_of_tensor(%arg0: tensor<2xf32>) -> tensor<4xf32> {
    %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %0 = tensor.concat dim(0) %arg0, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }

  // What is written to is no number of the result.
  // CHECK-LABEL: func.func @selected_by_linalg
  // CHECK:         tpc.quantize {{.*}} as "select" weight "pos_attr" {{.*}}config(#[[$ON]]) : tensor<2xf32>
  // CHECK-NOT:     weight
  // CHECK:         return
  func.func @selected_by_linalg(%arg0: tensor<2xf32>, %which: tensor<2xi1>) -> tensor<2xf32> {
    %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %old = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
    %0 = linalg.select ins(%which, %arg0, %c : tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) outs(%old : tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }

  // A comparison makes no number, and what is only moved is no number beside others.
  // CHECK-LABEL: func.func @compared_or_moved_alone
  // CHECK-NOT:     weight
  // CHECK:         return
  func.func @compared_or_moved_alone(%arg0: tensor<2xf32>) -> (tensor<2xi1>, tensor<1x2xf32>) {
    %c = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
    %shape = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %0 = tosa.greater %arg0, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %1 = tosa.reshape %c, %shape : (tensor<2xf32>, !tosa.shape<2>) -> tensor<1x2xf32>
    return %0, %1 : tensor<2xi1>, tensor<1x2xf32>
  }
}
