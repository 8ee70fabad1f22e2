// RUN: mct-opt %s --mct-make-trainable | FileCheck %s --check-prefix=LSQ
// RUN: mct-opt %s --mct-make-trainable="weights=ste activations=ste" | FileCheck %s --check-prefix=STE
// RUN: mct-opt %s --mct-make-trainable="weights=ste activations=ste mask-clipped=false" | FileCheck %s --check-prefix=PASSED
// RUN: mct-opt %s --mct-make-trainable="weights=fixed activations=none" | FileCheck %s --check-prefix=FIXED
// RUN: mct-opt %s --mct-make-trainable="weights=soft-rounding activations=fixed gradual=true" | FileCheck %s --check-prefix=SOFT
// RUN: mct-opt %s --mct-make-trainable="weights=soft-rounding learn-scales=true activations=none" | FileCheck %s --check-prefix=SCALES
// RUN: mct-opt %s --mct-make-trainable="weights=perturbed-rounding activations=perturbed-rounding most-levels=2" | FileCheck %s --check-prefix=PERTURBED
// RUN: mct-opt %s --mct-make-trainable="weights=fixed function=other" | FileCheck %s --check-prefix=OTHER

// What has a trainable keeps it, a point without parameters and a weight that is
// computed get none, and a table of levels stays as it is.

// LSQ-LABEL: func.func @main(
// LSQ:         as "computed" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.000000e+00], bits = 4>) :
// LSQ:         as "free" activation {{.*}} trainable(#tpc.learned_threshold<bits = 8, is_signed = false>)
// LSQ:         as "range" activation {{.*}} trainable(#tpc.learned_range<bits = 8>)
// LSQ:         as "table" activation {{.*}} trainable(#tpc.straight_through<>)
// LSQ:         as "mine" activation {{.*}} trainable(#tpc.straight_through<clip = passed>)
// LSQ:         as "open" activation :
// LSQ:         as "dense" weight {{.*}} trainable(#tpc.learned_threshold<bits = 4>)

// STE-LABEL: func.func @main(
// STE:         as "free" activation {{.*}} trainable(#tpc.learned_threshold<bits = 8, is_signed = false, gradient = straight_through>)
// STE:         as "range" activation {{.*}} trainable(#tpc.learned_range<bits = 8, gradient = straight_through>)
// STE:         as "dense" weight {{.*}} trainable(#tpc.learned_threshold<bits = 4, gradient = straight_through>)

// PASSED-LABEL: func.func @main(
// PASSED:         as "free" activation {{.*}} gradient = straight_through, clip = passed>)
// PASSED:         as "range" activation {{.*}} gradient = straight_through, clip = passed>)
// PASSED:         as "table" activation {{.*}} trainable(#tpc.straight_through<clip = passed>)

// FIXED-LABEL: func.func @main(
// FIXED-NOT:     activation {{.*}} trainable(#tpc.straight_through<>)
// FIXED:         as "dense" weight {{.*}} trainable(#tpc.straight_through<>)

// SOFT-LABEL: func.func @main(
// SOFT:         as "free" activation {{.*}} trainable(#tpc.gradual<of = #tpc.straight_through<>>)
// SOFT:         as "dense" weight {{.*}} trainable(#tpc.soft_rounding<>)

// SCALES-LABEL: func.func @main(
// SCALES:         as "dense" weight {{.*}} trainable(#tpc.soft_rounding<learns_scale = true>)

// PERTURBED-LABEL: func.func @main(
// PERTURBED-NOT:     activation {{.*}} trainable(#tpc.perturbed
// PERTURBED:         as "dense" weight {{.*}} trainable(#tpc.perturbed_rounding<most_levels = 2.000000e+00>)

// OTHER-LABEL: func.func @main(
// OTHER-NOT:     trainable(#tpc.learned_threshold
// OTHER-LABEL: func.func @other(
// OTHER:         as "y" activation {{.*}} trainable(#tpc.learned_threshold<bits = 2>)
func.func @main(%x: tensor<1x1x2xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, -4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %c = tpc.quantize %x as "computed" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 4>) : tensor<1x1x2xf32>
  %0 = tpc.quantize %x as "free" activation parameters(#tpc.symmetric<threshold = [3.0], bits = 8, is_signed = false>) : tensor<1x1x2xf32>
  %1 = tpc.quantize %0 as "range" activation parameters(#tpc.uniform<scale = [0.1], zero_point = [3], bits = 8>) : tensor<1x1x2xf32>
  %2 = tpc.quantize %1 as "table" activation parameters(#tpc.lookup_table<method = lut_pot_quantizer, threshold = [4.0], table = [-90, 0, 64], bits = 2>) : tensor<1x1x2xf32>
  %3 = tpc.quantize %2 as "mine" activation parameters(#tpc.symmetric<threshold = [3.0], bits = 8>) trainable(#tpc.straight_through<clip = passed>) : tensor<1x1x2xf32>
  %4 = tpc.quantize %3 as "open" activation : tensor<1x1x2xf32>
  %w = tpc.quantize %k as "dense" weight "kernel_attr" axes [2] parameters(#tpc.symmetric<threshold = [3.0, 4.0], bits = 4>) : tensor<1x2x2xf32>
  %5 = tosa.matmul %4, %w, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  return %5 : tensor<1x1x2xf32>
}
func.func @other(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %0 = tpc.quantize %x as "y" activation parameters(#tpc.symmetric<threshold = [4.0], bits = 2>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}
