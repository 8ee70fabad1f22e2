func.func @main(%x_f: tensor<1x256x2xf32>) -> (tensor<1x256x2xf32>, tensor<1x256x2xf32>) {
  %x = tpc.quantize %x_f as "x" activation parameters(#tpc.power_of_two<threshold = [128.0], bits = 8, rounding = half_up>) : tensor<1x256x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %sl = "tosa.const"() <{values = dense<[[[0.1, 0.2]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %p = tosa.greater_equal %x, %z : (tensor<1x256x2xf32>, tensor<1x1x1xf32>) -> tensor<1x256x2xi1>
  %n = tosa.mul %x, %sl, %shift : (tensor<1x256x2xf32>, tensor<1x1x2xf32>, tensor<1xi8>) -> tensor<1x256x2xf32>
  %r = tosa.select %p, %x, %n : (tensor<1x256x2xi1>, tensor<1x256x2xf32>, tensor<1x256x2xf32>) -> tensor<1x256x2xf32>
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [128.0], bits = 8, rounding = half_up>) : tensor<1x256x2xf32>
  %off = "tosa.const"() <{values = dense<[[[-0.5, 3.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %t = tosa.add %n, %off : (tensor<1x256x2xf32>, tensor<1x1x2xf32>) -> tensor<1x256x2xf32>
  %sum = tpc.quantize %t as "sum" activation parameters(#tpc.power_of_two<threshold = [128.0], bits = 8, rounding = half_up>) : tensor<1x256x2xf32>
  return %out, %sum : tensor<1x256x2xf32>, tensor<1x256x2xf32>
}
