module attributes {test.method = #tpc.method<lut_sym_quantizer>} {
  func.func @main(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
    %0 = tpc.quantize %arg0 as "a" activation parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8, rounding = half_up>) : tensor<1x2xf32>
    %1 = tpc.quantize %0 as "b" activation parameters(#tpc.symmetric<threshold = [1.500000e+00], bits = 4, is_signed = false, rounding = half_up>) : tensor<1x2xf32>
    %2 = tpc.quantize %1 as "c" activation parameters(#tpc.uniform<scale = [2.500000e-01], zero_point = [3], bits = 8, rounding = half_up>) : tensor<1x2xf32>
    return %2 : tensor<1x2xf32>
  }
}

