// Ops that decode the places of objects stay float, and what they read is quantized.
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers=decode=quantize | FileCheck %s --check-prefix=QUANTIZE
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --tpc-explain -o /dev/null | FileCheck %s --check-prefix=WHY
// RUN: echo 'decoding activation=8' > %t.rules
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers=overrides=%t.rules 2>/dev/null | FileCheck %s --check-prefix=RULE

// A grid of cells. The chain of convolution and sigmoid, which the target runs as one, ends in front of what decodes: the
// target computes the convolution, whose result has the point.
// REMARK:        remark: {{.*}}3 ops that decode the places of objects stay float; they read 'head' (decode=float|quantize|cut)
// CHECK-LABEL:   func.func @cells
// CHECK:           tpc.quantize {{.*}} as "head" weight "kernel_attr"
// CHECK:           %[[HEAD:.*]] = tpc.quantize {{.*}} as "head" activation
// CHECK-NEXT:      tosa.sigmoid %[[HEAD]]
// CHECK-NOT:       tpc.quantize
// CHECK:           return
// QUANTIZE-LABEL:   func.func @cells
// QUANTIZE-NOT:       tpc.overrides
// QUANTIZE:           tpc.quantize {{.*}} as "sigmoid" activation {{.*}} group(["head", "sigmoid"])
// QUANTIZE:           tpc.quantize {{.*}} as "places" activation
// RULE-LABEL:    func.func @cells
// RULE-SAME:       tpc.overrides = ["?decoding float", "decoding activation=8"]
// RULE:            tpc.quantize {{.*}} as "places" activation
// WHY-LABEL:     function cells
// WHY:           places (tosa.add)
// WHY:             result: float, because the override of decode=float:1 says so
func.func @cells(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x16x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shape = tosa.const_shape {values = dense<[1, 16, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %cells = "tosa.const"() <{values = dense<[[[0.0], [1.0], [2.0], [3.0], [0.0], [1.0], [2.0], [3.0], [0.0], [1.0], [2.0], [3.0], [0.0], [1.0], [2.0], [3.0]]]> : tensor<1x16x1xf32>}> : () -> tensor<1x16x1xf32>
  %kernel = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %arg0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32> loc("head")
  %1 = tosa.sigmoid %0 : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> loc("sigmoid")
  %2 = tosa.reshape %1, %shape : (tensor<1x4x4x1xf32>, !tosa.shape<3>) -> tensor<1x16x1xf32>
  %3 = tosa.add %2, %cells : (tensor<1x16x1xf32>, tensor<1x16x1xf32>) -> tensor<1x16x1xf32> loc("places")
  return %3 : tensor<1x16x1xf32>
}

// The mean of bins is no layer, although it is a convolution.
// REMARK:        remark: {{.*}}2 ops that decode the places of objects stay float; they read 'clamp'
// CHECK-LABEL:   func.func @bins
// CHECK:           %[[HEAD:.*]] = tpc.quantize {{.*}} as "clamp" activation {{.*}} group(["head", "clamp"])
// CHECK:           tosa.exp %[[HEAD]]
// CHECK-NOT:       tpc.quantize
// CHECK:           return
// QUANTIZE-LABEL:   func.func @bins
// QUANTIZE:           tpc.quantize {{.*}} as "mean" activation
func.func @bins(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %bins = "tosa.const"() <{values = dense<[[[[0.0, 1.0, 2.0, 3.0]]]]> : tensor<1x1x1x4xf32>}> : () -> tensor<1x1x1x4xf32>
  %kernel = "tosa.const"() <{values = dense<0.5> : tensor<4x1x1x1xf32>}> : () -> tensor<4x1x1x1xf32>
  %0 = tosa.conv2d %arg0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<4x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x4xf32> loc("head")
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> loc("clamp")
  %2 = tosa.exp %1 : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> loc("exp")
  %3 = tosa.conv2d %2, %bins, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x4xf32>, tensor<1x1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32> loc("mean")
  return %3 : tensor<1x4x4x1xf32>
}

// Peaks: what is the largest among its neighbours. An argument that only this part reads stays float, too.
// REMARK:        remark: {{.*}}4 ops that decode the places of objects stay float; they read 'head', 'arg1'
// CHECK-LABEL:   func.func @peaks
// CHECK-NOT:       as "arg1"
// CHECK:           %[[HEAD:.*]] = tpc.quantize {{.*}} as "head" activation
// CHECK-NEXT:      tosa.max_pool2d %[[HEAD]]
// CHECK-NOT:       tpc.quantize
// CHECK:           return
func.func @peaks(%arg0: tensor<1x4x4x1xf32>, %arg1: tensor<1x1x1x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %none = "tosa.const"() <{values = dense<0.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %kernel = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %arg0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32> loc("head")
  %1 = tosa.max_pool2d %0 {kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %2 = tosa.equal %0, %1 : (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xi1>
  %3 = tosa.select %2, %0, %none : (tensor<1x4x4x1xi1>, tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x1xf32>
  %4 = tosa.mul %3, %arg1, %shift : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x4x1xf32>
  return %4 : tensor<1x4x4x1xf32>
}

// A factor for each channel is no grid, although few values repeat.
// REMARK-NOT:    remark: {{.*}} decode
// CHECK-LABEL:   func.func @channels
// CHECK:           tpc.quantize {{.*}} as "scaled" activation
func.func @channels(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x16xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %factors = "tosa.const"() <{values = dense<[[[[0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0]]]]> : tensor<1x1x1x16xf32>}> : () -> tensor<1x1x1x16xf32>
  %kernel = "tosa.const"() <{values = dense<0.5> : tensor<16x1x1x1xf32>}> : () -> tensor<16x1x1x1xf32>
  %0 = tosa.conv2d %arg0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<16x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x16xf32> loc("head")
  %1 = tosa.mul %0, %factors, %shift : (tensor<1x4x4x16xf32>, tensor<1x1x1x16xf32>, tensor<1xi8>) -> tensor<1x4x4x16xf32> loc("scaled")
  return %1 : tensor<1x4x4x16xf32>
}

// Neither is a constant whose values do not repeat: it was trained.
// CHECK-LABEL:   func.func @trained
// CHECK:           tpc.quantize {{.*}} as "sum" activation
func.func @trained(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %map = "tosa.const"() <{values = dense<[[[[-1.0, 0.12], [0.85, 1.97], [2.7, 3.82], [4.55, 5.67]], [[1.591, 2.711], [3.441, 4.561], [5.291, 6.411], [7.141, 8.261]], [[4.182, 5.302], [6.032, 7.152], [7.882, 9.002], [9.732, -0.988]], [[6.773, 7.893], [8.623, 9.743], [10.473, -0.247], [0.483, 1.603]]]]> : tensor<1x4x4x2xf32>}> : () -> tensor<1x4x4x2xf32>
  %kernel = "tosa.const"() <{values = dense<0.5> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %0 = tosa.conv2d %arg0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("head")
  %1 = tosa.add %0, %map : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> loc("sum")
  return %1 : tensor<1x4x4x2xf32>
}

// A grid in front of a layer decodes nothing.
// CHECK-LABEL:   func.func @in_front
// CHECK:           tpc.quantize {{.*}} as "sum" activation
func.func @in_front(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %cells = "tosa.const"() <{values = dense<[[[[0.5, 0.5], [1.5, 0.5], [2.5, 0.5], [3.5, 0.5]], [[0.5, 1.5], [1.5, 1.5], [2.5, 1.5], [3.5, 1.5]], [[0.5, 2.5], [1.5, 2.5], [2.5, 2.5], [3.5, 2.5]], [[0.5, 3.5], [1.5, 3.5], [2.5, 3.5], [3.5, 3.5]]]]> : tensor<1x4x4x2xf32>}> : () -> tensor<1x4x4x2xf32>
  %0 = tosa.add %arg0, %cells : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> loc("sum")
  %kernel = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %1 = tosa.conv2d %0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32> loc("last")
  return %1 : tensor<1x4x4x1xf32>
}
