func.func @main(%x: tensor<1x3x2x2xf32> {tpc.preprocessing = {axis = 3 : i64, offset = array<f64: -1.0>, scale = array<f64: 0.5, 0.25>}} loc("x")) -> tensor<1x3x2x2xf32> {
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x3x2x2xf32>
  %1 = tosa.max_pool2d %0 {kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %2 = tpc.quantize %1 as "pool" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x3x2x2xf32>
  return %2 : tensor<1x3x2x2xf32>
}

func.func @second(%x: tensor<1x4xf32> loc("x")) -> tensor<1x4xf32> {
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

func.func @float(%x: tensor<1x4xf32> loc("x")) -> tensor<1x4xf32> {
  %0 = tosa.abs %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
