// RUN: mct-opt %s --mct-insert-quantizers 2>/dev/null | FileCheck %s
// RUN: mct-opt %s --mct-insert-quantizers 2>&1 >/dev/null | FileCheck %s --check-prefix=SAID

// Where the base has other bits than the file, the operator takes the alternative that has them, for all of its points.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#k8 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#k4 = #tpc.attr_quant_config<method = symmetric, bits = 4, enabled = true>
#act = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], default_weight = #w>
#a8w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #k4}, default_weight = #w>
#a8w8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #k8}, default_weight = #w>
#a16w8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], weights = {kernel_attr = #k8}, default_weight = #w>
// CHECK-DAG: #[[$K8:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
// CHECK-DAG: #[[$K4:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 4, enabled = true>
// CHECK-DAG: #[[$A8W4:.*]] = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #[[$K4]]}
// CHECK-DAG: #[[$A16:.*]] = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], weights = {kernel_attr = #[[$K8]]}
module attributes {tpc.target = @npu} {
  tpc.platform @npu default(#tpc.qc_options<[#act]>)
    operator_sets [#tpc.operator_set<"Conv", options = #tpc.qc_options<[#a8w4, #a8w8, #a16w8], base = #a8w8>>]
  tpc.binding @npu_on_tosa for @npu [#tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">], weights = {kernel_attr = 1}>]

  // CHECK-LABEL: func.func @narrow_kernel
  // CHECK:         as "narrow" weight "kernel_attr" config(#[[$K4]]) parameters(#tpc.symmetric<threshold = [1.000000e+00], bits = 4>) selection(#tpc.selection<error_method = imported>)
  // CHECK:         as "narrow" activation config(#[[$A8W4]]) : tensor
  func.func @narrow_kernel(%x: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
    %k = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %w = tpc.quantize %k as "narrow" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 4>) selection(#tpc.selection<error_method = imported>) : tensor<1x1x1x1xf32>
    %0 = tosa.conv2d %x, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32> loc("narrow")
    return %0 : tensor<1x4x4x1xf32>
  }

  // A kernel of 8 bits and a result of 16 are one alternative.
  // CHECK-LABEL: func.func @wide_result
  // CHECK:         as "wide" weight "kernel_attr" config(#[[$K8]]) parameters(#tpc.symmetric<threshold = [1.000000e+00], bits = 8>)
  // CHECK:         as "wide" activation config(#[[$A16]]) parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 16>) selection(#tpc.selection<error_method = imported>)
  func.func @wide_result(%x: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
    %k = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %w = tpc.quantize %k as "wide" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 8>) selection(#tpc.selection<error_method = imported>) : tensor<1x1x1x1xf32>
    %0 = tosa.conv2d %x, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32> loc("wide")
    %1 = tpc.quantize %0 as "wide" activation parameters(#tpc.symmetric<threshold = [4.0], bits = 16>) selection(#tpc.selection<error_method = imported>) : tensor<1x4x4x1xf32>
    return %1 : tensor<1x4x4x1xf32>
  }

  // There is none with a kernel of 4 bits and a result of 16: what comes second, the kernel or the result, is chosen anew.
  // SAID-COUNT-1: warning: {{.*}}the target cannot hold the parameters that 'both{{.*}} has in its file
  // SAID-NOT:     warning
  func.func @both(%x: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
    %k = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %w = tpc.quantize %k as "both" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 4>) selection(#tpc.selection<error_method = imported>) : tensor<1x1x1x1xf32>
    %0 = tosa.conv2d %x, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32> loc("both")
    %1 = tpc.quantize %0 as "both" activation parameters(#tpc.symmetric<threshold = [4.0], bits = 16>) selection(#tpc.selection<error_method = imported>) : tensor<1x4x4x1xf32>
    return %1 : tensor<1x4x4x1xf32>
  }
}
