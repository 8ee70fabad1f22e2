// Everything on a point survives bytecode, the data of resources inside of statistics too.
// RUN: mct-opt %s -o %t.mlir
// RUN: mct-opt %s -o %t.mlirbc
// RUN: mct-opt %t.mlirbc -o %t.back.mlir
// RUN: diff %t.mlir %t.back.mlir
// RUN: mct-opt %t.mlirbc --mct-select-parameters | FileCheck %s

// CHECK: histogram.large: "0x08000000
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
func.func @main(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tpc.quantize %arg0 as "large" activation config(#act8)
    statistics(#tpc.statistics<count = 3, zeros = 1, min = 0.0, max = 6.0,
      histogram = #tpc.histogram<step_exponent = -9, first = 3068, counts = dense_resource<histogram.large> : tensor<5xi64>>,
      channel_mean = dense<[1.0, 2.0]> : tensor<2xf64>, channel_mean_square = dense<[1.0, 4.0]> : tensor<2xf64>,
      channel_min = dense<[0.0, 1.0]> : tensor<2xf32>, channel_max = dense<[3.0, 6.0]> : tensor<2xf32>>) : tensor<1x2xf32>
  %1 = tpc.quantize %0 as "small" activation config(#act8)
    statistics(#tpc.statistics<count = 4, zeros = 1, min = 0.0, max = 6.0,
      histogram = #tpc.histogram<step_exponent = -9, first = 3072, counts = dense<3> : tensor<1xi64>>>) : tensor<1x2xf32>
  %2 = tpc.quantize %1 as "table" activation
    parameters(#tpc.lookup_table<method = lut_pot_quantizer, threshold = [2.0], table = [-90, 0, 64], bits = 2>) : tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      histogram.large: "0x0800000001000000000000000000000000000000000000000000000000000000000000000100000000000000"
    }
  }
#-}
