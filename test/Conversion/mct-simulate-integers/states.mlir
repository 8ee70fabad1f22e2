// The next value of a state is quantized on the grid on which the next run reads it. `b` is on that grid already, `c` has no point, and
// `d_next` is of another type.
// RUN: mct-opt %s --mct-simulate-integers | FileCheck %s
// RUN: mct-opt %s --mct-simulate-integers --mct-lower-to-integer=io=integer | FileCheck %s --check-prefix=INTEGER

// CHECK: [[NEXT:%.*]] = tosa.identity
// CHECK: [[POINT:%.*]] = tpc.quantize [[NEXT]] as "a_next" activation parameters(#tpc.power_of_two<threshold = [2.000000e+00], bits = 8, rounding = half_up>)
// CHECK-NOT: tpc.quantize
// CHECK: return %{{.*}}, [[POINT]],

// INTEGER-LABEL: func @main
// INTEGER-SAME: %arg1: tensor<1x2xi8> {tpc.initial_value = dense<{{\[\[}}64, -64]]> : tensor<1x2xi8>, tpc.quantized = {bits = 8 : i64, name = "a", scale = 1.562500e-02
// INTEGER-SAME: name = "a_next", scale = 1.562500e-02
// INTEGER-SAME: name = "b_next", scale = 3.125000e-02
// INTEGER-SAME: name = "c_next", scale = 3.125000e-02
// INTEGER-SAME: name = "sum", scale = 3.125000e-02
func.func @main(%x: tensor<1x2xf32> loc("x"),
                %a: tensor<1x2xf32> {tpc.initial_value = dense<[[1.0, -1.0]]> : tensor<1x2xf32>} loc("a"),
                %b: tensor<1x2xf32> loc("b"), %c: tensor<1x2xf32> loc("c"), %d: tensor<1x1xf32> loc("d"))
    -> (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) {
  %qx = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2xf32>
  %qa = tpc.quantize %a as "a" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x2xf32>
  %qb = tpc.quantize %b as "b" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2xf32>
  %qd = tpc.quantize %d as "d" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1xf32>
  %0 = tosa.add %qx, %qa : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32> loc("first")
  %1 = tosa.add %0, %qb : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32> loc("second")
  %2 = tosa.add %1, %c : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32> loc("third")
  %3 = tosa.add %2, %qd : (tensor<1x2xf32>, tensor<1x1xf32>) -> tensor<1x2xf32> loc("sum")
  %q = tpc.quantize %3 as "sum" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2xf32>
  %na = tosa.identity %q : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("a_next")
  %nb = tosa.identity %q : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("b_next")
  %nc = tosa.identity %q : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("c_next")
  %nd = tosa.identity %q : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("d_next")
  return %q, %na, %nb, %nc, %nd : tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>
}
