// A target that derives from another one goes, too.
// RUN: mct-opt %s --mct-lower-to-quant | FileCheck %s
// CHECK-NOT: tpc.
// CHECK: func.func @main
// CHECK-NOT: tpc.
tpc.derive @my_npu from "imx500" type("my_npu") version 1, 0
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
