// RUN: mct-opt %s --tpc-attach-target=target=imx500 | FileCheck %s

// CHECK:      module attributes {tpc.target = @imx500_tpc}
// CHECK-NEXT:   tpc.platform @imx500_tpc type("imx500") version 1, 0 simd_padding default(#options) operator_sets [
// CHECK:        tpc.binding @imx500_tpc_on_tosa for @imx500_tpc [
// CHECK:        tpc.framework @tosa [
// CHECK:        func.func @relu(
// CHECK-NEXT:     tosa.clamp
module {
  func.func @relu(%x: tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32> {
    %0 = tosa.clamp %x {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32}
           : (tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
    return %0 : tensor<1x8x8x16xf32>
  }
}
