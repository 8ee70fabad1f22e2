// Constants beside codes are codes: numbers of one step of their own, those of a sum with the point that mct-simulate-integers gives
// them, those of a concatenation with that of the point after it. Numbers beside real values stay real.
// RUN: mct-translate --export-onnx --onnx-profile=qdq --onnx-format=text %s | FileCheck %s
// RUN: mct-translate --export-onnx --onnx-profile=qdq --onnx-activations=signed --onnx-format=text %s | FileCheck %s --check-prefix=SIGNED

// CHECK-DAG: uint8[1,1] scaled/number/codes = {1}
// CHECK-DAG: float scaled/number/scale = {0.300000012}
// CHECK-DAG: uint8 scaled/number/zero_point = {0}
// CHECK-DAG: uint8[1,1] less/number/codes = {0}
// CHECK-DAG: float less/number/scale = {0.699999988}
// CHECK-DAG: uint8 less/number/zero_point = {1}
// CHECK-DAG: uint8[1,4] shifted/pos_attr/codes = {144, 160, 112, 192}
// CHECK-DAG: float shifted/pos_attr/scale = {0.015625}
// CHECK-DAG: uint8[1,2] joined/part_0/codes = {144, 255}
// CHECK-DAG: float joined/part_0/scale = {0.0625}
// CHECK: Mul (x/quantized, scaled/number/quantized)
// CHECK: Add (less/number/quantized, x/quantized)
// CHECK: Add (shifted/pos_attr/quantized, x/quantized)
// CHECK: Concat <axis = 1> (joined/part_0/quantized, x/quantized)
// CHECK: [real] real = Mul (root, real/constant)

// SIGNED-DAG: int8[1,1] scaled/number/codes = {-127}
// SIGNED-DAG: int8 scaled/number/zero_point = {-128}
// SIGNED-DAG: int8[1,4] shifted/pos_attr/codes = {16, 32, -16, 64}
// SIGNED-DAG: int8[1,2] joined/part_0/codes = {16, 127}
func.func @main(%x: tensor<1x4xf32> loc("x"))
    -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x6xf32>, tensor<1x4xf32>) {
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %q = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4xf32>
  %n = "tosa.const"() <{values = dense<0.3> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %0 = tosa.mul %q, %n, %s : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32> loc("scaled")
  %1 = tpc.quantize %0 as "scaled" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x4xf32>
  %m = "tosa.const"() <{values = dense<-0.7> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %2 = tosa.add %m, %q : (tensor<1x1xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("less")
  %3 = tpc.quantize %2 as "less" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x4xf32>
  %c = "tosa.const"() <{values = dense<[[0.25, 0.5, -0.25, 1.0]]> : tensor<1x4xf32>}> : () -> tensor<1x4xf32>
  %4 = tosa.add %c, %q : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("shifted")
  %r = tosa.clamp %4 {min_val = 0.0 : f32, max_val = 3.4028235e+38 : f32} : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("limited")
  %5 = tpc.quantize %r as "limited" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, is_signed = false>) : tensor<1x4xf32>
  %d = "tosa.const"() <{values = dense<[[1.01, 9.0]]> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
  %6 = tosa.concat %d, %q {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x4xf32>) -> tensor<1x6xf32> loc("joined")
  %7 = tpc.quantize %6 as "joined" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x6xf32>
  %e = tosa.exp %q : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("root")
  %8 = tosa.mul %e, %n, %s : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32> loc("real")
  %9 = tpc.quantize %8 as "real" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x4xf32>
  return %1, %3, %5, %7, %9 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x6xf32>, tensor<1x4xf32>
}
