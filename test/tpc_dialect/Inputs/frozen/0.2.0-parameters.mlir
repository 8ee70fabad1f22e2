#weight_config = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#op_config = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #weight_config>
module {
  func.func @main(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = tpc.quantize %arg0 as "given" activation config(#op_config) range(#tpc.range<0.000000e+00, ?>) statistics(#tpc.statistics<count = 8, zeros = 1, min = 0.000000e+00, max = 3.500000e+00, histogram = #tpc.histogram<step_exponent = -2, first = 3, counts = dense<[1, 0, 6]> : tensor<3xi64>>>) parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8>) selection(#tpc.selection<error_method = given, error = [1.250000e-01]>) : tensor<2x4xf32>
    %1 = tpc.quantize %0 as "exact" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.000000e+00, 2.000000e+00], bits = 8>) selection(#tpc.selection<error_method = mse, error = [1.500000e-04, 2.250000e-04], certificate = exact>) corrections(#tpc.corrections<applied = ["input_mean"], bias_offset = [1.000000e-01, -2.500000e-01], kernel_scale = [1.000000e+00]>) : tensor<2x4xf32>
    %2 = tpc.quantize %1 as "bound" activation parameters(#tpc.symmetric<threshold = [1.500000e+00], bits = 12>) selection(#tpc.selection<error_method = lp, norm = 3.000000e+00, error = [9.9999999999999995E-8], certificate = bound, bound = 1.000000e-05>) : tensor<2x4xf32>
    %3 = tpc.quantize %2 as "table" activation parameters(#tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.500000e+00], table = [-90, -20, 0, 64], bits = 2>) selection(#tpc.selection<error_method = mse, error = [2.500000e-01], certificate = exact_at_threshold>) : tensor<2x4xf32>
    %4 = tpc.quantize %3 as "range" activation parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 8>) selection(#tpc.selection<error_method = range, covers = [-1.000000e+00, 1.000000e+00]>) : tensor<2x4xf32>
    %5 = tpc.quantize %4 as "percentile" activation parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 8>) selection(#tpc.selection<error_method = percentile, percentile = 99.989999999999994, error = [0x7FF0000000000000]>) : tensor<2x4xf32>
    %6 = tpc.quantize %5 as "rest" activation parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 8>) selection(#tpc.selection<error_method = no_clipping, error = [0.000000e+00]>) : tensor<2x4xf32>
    %7 = tpc.quantize %6 as "mae" activation parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 8>) selection(#tpc.selection<error_method = mae, error = [5.000000e-01]>) : tensor<2x4xf32>
    %8 = tpc.quantize %7 as "kl" activation parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 8>) selection(#tpc.selection<error_method = kl, error = [5.000000e-01], certificate = exact>) : tensor<2x4xf32>
    %9 = tpc.quantize %8 as "hmse" weight "kernel_attr" parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 8>) selection(#tpc.selection<error_method = hmse, error = [5.000000e-01], certificate = exact>) : tensor<2x4xf32>
    %10 = tpc.quantize %9 as "octav" activation parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 8>) selection(#tpc.selection<error_method = octav, error = [5.000000e-01]>) : tensor<2x4xf32>
    %11 = tpc.quantize %10 as "own" activation parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 8>) selection(#tpc.selection<error_method = own, error = [5.000000e-01]>) : tensor<2x4xf32>
    %12 = tpc.quantize %11 as "rounding_a" activation parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8, rounding = half_up>) : tensor<2x4xf32>
    %13 = tpc.quantize %12 as "rounding_b" activation parameters(#tpc.symmetric<threshold = [1.500000e+00], bits = 4, is_signed = false, rounding = half_up>) : tensor<2x4xf32>
    %14 = tpc.quantize %13 as "rounding_c" activation parameters(#tpc.uniform<scale = [2.500000e-01], zero_point = [3], bits = 8, rounding = half_up>) : tensor<2x4xf32>
    return %14 : tensor<2x4xf32>
  }
}

