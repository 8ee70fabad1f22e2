// RUN: mct-opt %s --mct-add-gradient="function=f inputs=y,hidden results=1 name=slopes" --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=CHOSEN
// RUN: mct-opt %s --mct-add-gradient="function=f inputs=0 results=0 with-results=true" | FileCheck %s --check-prefix=RESULTS
// RUN: mct-opt %s --mct-add-gradient="function=clamps" | FileCheck %s --check-prefix=OPEN
// RUN: mct-opt %s --mct-add-gradient="function=clamps closed-clamps=true" | FileCheck %s --check-prefix=CLOSED
// RUN: mct-opt %s --mct-add-gradient="function=points" | FileCheck %s --check-prefix=MASK
// RUN: mct-opt %s --mct-add-gradient="function=points mask-points=false" | FileCheck %s --check-prefix=EVERYWHERE
// RUN: mct-opt %s --mct-add-gradient="function=steps remarks=true" --verify-diagnostics | FileCheck %s --check-prefix=STEPS

// An argument by its name, and the value of an op; the result depends on it by the tangent's derivative 1 - h^2 only.
// CHOSEN-LABEL: func.func @slopes(
// CHOSEN-SAME:    %[[X:[^ ]*]]: tensor<2xf32> loc("x"), %[[Y:[^ ]*]]: tensor<2xf32> loc("y"), %[[G:[^ ]*]]: tensor<2xf32> loc("second_gradient")) -> (tensor<2xf32>, tensor<2xf32>)
// CHOSEN:         %[[HIDDEN:.*]] = tosa.add %[[X]], %[[Y]] {{.*}} loc("hidden")
// CHOSEN:         %[[SECOND:.*]] = tosa.tanh %[[HIDDEN]] {{.*}} loc("second")
// CHOSEN-NOT:     tosa.exp
// CHOSEN:         tosa.identity {{.*}} loc("y_gradient")
// CHOSEN:         tosa.identity {{.*}} loc("hidden_gradient")

// RESULTS-LABEL: func.func @f_gradient(
// RESULTS-SAME:    tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// RESULTS:         %[[FIRST:.*]] = tosa.exp
// RESULTS-NOT:     tosa.tanh
// RESULTS:         return %[[FIRST]], %{{.*}} : tensor<2xf32>, tensor<2xf32>
func.func @f(%x: tensor<2xf32> loc("x"), %y: tensor<2xf32> loc("y")) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = tosa.add %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("hidden")
  %1 = tosa.exp %0 : (tensor<2xf32>) -> tensor<2xf32> loc("first")
  %2 = tosa.tanh %0 : (tensor<2xf32>) -> tensor<2xf32> loc("second")
  return %1, %2 : tensor<2xf32>, tensor<2xf32>
}

// OPEN-LABEL: func.func @clamps_gradient
// OPEN-NOT:     tosa.greater_equal
// OPEN:         tosa.greater
// CLOSED-LABEL: func.func @clamps_gradient
// CLOSED-NOT:     tosa.greater %
// CLOSED:         tosa.greater_equal
func.func @clamps(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tosa.clamp %x {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// Codes from -8 to 7 in steps of 1/4, and the halves that round to them: -8.5 does, 7.5 is even more than 7.
// MASK-LABEL: func.func @points_gradient(
// MASK-SAME:    %[[X:.*]]: tensor<2xf32>, %[[G:.*]]: tensor<2xf32>)
// MASK-DAG:     %[[LOW:.*]] = "tosa.const"() <{values = dense<-2.125000e+00> : tensor<1xf32>}>
// MASK-DAG:     %[[HIGH:.*]] = "tosa.const"() <{values = dense<1.87499988> : tensor<1xf32>}>
// MASK-DAG:     %[[ABOVE:.*]] = tosa.greater_equal %[[X]], %[[LOW]]
// MASK-DAG:     %[[BELOW:.*]] = tosa.greater_equal %[[HIGH]], %[[X]]
// MASK:         %[[INSIDE:.*]] = tosa.logical_and %[[ABOVE]], %[[BELOW]]
// MASK:         tosa.select %[[INSIDE]], %[[G]]
// EVERYWHERE-LABEL: func.func @points_gradient(
// EVERYWHERE-NOT:     tosa.select
// EVERYWHERE:         return
func.func @points(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tpc.quantize %x as "p" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 4, is_signed = true>) : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// The second result is not reached by the gradient, the first one by the sum only.
// STEPS-LABEL: func.func @steps_gradient(
// STEPS-SAME:    %{{.*}}: tensor<2xf32>, %{{.*}}: tensor<2xi32>, %[[G:.*]]: tensor<2xf32>) -> tensor<2xf32>
// STEPS-NEXT:    %[[SAME:.*]] = tosa.identity %[[G]]
// STEPS-NEXT:    return %[[SAME]]
func.func @steps(%x: tensor<2xf32>, %i: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xi1>) {
  // expected-remark @below {{passes no gradient: its result is piecewise constant}}
  %0 = tosa.floor %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = tosa.add %x, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = tosa.greater %x, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return %1, %2 : tensor<2xf32>, tensor<2xi1>
}
