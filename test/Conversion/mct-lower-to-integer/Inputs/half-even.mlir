func.func @main(%x: tensor<1x2x6x2xf32>) -> (tensor<1x1x3x2xf32>, tensor<1x1x2x2xf32>, tensor<1x2x6x1xf32>) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kf = "tosa.const"() <{values = dense<[[[[0.5, 0.25]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %u = tpc.quantize %x as "u" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = false>) : tensor<1x2x6x2xf32>
  %s = tpc.quantize %x as "s" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x2x6x2xf32>
  %w = tpc.quantize %x as "w" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 16>) : tensor<1x2x6x2xf32>
  %k = tpc.quantize %kf as "c" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0], bits = 3>) : tensor<1x1x1x2xf32>
  %0 = tosa.avg_pool2d %u, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x2x6x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3x2xf32>
  %pool = tpc.quantize %0 as "pool" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = false>) : tensor<1x1x3x2xf32>
  %1 = tosa.avg_pool2d %s, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 3>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 3>} : (tensor<1x2x6x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2x2xf32>
  %mean = tpc.quantize %1 as "mean" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x2x2xf32>
  %2 = tosa.conv2d %w, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x6x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x6x1xf32>
  %conv = tpc.quantize %2 as "conv" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 16>) : tensor<1x2x6x1xf32>
  return %pool, %mean, %conv : tensor<1x1x3x2xf32>, tensor<1x1x2x2xf32>, tensor<1x2x6x1xf32>
}
