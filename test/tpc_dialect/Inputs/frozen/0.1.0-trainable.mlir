module {
  func.func @how(%arg0: tensor<1x8xf32>) {
    %0 = tpc.quantize %arg0 as "straight" activation trainable(#tpc.straight_through<clip = passed>) : tensor<1x8xf32>
    %1 = tpc.quantize %arg0 as "threshold" activation trainable(#tpc.learned_threshold<bits = 8>) : tensor<1x8xf32>
    %2 = tpc.quantize %arg0 as "threshold4" activation trainable(#tpc.learned_threshold<bits = 4, is_signed = false, power_of_two = true, gradient = straight_through, clip = passed, gradient_scale = 2.500000e-01>) : tensor<1x8xf32>
    %3 = tpc.quantize %arg0 as "range" activation trainable(#tpc.learned_range<bits = 8>) : tensor<1x8xf32>
    %4 = tpc.quantize %arg0 as "range4" activation trainable(#tpc.learned_range<bits = 4, gradient = straight_through, clip = passed, gradient_scale = 5.000000e-01>) : tensor<1x8xf32>
    %5 = tpc.quantize %arg0 as "observed" activation trainable(#tpc.observed_range<observer = last_value, bits = 8>) : tensor<1x8xf32>
    %6 = tpc.quantize %arg0 as "average" activation trainable(#tpc.observed_range<observer = moving_average, bits = 4, is_symmetric = true, is_narrow = true, decay = 9.000000e-01>) : tensor<1x8xf32>
    %7 = tpc.quantize %arg0 as "all" activation trainable(#tpc.observed_range<observer = all_values, bits = 8>) : tensor<1x8xf32>
    %8 = tpc.quantize %arg0 as "fixed" activation trainable(#tpc.observed_range<observer = fixed, bits = 8>) : tensor<1x8xf32>
    %9 = tpc.quantize %arg0 as "gradual" activation trainable(#tpc.gradual<of = #tpc.straight_through<>>) : tensor<1x8xf32>
    %10 = tpc.quantize %arg0 as "host" activation trainable(#tpc.host_quantizer<name = "module.Quantizer", config = {bits = 4 : i64}>) : tensor<1x8xf32>
    return
  }
  func.func @how_weights(%arg0: tensor<3x8xf32>) {
    %0 = tpc.quantize %arg0 as "conv1" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.000000e+00], bits = 4>) trainable(#tpc.soft_rounding<>) : tensor<3x8xf32>
    %1 = tpc.quantize %arg0 as "conv2" weight "kernel_attr" axes [0] trainable(#tpc.soft_rounding<clip = passed, learns_scale = true>) : tensor<3x8xf32>
    %2 = tpc.quantize %arg0 as "conv3" weight "kernel_attr" axes [0] trainable(#tpc.perturbed_rounding<>) : tensor<3x8xf32>
    %3 = tpc.quantize %arg0 as "conv4" weight "kernel_attr" axes [0] trainable(#tpc.perturbed_rounding<most_levels = 2.500000e+00>) : tensor<3x8xf32>
    return
  }
  func.func @learned(%arg0: tensor<1x8xf32>, %arg1: tensor<3x8xf32>, %arg2: tensor<1x1xf32>, %arg3: tensor<3x1xf32>, %arg4: tensor<1xf32>) {
    %0 = tpc.quantize %arg0 as "a" activation trainable(#tpc.learned_threshold<bits = 4>) learned(%arg2 : tensor<1x1xf32>) : tensor<1x8xf32>
    %1 = tpc.quantize %arg0 as "b" activation trainable(#tpc.gradual<of = #tpc.learned_range<bits = 4>>) learned(%arg2, %arg2, %arg4 : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1xf32>) : tensor<1x8xf32>
    %2 = tpc.quantize %arg1 as "c" weight "kernel_attr" axes [0] trainable(#tpc.learned_threshold<bits = 4>) learned(%arg2 : tensor<1x1xf32>) : tensor<3x8xf32>
    %3 = tpc.quantize %arg1 as "d" weight "kernel_attr" axes [0] trainable(#tpc.learned_threshold<bits = 4>) learned(%arg3 : tensor<3x1xf32>) : tensor<3x8xf32>
    %4 = tpc.quantize %arg1 as "e" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.000000e+00], bits = 4>) trainable(#tpc.soft_rounding<learns_scale = true>) learned(%arg1, %arg3 : tensor<3x8xf32>, tensor<3x1xf32>) : tensor<3x8xf32>
    return
  }
}

