// RUN: mct-opt %s | mct-opt | FileCheck %s
// RUN: mct-opt %s --mlir-print-op-generic | mct-opt | FileCheck %s
// RUN: mct-opt %s --emit-bytecode | mct-opt | FileCheck %s

// How points are trained; what is default is left out.
// CHECK-LABEL: func.func @how(
// CHECK:         as "straight" activation trainable(#tpc.straight_through<clip = passed>) :
// CHECK:         as "threshold" activation trainable(#tpc.learned_threshold<bits = 8>) :
// CHECK:         as "threshold4" activation trainable(#tpc.learned_threshold<bits = 4, is_signed = false, power_of_two = true, gradient = straight_through, clip = passed, gradient_scale = 2.500000e-01>) :
// CHECK:         as "range" activation trainable(#tpc.learned_range<bits = 8>) :
// CHECK:         as "range4" activation trainable(#tpc.learned_range<bits = 4, gradient = straight_through, clip = passed, gradient_scale = 5.000000e-01>) :
// CHECK:         as "observed" activation trainable(#tpc.observed_range<observer = last_value, bits = 8>) :
// CHECK:         as "average" activation trainable(#tpc.observed_range<observer = moving_average, bits = 4, is_symmetric = true, is_narrow = true, decay = 9.000000e-01>) :
// CHECK:         as "all" activation trainable(#tpc.observed_range<observer = all_values, bits = 8>) :
// CHECK:         as "fixed" activation trainable(#tpc.observed_range<observer = fixed, bits = 8>) :
// CHECK:         as "gradual" activation trainable(#tpc.gradual<of = #tpc.straight_through<>>) :
// CHECK:         as "host" activation trainable(#tpc.host_quantizer<name = "module.Quantizer", config = {bits = 4 : i64}>) :
func.func @how(%x: tensor<1x8xf32>) {
  %0 = tpc.quantize %x as "straight" activation trainable(#tpc.straight_through<clip = passed>) : tensor<1x8xf32>
  %1 = tpc.quantize %x as "threshold" activation trainable(#tpc.learned_threshold<bits = 8, is_signed = true, power_of_two = false, gradient = learned_step, clip = masked>) : tensor<1x8xf32>
  %2 = tpc.quantize %x as "threshold4" activation
         trainable(#tpc.learned_threshold<bits = 4, is_signed = false, power_of_two = true, gradient = straight_through, clip = passed, gradient_scale = 0.25>) : tensor<1x8xf32>
  %3 = tpc.quantize %x as "range" activation trainable(#tpc.learned_range<bits = 8>) : tensor<1x8xf32>
  %4 = tpc.quantize %x as "range4" activation
         trainable(#tpc.learned_range<bits = 4, gradient = straight_through, clip = passed, gradient_scale = 0.5>) : tensor<1x8xf32>
  %5 = tpc.quantize %x as "observed" activation trainable(#tpc.observed_range<observer = last_value, bits = 8>) : tensor<1x8xf32>
  %6 = tpc.quantize %x as "average" activation
         trainable(#tpc.observed_range<observer = moving_average, bits = 4, is_symmetric = true, is_narrow = true, decay = 0.9>) : tensor<1x8xf32>
  %7 = tpc.quantize %x as "all" activation trainable(#tpc.observed_range<observer = all_values, bits = 8>) : tensor<1x8xf32>
  %8 = tpc.quantize %x as "fixed" activation trainable(#tpc.observed_range<observer = fixed, bits = 8>) : tensor<1x8xf32>
  %9 = tpc.quantize %x as "gradual" activation trainable(#tpc.gradual<of = #tpc.straight_through<>>) : tensor<1x8xf32>
  %10 = tpc.quantize %x as "host" activation trainable(#tpc.host_quantizer<name = "module.Quantizer", config = {bits = 4 : i64}>) : tensor<1x8xf32>
  return
}

// CHECK-LABEL: func.func @how_weights(
// CHECK:         as "conv1" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.000000e+00], bits = 4>) trainable(#tpc.soft_rounding<>) :
// CHECK:         as "conv2" weight "kernel_attr" axes [0] trainable(#tpc.soft_rounding<clip = passed, learns_scale = true>) :
// CHECK:         as "conv3" weight "kernel_attr" axes [0] trainable(#tpc.perturbed_rounding<>) :
// CHECK:         as "conv4" weight "kernel_attr" axes [0] trainable(#tpc.perturbed_rounding<most_levels = 2.500000e+00>) :
func.func @how_weights(%k: tensor<3x8xf32>) {
  %0 = tpc.quantize %k as "conv1" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 4>) trainable(#tpc.soft_rounding<>) : tensor<3x8xf32>
  %1 = tpc.quantize %k as "conv2" weight "kernel_attr" axes [0] trainable(#tpc.soft_rounding<clip = passed, learns_scale = true>) : tensor<3x8xf32>
  %2 = tpc.quantize %k as "conv3" weight "kernel_attr" axes [0] trainable(#tpc.perturbed_rounding<>) : tensor<3x8xf32>
  %3 = tpc.quantize %k as "conv4" weight "kernel_attr" axes [0] trainable(#tpc.perturbed_rounding<most_levels = 2.5>) : tensor<3x8xf32>
  return
}

// Values that are learned: one for all channels, one for each, one for each
// element, one for all points.
// CHECK-LABEL: func.func @learned(
// CHECK-SAME:      %[[X:.*]]: tensor<1x8xf32>, %[[K:.*]]: tensor<3x8xf32>, %[[ONE:.*]]: tensor<1x1xf32>, %[[EACH:.*]]: tensor<3x1xf32>, %[[F:.*]]: tensor<1xf32>
// CHECK:         tpc.quantize %[[X]] as "a" activation trainable({{.*}}) learned(%[[ONE]] : tensor<1x1xf32>) : tensor<1x8xf32>
// CHECK:         tpc.quantize %[[X]] as "b" activation trainable({{.*}}) learned(%[[ONE]], %[[ONE]], %[[F]] : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1xf32>) : tensor<1x8xf32>
// CHECK:         tpc.quantize %[[K]] as "c" weight "kernel_attr" axes [0] trainable({{.*}}) learned(%[[ONE]] : tensor<1x1xf32>) : tensor<3x8xf32>
// CHECK:         tpc.quantize %[[K]] as "d" weight "kernel_attr" axes [0] trainable({{.*}}) learned(%[[EACH]] : tensor<3x1xf32>) : tensor<3x8xf32>
// CHECK:         tpc.quantize %[[K]] as "e" weight "kernel_attr" axes [0] parameters({{.*}}) trainable({{.*}}) learned(%[[K]], %[[EACH]] : tensor<3x8xf32>, tensor<3x1xf32>) : tensor<3x8xf32>
func.func @learned(%x: tensor<1x8xf32>, %k: tensor<3x8xf32>, %one: tensor<1x1xf32>, %each: tensor<3x1xf32>, %f: tensor<1xf32>) {
  %0 = tpc.quantize %x as "a" activation trainable(#tpc.learned_threshold<bits = 4>) learned(%one : tensor<1x1xf32>) : tensor<1x8xf32>
  %1 = tpc.quantize %x as "b" activation trainable(#tpc.gradual<of = #tpc.learned_range<bits = 4>>)
         learned(%one, %one, %f : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1xf32>) : tensor<1x8xf32>
  %2 = tpc.quantize %k as "c" weight "kernel_attr" axes [0] trainable(#tpc.learned_threshold<bits = 4>) learned(%one : tensor<1x1xf32>) : tensor<3x8xf32>
  %3 = tpc.quantize %k as "d" weight "kernel_attr" axes [0] trainable(#tpc.learned_threshold<bits = 4>) learned(%each : tensor<3x1xf32>) : tensor<3x8xf32>
  %4 = tpc.quantize %k as "e" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 4>)
         trainable(#tpc.soft_rounding<learns_scale = true>) learned(%k, %each : tensor<3x8xf32>, tensor<3x1xf32>) : tensor<3x8xf32>
  return
}
