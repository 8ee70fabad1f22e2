// A location with an empty name, which importers write for layers without one, gives no name: points get a made one.
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers | FileCheck %s
// CHECK: tpc.quantize %arg0 as "arg0" activation
// CHECK: tpc.quantize %{{.*}} as "exp" activation
func.func @main(%arg0: tensor<1x4xf32> loc("")) -> tensor<1x4xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("")
  return %0 : tensor<1x4xf32>
}
