func.func @main(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %in = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x3xf32>
  return %in : tensor<1x3xf32>
}
func.func @other(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %0 = func.call @main(%x) : (tensor<1x3xf32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}
