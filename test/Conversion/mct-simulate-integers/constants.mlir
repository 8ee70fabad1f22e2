// Kernels that round halves to even add codes to codes: constants of sums get a point of the kind of the one after it. Those of sums
// that something else reads, of values without a point, and of differences, get none.
// RUN: mct-opt %s --mct-simulate-integers=rounding=half-even | FileCheck %s
// RUN: mct-opt %s --mct-simulate-integers | FileCheck %s --check-prefix=UP

// CHECK: tpc.quantize %{{.*}} as "powers" weight "pos_attr" parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 8>)
// CHECK: tpc.quantize %{{.*}} as "uniform" weight "pos_attr" parameters(#tpc.uniform<
// CHECK-NOT: weight "pos_attr"
// UP-NOT: weight "pos_attr"
func.func @main(%x: tensor<1x4xf32> loc("x"))
    -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  %q = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4xf32>
  %c = "tosa.const"() <{values = dense<[[0.25, 0.5, -0.25, 0.9]]> : tensor<1x4xf32>}> : () -> tensor<1x4xf32>
  %n = "tosa.const"() <{values = dense<0.3> : tensor<1x4xf32>}> : () -> tensor<1x4xf32>
  %0 = tosa.add %q, %c : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("powers")
  %1 = tpc.quantize %0 as "powers" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x4xf32>
  %2 = tosa.add %c, %q : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("uniform")
  %3 = tpc.quantize %2 as "uniform" activation parameters(#tpc.uniform<scale = [0.03125], zero_point = [100], bits = 8>) : tensor<1x4xf32>
  %4 = tosa.add %q, %c : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("returned")
  %5 = tosa.add %x, %c : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("real")
  %6 = tpc.quantize %5 as "real" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x4xf32>
  %7 = tosa.add %q, %n : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("number")
  %8 = tpc.quantize %7 as "number" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x4xf32>
  %11 = tosa.sub %q, %c : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("difference")
  %12 = tpc.quantize %11 as "difference" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x4xf32>
  %9 = tosa.add %q, %c : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("precise")
  %10 = tpc.quantize %9 as "precise" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 16>) : tensor<1x4xf32>
  return %12, %1, %3, %4, %6, %8, %10 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}
