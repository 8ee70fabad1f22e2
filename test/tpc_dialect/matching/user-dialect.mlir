// Ops of a dialect that nobody registered are quantized by what data says of them.
// RUN: mct-opt %s --allow-unregistered-dialect --tpc-attach-target=target=%S/Inputs/my_dialect.mlir --mct-insert-quantizers | FileCheck %s

// CHECK-DAG:   #[[$KERNEL:.*]] = #tpc.attr_quant_config<method = symmetric, bits = 4, per_channel = true, enabled = true>
// CHECK-DAG:   #[[$TABLE:.*]] = #tpc.attr_quant_config<method = power_of_two, bits = 8, enabled = true>

// CHECK-LABEL: func.func @main
// CHECK:         %[[X:.*]] = tpc.quantize %{{.*}} as "arg0" activation
// CHECK:         %[[K:.*]] = tpc.quantize %{{.*}} as "conv" weight "kernel_attr" axes [3] config(#[[$KERNEL]]) :
// CHECK:         %[[C:.*]] = "mine.conv"(%[[X]], %[[K]])
// CHECK-NEXT:    %[[R:.*]] = "mine.relu"(%[[C]])
// CHECK-NEXT:    %[[Q:.*]] = tpc.quantize %[[R]] as "relu" activation {{.*}} group(["conv", "relu"]) range(#tpc.range<0.000000e+00, ?>)
// CHECK:         %[[T:.*]] = tpc.quantize %{{.*}} as "lookup" weight "table_attr" config(#[[$TABLE]]) :
// CHECK:         %[[L:.*]] = "mine.lookup"(%[[Q]], %[[T]])
// CHECK-NEXT:    %[[P:.*]] = tpc.quantize %[[L]] as "lookup" activation
// CHECK-NEXT:    %[[I:.*]] = "mine.index"(%[[P]])
// CHECK-NEXT:    return %[[I]]
func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4xf32> {
  %k = arith.constant dense<1.0> : tensor<3x3x2x5xf32>
  %t = arith.constant dense<1.0> : tensor<16xf32>
  %0 = "mine.conv"(%x, %k) {groups = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x5xf32>) -> tensor<1x4x4x5xf32>
  %1 = "mine.relu"(%0) : (tensor<1x4x4x5xf32>) -> tensor<1x4x4x5xf32>
  %2 = "mine.lookup"(%1, %t) : (tensor<1x4x4x5xf32>, tensor<16xf32>) -> tensor<1x4x4x5xf32>
  %3 = "mine.index"(%2) : (tensor<1x4x4x5xf32>) -> tensor<1x4xf32>
  return %3 : tensor<1x4xf32>
}

// The filter does not hold: no operator set, so the platform's default, without a kernel.
// CHECK-LABEL: func.func @grouped
// CHECK-NOT:     weight
// CHECK:         "mine.conv"
// CHECK-NEXT:    tpc.quantize {{.*}} as "conv" activation
func.func @grouped(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x5xf32> {
  %k = arith.constant dense<1.0> : tensor<3x3x1x5xf32>
  %0 = "mine.conv"(%x, %k) {groups = 2 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x1x5xf32>) -> tensor<1x4x4x5xf32>
  return %0 : tensor<1x4x4x5xf32>
}
