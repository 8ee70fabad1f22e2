module {
  func.func @main(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = tpc.quantize %arg0 as "narrow" activation statistics(#tpc.statistics<count = 10, zeros = 1, min = 1.000000e+00, max = 3.500000e+00, histogram = #tpc.histogram<step_exponent = -2, first = 4, counts = dense<[2, 0, 7]> : tensor<3xi32>>>) : tensor<2x4xf32>
    %1 = tpc.quantize %0 as "stored apart" activation statistics(#tpc.statistics<count = 3, zeros = 0, min = 1.000000e+00, max = 1.750000e+00, histogram = #tpc.histogram<step_exponent = -2, first = 4, counts = dense_resource<histogram.apart> : tensor<3xi32>>>) : tensor<2x4xf32>
    %2 = tpc.quantize %1 as "wide" activation statistics(#tpc.statistics<count = 4294967300, zeros = 0, min = 1.000000e+00, max = 1.500000e+00, histogram = #tpc.histogram<step_exponent = -2, first = 4, counts = dense<[4294967298, 2]> : tensor<2xi64>>>) : tensor<2x4xf32>
    return %2 : tensor<2x4xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      histogram.apart: "0x04000000010000000100000001000000"
    }
  }
#-}

