// RUN: mct-opt %s --mct-rescale-parts --split-input-file | FileCheck %s

// The factor goes through maxima, ReLUs and zeros that are filled in to all layers that make the part; another layer that
// reads it takes the inverse in its kernel.
// CHECK-LABEL: func.func @maxima
// CHECK-DAG:     %[[A:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}1.250000e-01], [2.500000e-01]]]> : tensor<1x2x1xf32>}>
// CHECK-DAG:     %[[B:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}5.000000e-01], [-2.500000e-01]]]> : tensor<1x2x1xf32>}>
// CHECK-DAG:     %[[BIAS:.*]] = "tosa.const"() <{values = dense<9.765625E-4> : tensor<1x1x1xf32>}>
// CHECK-DAG:     %[[OTHER:.*]] = "tosa.const"() <{values = dense<2.048000e+03> : tensor<1x1x1xf32>}>
// CHECK-DAG:     %[[KERNEL:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}1.000000e+00], [-2.000000e+00], [2.560000e+02]]]> : tensor<1x3x1xf32>}>
// CHECK-DAG:         %[[MA:.*]] = tosa.matmul %{{.*}}, %[[A]]
// CHECK-DAG:         %[[SUM:.*]] = tosa.add %[[MA]], %[[BIAS]]
// CHECK-DAG:         %[[MB:.*]] = tosa.matmul %{{.*}}, %[[B]]
// CHECK-DAG:         %[[RELU:.*]] = tosa.clamp %[[MB]]
// CHECK-DAG:         %[[MAX:.*]] = tosa.maximum %[[SUM]], %[[RELU]]
// CHECK-DAG:         tosa.matmul %[[MAX]], %[[OTHER]]
// CHECK-DAG:         %[[CONCAT:.*]] = tosa.concat %{{.*}}, %[[MAX]]
// CHECK-DAG:         %[[POINT:.*]] = tpc.quantize %[[CONCAT]] as "joined_scaled" activation :
// CHECK-DAG:         tosa.matmul %[[POINT]], %[[KERNEL]]
#joined = #tpc.statistics<count = 8, zeros = 0, min = -1.0, max = 600.0,
  channel_mean = dense<0.0> : tensor<3xf64>, channel_mean_square = dense<1.0> : tensor<3xf64>,
  channel_min = dense<[-1.0, -1.0, 0.0]> : tensor<3xf32>, channel_max = dense<[1.0, 1.0, 600.0]> : tensor<3xf32>>
func.func @maxima(%x: tensor<1x1x2xf32>) -> (tensor<1x1x1xf32>, tensor<1x1x1xf32>) {
  %a = "tosa.const"() <{values = dense<[[[128.0], [256.0]]]> : tensor<1x2x1xf32>}> : () -> tensor<1x2x1xf32>
  %b = "tosa.const"() <{values = dense<[[[512.0], [-256.0]]]> : tensor<1x2x1xf32>}> : () -> tensor<1x2x1xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %other = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0], [-2.0], [0.25]]]> : tensor<1x3x1xf32>}> : () -> tensor<1x3x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %a, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32>
  %1 = tosa.add %0, %bias : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %2 = tosa.matmul %x, %b, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32>
  %3 = tosa.clamp %2 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %4 = tosa.maximum %1, %3 : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %5 = tosa.matmul %4, %other, %zero, %zero : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32>
  %6 = tosa.concat %x, %4 {axis = 2 : i32} : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x3xf32>
  %joined = tpc.quantize %6 as "joined" activation statistics(#joined) : tensor<1x1x3xf32>
  %7 = tosa.matmul %joined, %kernel, %zero, %zero : (tensor<1x1x3xf32>, tensor<1x3x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32>
  return %5, %7 : tensor<1x1x1xf32>, tensor<1x1x1xf32>
}

// -----

// Both parts are constants' work: the one with most channels stays. A table, and the gain and offset of a batch norm, take
// the factor; a product after the concatenation takes the inverse, for each channel its own.
// CHECK-LABEL: func.func @table_and_affine
// CHECK-DAG:     %[[TABLE:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}1.000000e+00], [-5.000000e-01], [2.500000e-01]]]> : tensor<1x3x1xf32>}>
// CHECK-DAG:     %[[GAIN:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}4.000000e+00, 2.000000e+00]]]> : tensor<1x1x2xf32>}>
// CHECK-DAG:     %[[BACK:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}3.000000e+00, 3.000000e+00, 1.920000e+02]]]> : tensor<1x1x3xf32>}>
// CHECK-DAG:         tosa.mul %{{.*}}, %[[GAIN]]
// CHECK-DAG:         tosa.gather %[[TABLE]]
// CHECK-DAG:         %[[POINT:.*]] = tpc.quantize %{{.*}} as "joined_scaled"
// CHECK-DAG:         tosa.mul %[[POINT]], %[[BACK]]
#joined = #tpc.statistics<count = 8, zeros = 0, min = -1.0, max = 64.0,
  channel_mean = dense<0.0> : tensor<3xf64>, channel_mean_square = dense<1.0> : tensor<3xf64>,
  channel_min = dense<[-1.0, -1.0, 0.0]> : tensor<3xf32>, channel_max = dense<[1.0, 1.0, 64.0]> : tensor<3xf32>>
func.func @table_and_affine(%x: tensor<1x1x2xf32>, %index: tensor<1x1xi32>) -> tensor<1x1x3xf32> {
  %table = "tosa.const"() <{values = dense<[[[64.0], [-32.0], [16.0]]]> : tensor<1x3x1xf32>}> : () -> tensor<1x3x1xf32>
  %gain = "tosa.const"() <{values = dense<[[[4.0, 2.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %back = "tosa.const"() <{values = dense<3.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %gain, %shift : (tensor<1x1x2xf32>, tensor<1x1x2xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
  %1 = tosa.gather %table, %index : (tensor<1x3x1xf32>, tensor<1x1xi32>) -> tensor<1x1x1xf32>
  %2 = tosa.concat %0, %1 {axis = 2 : i32} : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x3xf32>
  %joined = tpc.quantize %2 as "joined" activation statistics(#joined) : tensor<1x1x3xf32>
  %3 = tosa.mul %joined, %back, %shift : (tensor<1x1x3xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x3xf32>
  return %3 : tensor<1x1x3xf32>
}

// -----

// Flattened after the concatenation, each input of the layer belongs to a part. A sum after a product that takes the
// factor takes it, too, and so does the product's constant.
// CHECK-LABEL: func.func @flattened
// CHECK-DAG:     %[[GAIN:.*]] = "tosa.const"() <{values = dense<6.250000e-02> : tensor<1x1x1xf32>}>
// CHECK-DAG:     %[[OFFSET:.*]] = "tosa.const"() <{values = dense<1.562500e-02> : tensor<1x1x1xf32>}>
// CHECK-DAG:     %[[KERNEL:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}1.000000e+00], [1.280000e+02], [3.000000e+00], [2.560000e+02]]]> : tensor<1x4x1xf32>}>
// CHECK-DAG:         %[[MUL:.*]] = tosa.mul %{{.*}}, %[[GAIN]]
// CHECK-DAG:         tosa.add %[[MUL]], %[[OFFSET]]
// CHECK-DAG:         tosa.matmul %{{.*}}, %[[KERNEL]]
#joined = #tpc.statistics<count = 8, zeros = 0, min = -1.0, max = 64.0,
  channel_mean = dense<0.0> : tensor<2xf64>, channel_mean_square = dense<1.0> : tensor<2xf64>,
  channel_min = dense<[-1.0, 0.0]> : tensor<2xf32>, channel_max = dense<[1.0, 64.0]> : tensor<2xf32>>
func.func @flattened(%x: tensor<1x2x1xf32>) -> tensor<1x1x1xf32> {
  %gain = "tosa.const"() <{values = dense<4.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %offset = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %kernel = "tosa.const"() <{values = dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>}> : () -> tensor<1x4x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shape = tosa.const_shape {values = dense<[1, 1, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.mul %x, %gain, %shift : (tensor<1x2x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x1xf32>
  %1 = tosa.add %0, %offset : (tensor<1x2x1xf32>, tensor<1x1x1xf32>) -> tensor<1x2x1xf32>
  %2 = tosa.concat %x, %1 {axis = 2 : i32} : (tensor<1x2x1xf32>, tensor<1x2x1xf32>) -> tensor<1x2x2xf32>
  %joined = tpc.quantize %2 as "joined" activation statistics(#joined) : tensor<1x2x2xf32>
  %3 = tosa.reshape %joined, %shape : (tensor<1x2x2xf32>, !tosa.shape<3>) -> tensor<1x1x4xf32>
  %4 = tosa.matmul %3, %kernel, %zero, %zero : (tensor<1x1x4xf32>, tensor<1x4x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32>
  return %4 : tensor<1x1x1xf32>
}

// -----

// A leaky ReLU reads its operand twice, with the factor; pooling and zeros that are filled in pass it on.
// CHECK-LABEL: func.func @leaky_pooled_padded
// CHECK-DAG:     %[[GAIN:.*]] = "tosa.const"() <{values = dense<1.000000e+00> : tensor<1x1x1x1xf32>}>
// CHECK-DAG:     %[[SLOPE:.*]] = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1x1x1xf32>}>
// CHECK-DAG:     %[[BACK:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}3.000000e+00, 1.920000e+02]]]]> : tensor<1x1x1x2xf32>}>
// CHECK-DAG:     %[[X:.*]] = tosa.mul %arg0, %[[GAIN]]
// CHECK-DAG:     %[[TAIL:.*]] = tosa.mul %[[X]], %[[SLOPE]]
// CHECK-DAG:     %[[LEAKY:.*]] = tosa.maximum %[[X]], %[[TAIL]]
// CHECK-DAG:     %[[POOL:.*]] = tosa.max_pool2d %[[LEAKY]]
// CHECK-DAG:     tosa.pad %[[POOL]]
// CHECK-DAG:     tosa.mul %{{.*}}, %[[BACK]]
#joined = #tpc.statistics<count = 8, zeros = 0, min = -8.0, max = 64.0,
  channel_mean = dense<0.0> : tensor<2xf64>, channel_mean_square = dense<1.0> : tensor<2xf64>,
  channel_min = dense<[-1.0, -8.0]> : tensor<2xf32>, channel_max = dense<[1.0, 64.0]> : tensor<2xf32>>
func.func @leaky_pooled_padded(%x: tensor<1x2x2x1xf32>, %y: tensor<1x2x2x1xf32>) -> tensor<1x2x2x2xf32> {
  %gain = "tosa.const"() <{values = dense<64.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %slope = "tosa.const"() <{values = dense<0.125> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %back = "tosa.const"() <{values = dense<3.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %edges = tosa.const_shape {values = dense<[0, 0, 0, 1, 1, 0, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %0 = tosa.mul %x, %gain, %shift : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x2x1xf32>
  %1 = tosa.mul %0, %slope, %shift : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x2x1xf32>
  %2 = tosa.maximum %0, %1 : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %3 = tosa.max_pool2d %2 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>) -> tensor<1x1x1x1xf32>
  %4 = tosa.pad %3, %edges, %zero : (tensor<1x1x1x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %5 = tosa.concat %y, %4 {axis = 3 : i32} : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x2x2xf32>
  %joined = tpc.quantize %5 as "joined" activation statistics(#joined) : tensor<1x2x2x2xf32>
  %6 = tosa.mul %joined, %back, %shift : (tensor<1x2x2x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  return %6 : tensor<1x2x2x2xf32>
}

// -----

// Two parts of one layer take the same factor.
// CHECK-LABEL: func.func @same_source
// CHECK-DAG:     %[[GAIN:.*]] = "tosa.const"() <{values = dense<1.000000e+00> : tensor<1x1x1xf32>}>
// CHECK-DAG:     %[[BACK:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}3.000000e+00, 1.920000e+02, 1.920000e+02]]]> : tensor<1x1x3xf32>}>
// CHECK-DAG:     %[[X:.*]] = tosa.mul %arg0, %[[GAIN]]
// CHECK-DAG:     %[[RELU:.*]] = tosa.clamp %[[X]]
// CHECK-DAG:     tosa.concat %arg1, %[[RELU]], %[[X]]
// CHECK-DAG:     tosa.mul %{{.*}}, %[[BACK]]
#joined = #tpc.statistics<count = 8, zeros = 0, min = -16.0, max = 64.0,
  channel_mean = dense<0.0> : tensor<3xf64>, channel_mean_square = dense<1.0> : tensor<3xf64>,
  channel_min = dense<[-1.0, 0.0, -16.0]> : tensor<3xf32>, channel_max = dense<[1.0, 64.0, 64.0]> : tensor<3xf32>>
func.func @same_source(%x: tensor<1x1x1xf32>, %y: tensor<1x1x1xf32>) -> tensor<1x1x3xf32> {
  %gain = "tosa.const"() <{values = dense<64.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %back = "tosa.const"() <{values = dense<3.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %gain, %shift : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1xf32>
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %2 = tosa.concat %y, %1, %0 {axis = 2 : i32} : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x3xf32>
  %joined = tpc.quantize %2 as "joined" activation statistics(#joined) : tensor<1x1x3xf32>
  %3 = tosa.mul %joined, %back, %shift : (tensor<1x1x3xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x3xf32>
  return %3 : tensor<1x1x3xf32>
}
