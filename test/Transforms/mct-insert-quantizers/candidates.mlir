// RUN: mct-opt %s --mct-insert-quantizers | FileCheck %s
// RUN: mct-opt %s --tpc-explain -o /dev/null | FileCheck %s --check-prefix=WHY

// Four alternatives, not in order. They are sorted by the width of the kernel, then of the result, and those that
// quantize the same stand there once. The points of an operator list them in one order.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#k8 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#k4 = #tpc.attr_quant_config<method = symmetric, bits = 4, enabled = true>
#act = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], default_weight = #w>
#a8w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #k4}, default_weight = #w>
#a8w8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #k8}, default_weight = #w>
#a16w8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], weights = {kernel_attr = #k8}, default_weight = #w>
#a16w8_simd = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], simd_size = 32, weights = {kernel_attr = #k8}, default_weight = #w>
// CHECK-DAG: #[[$K8:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
// CHECK-DAG: #[[$K4:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 4, enabled = true>
// CHECK-DAG: #[[$A8:.*]] = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #[[$K8]]}
// CHECK-DAG: #[[$A8W4:.*]] = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #[[$K4]]}
// CHECK-DAG: #[[$A16:.*]] = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], weights = {kernel_attr = #[[$K8]]}
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act]>)
    operator_sets [
      #tpc.operator_set<"Conv", options = #tpc.qc_options<[#a8w4, #a8w8, #a16w8, #a16w8_simd], base = #a8w8>>,
      #tpc.operator_set<"ReLU">
    ]
    fusing [#tpc.fusing<["Conv", "ReLU"]>]
  tpc.binding @npu_on_tosa for @npu [
    #tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">], weights = {kernel_attr = 1}>,
    #tpc.ops_of<"ReLU", [#tpc.op<"tosa.clamp">]>
  ]

  // CHECK-LABEL: func.func @sorted_and_distinct
  // CHECK:         weight "kernel_attr" config(#[[$K8]]) candidates(#tpc.alternatives<of = "conv2d", configs = [#[[$K8]], #[[$K8]], #[[$K4]]], chosen = 1>)
  // CHECK:         as "conv2d" activation config(#[[$A8]]) candidates(#tpc.alternatives<of = "conv2d", configs = [#[[$A16]], #[[$A8]], #[[$A8W4]]], chosen = 1>)
  // WHY-LABEL: function sorted_and_distinct
  // WHY:         option 0: 8-bit {{.*}} kernel_attr 4-bit symmetric{{$}}
  // WHY-NEXT:    option 1 (base): 8-bit {{.*}} kernel_attr 8-bit symmetric{{$}}
  // WHY-NEXT:    option 2: 16-bit
  // WHY-NEXT:    option 3 (dropped): 16-bit {{.*}}; it quantizes nothing in another way than one before it
  func.func @sorted_and_distinct(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
    %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %0 = tosa.conv2d %arg0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
    return %0 : tensor<1x4x4x1xf32>
  }

  // Inside of a chain the result's width makes no difference; the base stands for its equals.
  // CHECK-LABEL: func.func @inner_candidates_differ_in_weights_only
  // CHECK:         weight "kernel_attr" config(#[[$K8]]) candidates(#tpc.alternatives<of = "conv2d", configs = [#[[$K8]], #[[$K4]]], chosen = 0>)
  // CHECK:         as "clamp" activation config(#{{.*}}) group(["conv2d", "clamp"])
  // WHY-LABEL: function inner_candidates_differ_in_weights_only
  // WHY:         option 0: 8-bit
  // WHY-NEXT:    option 1 (base): 8-bit
  // WHY-NEXT:    option 2 (dropped): 16-bit
  // WHY-NEXT:    option 3 (dropped): 16-bit
  func.func @inner_candidates_differ_in_weights_only(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
    %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %0 = tosa.conv2d %arg0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
    %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
    return %1 : tensor<1x4x4x1xf32>
  }
}
