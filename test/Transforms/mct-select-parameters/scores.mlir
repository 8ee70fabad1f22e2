// RUN: mct-opt %s --mct-select-parameters --split-input-file | FileCheck %s
// RUN: mct-opt %s --mct-select-parameters=error-method=no-clipping --split-input-file | FileCheck %s --check-prefix=SEEN

// Logits of a hundred anchors are -10, and one is 0.5: a search would cut that off. A sigmoid makes scores of them, which
// are results, after a concatenation with boxes and a slice: up to 6.24, above which a score of 8 bits is 1.
#w = #tpc.attr_quant_config<method = symmetric, bits = 8>
#act = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], default_weight = #w>

// CHECK-LABEL: func.func @scores
// CHECK:         as "boxes" {{.*}}error_method = mse
// CHECK:         as "logits" {{.*}}selection(#tpc.selection<error_method = range, covers = [-1.000000e+01, 6.236369{{[0-9]*}}]>)
// SEEN-LABEL:  func.func @scores
// SEEN:          as "logits" {{.*}}covers = [-1.000000e+01, 5.000000e-01]>)
func.func @scores(%arg0: tensor<1x3x2xf32>, %arg1: tensor<1x3x1xf32>) -> (tensor<1x3x2xf32>, tensor<1x1x3xf32>) {
  %boxes = tpc.quantize %arg0 as "boxes" activation config(#act)
    statistics(#tpc.statistics<count = 101, zeros = 0, min = -10.0, max = 0.5, histogram = #tpc.histogram<step_exponent = -8, first = -2560, counts = sparse<[[0], [2688]], [100, 1]> : tensor<2689xi64>>>) : tensor<1x3x2xf32>
  %logits = tpc.quantize %arg1 as "logits" activation config(#act)
    statistics(#tpc.statistics<count = 101, zeros = 0, min = -10.0, max = 0.5, histogram = #tpc.histogram<step_exponent = -8, first = -2560, counts = sparse<[[0], [2688]], [100, 1]> : tensor<2689xi64>>>) : tensor<1x3x1xf32>
  %0 = tosa.concat %boxes, %logits {axis = 2 : i32} : (tensor<1x3x2xf32>, tensor<1x3x1xf32>) -> tensor<1x3x3xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 0, 2, 1>} : (tensor<1x3x3xf32>) -> tensor<1x3x3xf32>
  %start = tosa.const_shape {values = dense<[0, 0, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[1, 2, 3]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %2 = tosa.slice %1, %start, %size : (tensor<1x3x3xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x2x3xf32>
  %3 = tosa.exp %2 : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %4 = tosa.transpose %3 {perms = array<i32: 0, 2, 1>} : (tensor<1x2x3xf32>) -> tensor<1x3x2xf32>
  %start2 = tosa.const_shape {values = dense<[0, 2, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size2 = tosa.const_shape {values = dense<[1, 1, 3]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %5 = tosa.slice %1, %start2, %size2 : (tensor<1x3x3xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x1x3xf32>
  %6 = tosa.sigmoid %5 : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  return %4, %6 : tensor<1x3x2xf32>, tensor<1x1x3xf32>
}

// -----

// A gate: its sigmoid is multiplied, and no score.
#w = #tpc.attr_quant_config<method = symmetric, bits = 8>
#act = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], default_weight = #w>

// CHECK-LABEL: func.func @gate
// CHECK:         as "logits" {{.*}}error_method = mse
// SEEN-LABEL:  func.func @gate
func.func @gate(%arg0: tensor<1x3xf32>, %arg1: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %logits = tpc.quantize %arg0 as "logits" activation config(#act)
    statistics(#tpc.statistics<count = 101, zeros = 0, min = -10.0, max = 0.5, histogram = #tpc.histogram<step_exponent = -8, first = -2560, counts = sparse<[[0], [2688]], [100, 1]> : tensor<2689xi64>>>) : tensor<1x3xf32>
  %0 = tosa.sigmoid %logits : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %1 = tosa.mul %0, %arg1, %shift : (tensor<1x3xf32>, tensor<1x3xf32>, tensor<1xi8>) -> tensor<1x3xf32>
  return %1 : tensor<1x3xf32>
}

// -----

// Logits that are a result themselves; and those of scores down to -40, of which none tells anything below -13.8.
#w = #tpc.attr_quant_config<method = symmetric, bits = 8>
#act = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], default_weight = #w>

// CHECK-LABEL: func.func @results
// CHECK:         as "returned" {{.*}}error_method = mse
// CHECK:         as "low" {{.*}}covers = [-13.8155{{[0-9]*}}, 8.000000e+00]>)
// SEEN-LABEL:  func.func @results
func.func @results(%arg0: tensor<1x3xf32>, %arg1: tensor<1x3xf32>) -> (tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>) {
  %logits = tpc.quantize %arg0 as "returned" activation config(#act)
    statistics(#tpc.statistics<count = 101, zeros = 0, min = -10.0, max = 0.5, histogram = #tpc.histogram<step_exponent = -8, first = -2560, counts = sparse<[[0], [2688]], [100, 1]> : tensor<2689xi64>>>) : tensor<1x3xf32>
  %0 = tosa.sigmoid %logits : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %low = tpc.quantize %arg1 as "low" activation config(#act)
    statistics(#tpc.statistics<count = 101, zeros = 0, min = -40.0, max = 8.0>) : tensor<1x3xf32>
  %1 = tosa.sigmoid %low : (tensor<1x3xf32>) -> tensor<1x3xf32>
  return %logits, %0, %1 : tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>
}
