// An op of linalg that TOSA has no form for stays as it is, with the reason.
// RUN: mct-opt %s --mct-raise-linalg --tpc-attach-target=target=imx500 --tpc-explain -o /dev/null | FileCheck %s
// RUN: mct-opt %s --mct-raise-linalg --tpc-attach-target=target=imx500 --tpc-explain=format=json -o /dev/null | FileCheck %s --check-prefix=JSON
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --tpc-explain -o /dev/null | FileCheck %s --check-prefix=BEFORE

// CHECK:      diagonal (linalg.generic)
// CHECK-NEXT:   operator set: none matches, the default applies
// CHECK-NEXT:   not raised to TOSA: it has a form that TOSA has no ops for
// CHECK:      sum (tosa.add)
// CHECK-NEXT:   operator set: Add
// CHECK-NOT:  not raised

// Ops that can be raised have no reason.
// BEFORE:     diagonal (linalg.generic)
// BEFORE-NEXT:   operator set: none matches, the default applies
// BEFORE-NEXT:   not raised to TOSA: it has a form that TOSA has no ops for
// BEFORE:     sum (linalg.add)
// BEFORE-NOT: not raised

// JSON:     "name": "diagonal"
// JSON:     "why_not_raised": "has a form that TOSA has no ops for"
// JSON-NOT: "why_not_raised"
func.func @main(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
         ins(%x : tensor<4x4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4xf32> loc("diagonal")
  %1 = linalg.add ins(%0, %0 : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32> loc("sum")
  return %1 : tensor<4xf32>
}
