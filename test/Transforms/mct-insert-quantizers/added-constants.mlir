// Constants that are added have a point for targets whose kernels add codes to codes; the grid of the IMX500's first version has none.
// RUN: mct-opt %s --tpc-attach-target=target=tflite --mct-insert-quantizers | FileCheck %s
// RUN: mct-opt %s --tpc-attach-target=target=qnnpack --mct-insert-quantizers | FileCheck %s
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers | FileCheck %s --check-prefix=NONE

// CHECK-DAG: #[[$UNIFORM:.*]] = #tpc.attr_quant_config<method = uniform, bits = 8, enabled = true>
// CHECK-LABEL: func.func @positions
// CHECK: tpc.quantize {{.*}} as "position" weight "pos_attr" config(#[[$UNIFORM]]) : tensor<1x3x2xf32>
// CHECK-NOT: weight
// NONE-NOT: weight "pos_attr"
func.func @positions(%arg0: tensor<1x3x2xf32>) -> tensor<1x4x2xf32> {
  %c = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]]> : tensor<1x3x2xf32>}> : () -> tensor<1x3x2xf32>
  %0 = tosa.add %arg0, %c : (tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<1x3x2xf32> loc("position")
  %t = "tosa.const"() <{values = dense<[[[1.0, 2.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %1 = tosa.concat %t, %0 {axis = 1 : i32} : (tensor<1x1x2xf32>, tensor<1x3x2xf32>) -> tensor<1x4x2xf32> loc("token")
  return %1 : tensor<1x4x2xf32>
}
