// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative -o %t.default.mlir
// RUN: FileCheck %s --input-file=%t.default.mlir
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative=ratio=0.07 -o %t.ratio.mlir
// RUN: FileCheck %s --check-prefix=RATIO --input-file=%t.ratio.mlir
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative="threshold-recalculation=false remarks=true" -o %t.kept.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --check-prefix=KEPT --input-file=%t.kept.mlir
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative=parameter-search=true -o %t.search.mlir
// RUN: FileCheck %s --check-prefix=SEARCH --input-file=%t.search.mlir
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative="error-method=no-clipping remarks=true" -o %t.cover.mlir 2>&1 | FileCheck %s --check-prefix=COVER
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative=bias-correction-follows=true -o %t.float.mlir
// RUN: FileCheck %s --check-prefix=FLOAT --input-file=%t.float.mlir

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3871, zeros = 0, min = -0.279, max = 3.5, histogram = #tpc.histogram<step_exponent = -10, first = -286, counts = dense<1> : tensor<3871xi64>>>
#twice = #tpc.statistics<count = 3873, zeros = 0, min = -0.125, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -32, counts = dense<1> : tensor<3873xi64>>>
#barely = #tpc.statistics<count = 4097, zeros = 0, min = -0.125, max = 3.875, histogram = #tpc.histogram<step_exponent = -10, first = -128, counts = dense<1> : tensor<4097xi64>>>
#wide = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>

// Case 27: the ratio is 0.06975. With a larger one allowed the shift is 18 * 4 / 256 (T59 too).
// CHECK-LABEL: func.func @ratio
// CHECK-NOT:     tosa.add
// CHECK:         return
// RATIO-LABEL: func.func @ratio
// RATIO:         dense<2.812500e-01>
// RATIO:         "act_shifted" {{.*}}<threshold = [4.000000e+00], bits = 8, is_signed = false
func.func @ratio(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// A recorded threshold of 8 clips half of the data. Chosen again it would be 16, whose unsigned step is the signed one of
// 8; but the search counts what is clipped today.
// CHECK-LABEL: func.func @search
// CHECK-NOT:     tosa.add
// CHECK:         return
// REMARK: '1' is not shifted: the shifted maximum 15.125 exceeds the largest level 7.96875 of threshold 8
// KEPT-LABEL: func.func @search
// KEPT-NOT:     tosa.add
// KEPT:         return
// SEARCH-LABEL: func.func @search
// SEARCH:         dense<1.250000e-01>
// SEARCH:         "1_shifted" {{.*}}<threshold = [1.600000e+01], bits = 8, is_signed = false
func.func @search(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %q = tpc.quantize %y as "1" activation config(#act8)
    statistics(#twice) parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// 3.875 + 0.125 is 4, one step above the last level of the threshold 4. With MSE it is clipped, as the data before a
// shift may be; without clipping, and where the threshold stays, it is not.
// CHECK-LABEL: func.func @barely
// CHECK:         "2_shifted" {{.*}}<threshold = [4.000000e+00], bits = 8, is_signed = false
// REMARK: '2' is not shifted: the shifted maximum 4 exceeds the largest level 3.98438 of threshold 4
// COVER:  '2' is not shifted: its threshold would go from 4 to 8
func.func @barely(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %q = tpc.quantize %y as "2" activation config(#act8)
    statistics(#barely) parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// On two bits 0.3 is 0.5. The shift of 0.25 puts 0.25 * (0.5 + 0.5) into the sum of the quantized kernel, and
// 0.25 * (0.3 + 0.3) into that of the float one, to which a bias correction adds the rest.
// CHECK-LABEL: func.func @quantized_kernel
// CHECK:         "tosa.const"() <{values = dense<-2.500000e-01> : tensor<1xf32>}>
// CHECK:         tosa.conv2d
// FLOAT-LABEL: func.func @quantized_kernel
// FLOAT:         "tosa.const"() <{values = dense<-1.500000{{.*}}e-01> : tensor<1xf32>}>
// FLOAT:         tosa.conv2d
// KEPT-LABEL:  func.func @quantized_kernel
// KEPT:          "3_shifted" {{.*}}<threshold = [1.600000e+01], bits = 8, is_signed = false
func.func @quantized_kernel(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %weights = "tosa.const"() <{values = dense<0.3> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = tpc.quantize %weights as "c" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %q = tpc.quantize %y as "3" activation config(#act8)
    statistics(#wide) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}
