// Values between layers of matrices are matrices, too: element-wise operators, slices and concatenations work on rows, with constants of
// that shape, where fewer reshapes are left so.
// RUN: mct-translate --export-onnx --onnx-profile=qdq --onnx-format=text %s | FileCheck %s

// One reshape in front of the first layer, one for a reader that is no row-wise operator, one where single rows are joined, and those
// after the last layers, whose results are those of the file.
// CHECK-LABEL: main (float[1,3,4] x)
// CHECK-DAG: uint8[3,2] shifted/pos_attr/codes/rows = {144, 160, 176, 192, 208, 224}
// CHECK-DAG: float[1,2] scaled/constant/rows = {0.5, 0.25}
// CHECK-DAG: int64[1] first/axes/rows = {0}
// CHECK-DAG: int64[1] left/axes/rows = {1}
// CHECK-DAG: uint8[1,2] joined/part_0/codes = {240, 255}
// CHECK: shifted/pos_attr/quantized/rows = DequantizeLinear (shifted/pos_attr/codes/rows, shifted/pos_attr/scale, shifted/pos_attr/zero_point)
// CHECK: first_layer/rows = Reshape (x/quantized
// CHECK: Gemm
// CHECK-NOT: Reshape
// CHECK: [left] left = Slice ({{.*}}, left/starts, left/ends, left/axes/rows)
// CHECK-NOT: Reshape
// CHECK: shifted = Add (left/quantized, shifted/pos_attr/quantized/rows)
// CHECK: scaled = Mul ({{.*}}, scaled/constant/rows)
// CHECK: scaled/quantized/whole = Reshape (scaled/quantized, scaled/quantized/whole/shape)
// CHECK: [largest] largest = ReduceMax (scaled/quantized/whole/quantized, largest/axes)
// CHECK-NOT: Reshape
// CHECK: [first] first = Slice ({{.*}}, first/starts, first/ends, first/axes/rows)
// CHECK: [joined] joined = Concat <axis = 1> (joined/part_0/quantized, first/quantized)
// CHECK: joined/rows = Reshape
// CHECK-NOT: Reshape
// CHECK: Gemm
// CHECK: [second_layer] second_layer = Reshape
// CHECK: Gemm
// CHECK: [third_layer] third_layer = Reshape
// CHECK-NOT: Reshape
func.func @main(%x: tensor<1x3x4xf32> loc("x")) -> (tensor<1x2x2xf32>, tensor<1x1x2xf32>, tensor<1x3x2xf32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zs = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %q = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x3x4xf32>
  %k = "tosa.const"() <{values = dense<0.5> : tensor<1x4x4xf32>}> : () -> tensor<1x4x4xf32>
  %b = "tosa.const"() <{values = dense<[[[0.25, -0.5, 0.0, 1.0]]]> : tensor<1x1x4xf32>}> : () -> tensor<1x1x4xf32>
  %w = tpc.quantize %k as "first_layer" weight "kernel_attr" parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x4x4xf32>
  %0 = tosa.matmul %q, %w, %z, %z : (tensor<1x3x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x4xf32>
  %1 = tosa.add %0, %b : (tensor<1x3x4xf32>, tensor<1x1x4xf32>) -> tensor<1x3x4xf32> loc("first_layer")
  %2 = tpc.quantize %1 as "first_layer" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x3x4xf32>
  %s0 = tosa.const_shape {values = dense<[0, 0, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %s1 = tosa.const_shape {values = dense<[1, 3, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %3 = tosa.slice %2, %s0, %s1 : (tensor<1x3x4xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x3x2xf32> loc("left")
  %c = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]]> : tensor<1x3x2xf32>}> : () -> tensor<1x3x2xf32>
  %cq = tpc.quantize %c as "shifted" weight "pos_attr" parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x3x2xf32>
  %4 = tosa.add %3, %cq : (tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<1x3x2xf32> loc("shifted")
  %d = "tosa.const"() <{values = dense<[[[0.5, 0.25]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %5 = tosa.mul %4, %d, %zs : (tensor<1x3x2xf32>, tensor<1x1x2xf32>, tensor<1xi8>) -> tensor<1x3x2xf32> loc("scaled")
  %sq = tpc.quantize %5 as "scaled" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x3x2xf32>
  %6 = tosa.reduce_max %sq {axis = 1 : i32} : (tensor<1x3x2xf32>) -> tensor<1x1x2xf32> loc("largest")
  %s2 = tosa.const_shape {values = dense<[0, 2, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %s3 = tosa.const_shape {values = dense<[1, 1, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %7 = tosa.slice %sq, %s2, %s3 : (tensor<1x3x2xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x1x2xf32> loc("first")
  %e = "tosa.const"() <{values = dense<[[[7.0, 8.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %8 = tosa.concat %e, %7 {axis = 1 : i32} : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x2x2xf32> loc("joined")
  %9 = tpc.quantize %8 as "joined" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x2x2xf32>
  %l = "tosa.const"() <{values = dense<0.5> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %f = "tosa.const"() <{values = dense<[[[0.25, -0.5]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %v = tpc.quantize %l as "second_layer" weight "kernel_attr" parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x2x2xf32>
  %10 = tosa.matmul %9, %v, %z, %z : (tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32>
  %11 = tosa.add %10, %f : (tensor<1x2x2xf32>, tensor<1x1x2xf32>) -> tensor<1x2x2xf32> loc("second_layer")
  %t = tpc.quantize %l as "third_layer" weight "kernel_attr" parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x2x2xf32>
  %12 = tosa.matmul %sq, %t, %z, %z : (tensor<1x3x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2xf32>
  %13 = tosa.add %12, %f : (tensor<1x3x2xf32>, tensor<1x1x2xf32>) -> tensor<1x3x2xf32> loc("third_layer")
  return %11, %6, %13 : tensor<1x2x2xf32>, tensor<1x1x2xf32>, tensor<1x3x2xf32>
}
