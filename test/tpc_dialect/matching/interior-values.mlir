// What a subgraph computes on its way gets no point, and its result gets that of its operator set.
// RUN: mct-opt %s --tpc-attach-target=target=imx500_v4_0 --mct-insert-quantizers | FileCheck %s

// CHECK-LABEL: func.func @gelu
// CHECK:         %[[X:.*]] = tpc.quantize %arg0
// CHECK-NOT:     tpc.quantize
// CHECK:         tosa.erf
// CHECK-NOT:     tpc.quantize
// CHECK:         %[[Y:.*]] = tosa.mul %[[X]], %{{.*}}
// CHECK-NEXT:    %[[Q:.*]] = tpc.quantize %[[Y]] {{.*}} range(#tpc.range<-1.700000e-01, ?>)
// CHECK-NEXT:    return %[[Q]]
func.func @gelu(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %root = "tosa.const"() <{values = dense<0.707106769> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %0 = tosa.mul %x, %root, %shift : (tensor<2x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2x4xf32>
  %1 = tosa.erf %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = tosa.add %1, %one : (tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
  %3 = tosa.mul %2, %half, %shift : (tensor<2x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2x4xf32>
  %4 = tosa.mul %x, %3, %shift : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<1xi8>) -> tensor<2x4xf32>
  return %4 : tensor<2x4xf32>
}
