// Integers are of 64 bits in a file, so that they are indices there; those of 32 bits at its boundary are converted. Rows
// of one table are those of a Gather, rows of a table for each sample those of a GatherND.
// RUN: mct-translate --export-onnx --onnx-profile=mct_quantizers --onnx-format=text %s | FileCheck %s

// CHECK: main (int64[1,3] ids, int32[1,3] narrow, bool[1,1,1] mask) => (float[1,3,2] masked, float[1,3,2] kept, float[2,2,1] pairs, int64[1,3] moved, float[1,3] back)
// CHECK: [narrow/wide] narrow/wide = Cast <to = 7> (narrow)
// CHECK-NEXT: [limited] limited = Clip (ids, limited/limit, limited/limit_1)
// CHECK-NEXT: [is_far] is_far = Greater (limited, is_far/constant)
// CHECK-NEXT: [moved] moved = Where (is_far, moved/constant, limited)
// CHECK-NEXT: [rows/indices] rows/indices = Reshape (moved, rows/shape)
// CHECK-NEXT: [rows] rows = Gather <axis = 1> (rows/constant, rows/indices)
// CHECK-NEXT: [masked] masked = Where (mask, rows, masked/constant)
// CHECK-NEXT: [not] not = Not (mask)
// CHECK-NEXT: [kept] kept = Where (not, rows, kept/constant)
// CHECK-NEXT: [sum] sum = Add (moved, narrow/wide)
// CHECK-NEXT: [real] real = Cast <to = 1> (sum)
// CHECK-NEXT: [halves] halves = Mul (real, halves/constant)
// CHECK-NEXT: [rounded/rounded] rounded/rounded = Round (halves)
// CHECK-NEXT: [rounded] rounded = Cast <to = 7> (rounded/rounded)
// CHECK: [pairs] pairs = GatherND <batch_dims = 1>
func.func @main(%ids: tensor<1x3xi64> loc("ids"), %narrow: tensor<1x3xi32> loc("narrow"), %mask: tensor<1x1x1xi1> loc("mask")) -> (tensor<1x3x2xf32>, tensor<1x3x2xf32>, tensor<2x2x1xf32>, tensor<1x3xi32>, tensor<1x3xf32>) {
  %table = "tosa.const"() <{values = dense<[[[0.5, -1.5], [2.5, 3.5], [-4.5, 5.5], [6.5, 7.5]]]> : tensor<1x4x2xf32>}> : () -> tensor<1x4x2xf32>
  %limited = tosa.clamp %ids {min_val = 0 : i64, max_val = 3 : i64} : (tensor<1x3xi64>) -> tensor<1x3xi64> loc("limited")
  %index = tosa.cast %limited : (tensor<1x3xi64>) -> tensor<1x3xi32> loc("index")
  %two = "tosa.const"() <{values = dense<2> : tensor<1x1xi32>}> : () -> tensor<1x1xi32>
  %far = tosa.greater %index, %two : (tensor<1x3xi32>, tensor<1x1xi32>) -> tensor<1x3xi1> loc("is_far")
  %others = "tosa.const"() <{values = dense<[[0, 1, 2]]> : tensor<1x3xi32>}> : () -> tensor<1x3xi32>
  %moved = tosa.select %far, %others, %index : (tensor<1x3xi1>, tensor<1x3xi32>, tensor<1x3xi32>) -> tensor<1x3xi32> loc("moved")
  %rows = tosa.gather %table, %moved : (tensor<1x4x2xf32>, tensor<1x3xi32>) -> tensor<1x3x2xf32> loc("rows")
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %masked = tosa.select %mask, %rows, %zero : (tensor<1x1x1xi1>, tensor<1x3x2xf32>, tensor<1x1x1xf32>) -> tensor<1x3x2xf32> loc("masked")
  %not = tosa.logical_not %mask : (tensor<1x1x1xi1>) -> tensor<1x1x1xi1> loc("not")
  %kept = tosa.select %not, %rows, %zero : (tensor<1x1x1xi1>, tensor<1x3x2xf32>, tensor<1x1x1xf32>) -> tensor<1x3x2xf32> loc("kept")
  %sum = tosa.add %moved, %narrow : (tensor<1x3xi32>, tensor<1x3xi32>) -> tensor<1x3xi32> loc("sum")
  %real = tosa.cast %sum : (tensor<1x3xi32>) -> tensor<1x3xf32> loc("real")
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %halves = tosa.mul %real, %half, %shift : (tensor<1x3xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x3xf32> loc("halves")
  %rounded = tosa.cast %halves : (tensor<1x3xf32>) -> tensor<1x3xi32> loc("rounded")
  %back = tosa.cast %rounded : (tensor<1x3xi32>) -> tensor<1x3xf32> loc("back")
  %s = tosa.const_shape {values = dense<[2, 3, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %pair = tosa.reshape %rows, %s : (tensor<1x3x2xf32>, !tosa.shape<3>) -> tensor<2x3x1xf32> loc("pair")
  %places = "tosa.const"() <{values = dense<[[0, 2], [1, 1]]> : tensor<2x2xi32>}> : () -> tensor<2x2xi32>
  %pairs = tosa.gather %pair, %places : (tensor<2x3x1xf32>, tensor<2x2xi32>) -> tensor<2x2x1xf32> loc("pairs")
  return %masked, %kept, %pairs, %moved, %back : tensor<1x3x2xf32>, tensor<1x3x2xf32>, tensor<2x2x1xf32>, tensor<1x3xi32>, tensor<1x3xf32>
}
