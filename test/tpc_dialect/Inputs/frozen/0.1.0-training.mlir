module {
  func.func @training(%arg0: tensor<1x2x2x4xf32>, %arg1: tensor<4x1x1x4xf32>, %arg2: tensor<1x1x1x1xf32>, %arg3: tensor<4x1x1x4xf32>, %arg4: tensor<4x1x1x1xf32>) -> (tensor<1x2x2x4xf32>, tensor<4x1x1x4xf32>) {
    %0 = tpc.quantize %arg0 as "straight" activation parameters(#tpc.symmetric<threshold = [1.000000e+00], bits = 8>) trainable(#tpc.straight_through<clip = passed>) : tensor<1x2x2x4xf32>
    %1 = tpc.quantize %0 as "threshold" activation trainable(#tpc.learned_threshold<bits = 4, is_signed = false, power_of_two = true, gradient = straight_through, clip = passed, gradient_scale = 5.000000e-01>) learned(%arg2 : tensor<1x1x1x1xf32>) : tensor<1x2x2x4xf32>
    %2 = tpc.quantize %1 as "range" activation parameters(#tpc.uniform<scale = [5.000000e-01], zero_point = [3], bits = 8>) trainable(#tpc.learned_range<bits = 8, gradient_scale = 5.000000e-01>) : tensor<1x2x2x4xf32>
    %3 = tpc.quantize %2 as "gradual" activation trainable(#tpc.gradual<of = #tpc.observed_range<observer = moving_average, bits = 8, decay = 5.000000e-01>>) : tensor<1x2x2x4xf32>
    %4 = tpc.quantize %3 as "host" activation trainable(#tpc.host_quantizer<name = "my_module.MyQuantizer", config = {bits = 4 : i64}>) : tensor<1x2x2x4xf32>
    %5 = tpc.quantize %4 as "marked" activation config(#tpc.quantize_config<weights = {kernel_attr = #tpc.observed_range<observer = last_value, bits = 8, is_symmetric = true, is_narrow = true>}, per_channel = ["kernel_attr"], activations = [#tpc.observed_range<observer = all_values, bits = 8>], outputs = [], name = "my_module.MyConfig", config = {units = 3 : i64}>) : tensor<1x2x2x4xf32>
    %6 = tpc.quantize %5 as "by_scheme" activation config(#tpc.quantize_config<>) : tensor<1x2x2x4xf32>
    %7 = tpc.quantize %arg1 as "soft" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00], bits = 4>) trainable(#tpc.soft_rounding<learns_scale = true>) learned(%arg3, %arg4 : tensor<4x1x1x4xf32>, tensor<4x1x1x1xf32>) : tensor<4x1x1x4xf32>
    %8 = tpc.quantize %7 as "perturbed" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.000000e+00], bits = 4>) trainable(#tpc.perturbed_rounding<most_levels = 2.000000e+00>) : tensor<4x1x1x4xf32>
    return %6, %8 : tensor<1x2x2x4xf32>, tensor<4x1x1x4xf32>
  }
}

