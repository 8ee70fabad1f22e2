// RUN: mct-opt %s | mct-opt | FileCheck %s
// RUN: mct-opt %s --emit-bytecode | mct-opt | FileCheck %s

// A mark is a point that asks for others; it is kept apart by its name, as all points.
// CHECK-LABEL: func.func @marks
func.func @marks(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK: tpc.quantize %{{.*}} as "by_scheme" activation config(#tpc.quantize_config<>) : tensor<2x4xf32>
  %0 = tpc.quantize %x as "by_scheme" activation config(#tpc.quantize_config<>) : tensor<2x4xf32>
  // CHECK: config(#tpc.quantize_config<weights = {}, activations = [], outputs = []>)
  %1 = tpc.quantize %0 as "nothing" activation config(#tpc.quantize_config<weights = {}, activations = [], outputs = []>) : tensor<2x4xf32>
  // CHECK: config(#tpc.quantize_config<outputs = [#tpc.symmetric<threshold = [1.000000e+00], bits = 8>]>)
  %2 = tpc.quantize %1 as "stays" activation config(#tpc.quantize_config<outputs = [#tpc.symmetric<threshold = [1.0], bits = 8>]>) : tensor<2x4xf32>
  // CHECK: config(#tpc.quantize_config<weights = {kernel_attr = #tpc.observed_range<observer = last_value, bits = 8, is_symmetric = true, is_narrow = true>},
  // CHECK-SAME: per_channel = ["kernel_attr"],
  // CHECK-SAME: activations = [#tpc.observed_range<observer = moving_average, bits = 8>],
  // CHECK-SAME: name = "my_module.MyDenseQuantizeConfig", config = {units = 4 : i64}>)
  %3 = tpc.quantize %2 as "python" activation config(#tpc.quantize_config<
         weights = {kernel_attr = #tpc.observed_range<observer = last_value, bits = 8, is_symmetric = true, is_narrow = true>},
         per_channel = ["kernel_attr"], activations = [#tpc.observed_range<observer = moving_average, bits = 8>],
         name = "my_module.MyDenseQuantizeConfig", config = {units = 4 : i64}>) : tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}
