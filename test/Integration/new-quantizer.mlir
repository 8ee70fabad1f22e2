// A quantizer that one file adds (test/unit/TpcDialect/LogarithmicQuantizer.cpp) goes through everything: a target asks
// for it, its own selection finds thresholds, and the executor runs it. Levels are 0 and threshold / 2^k.
// RUN: mct-opt %s --load-dialect-plugin=%mct_obj/lib/MctLogarithmicQuantizer.so --mct-ptq="target=%S/Inputs/logarithmic.mlir calibration-data=%S/Inputs/logarithmic_samples.npy weights-second-moment-correction=false weights-bias-correction=false round-weights=false" -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mct-run %t.mlir --load-dialect-plugin=%mct_obj/lib/MctLogarithmicQuantizer.so --input=%S/Inputs/logarithmic_samples.npy --output=%t.npy | FileCheck %s --check-prefix=RAN
// RUN: cmp %t.npy %S/Inputs/logarithmic_result.npy
// Binary, the selections' remarks, and the corrections, which ask the quantizer and never for its kind.
// RUN: mct-opt %s --load-dialect-plugin=%mct_obj/lib/MctLogarithmicQuantizer.so --mct-ptq="target=%S/Inputs/logarithmic.mlir calibration-data=%S/Inputs/logarithmic_samples.npy concat-threshold-update=true input-scaling=true activation-bias-correction=true activation-channel-equalization=true round-weights=false" -o %t.mlirbc
// RUN: mct-opt %t.mlirbc --load-dialect-plugin=%mct_obj/lib/MctLogarithmicQuantizer.so | FileCheck %s --check-prefix=CORRECTED
// RUN: mct-opt %s --load-dialect-plugin=%mct_obj/lib/MctLogarithmicQuantizer.so --tpc-attach-target=target=%S/Inputs/logarithmic.mlir --tpc-explain=format=text -o /dev/null | FileCheck %s --check-prefix=EXPLAIN
// RUN: mct-opt %s --load-dialect-plugin=%mct_obj/lib/MctLogarithmicQuantizer.so --tpc-attach-target=target=%S/Inputs/logarithmic.mlir --mct-insert-quantizers --mct-calibrate=calibration-data=%S/Inputs/logarithmic_samples.npy --mct-select-parameters=remarks=true --mct-select-weight-parameters=remarks=true -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// What goes wrong in a selection is an error at the point; without the plugin there is no such attribute.
// RUN: not mct-opt %s --load-dialect-plugin=%mct_obj/lib/MctLogarithmicQuantizer.so --mct-ptq="target=%S/Inputs/logarithmic_one_bit.mlir calibration-data=%S/Inputs/logarithmic_samples.npy" 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not mct-run %t.mlir --input=%S/Inputs/logarithmic_samples.npy 2>&1 | FileCheck %s --check-prefix=WITHOUT
// RUN: not mct-run %t.mlir --load-dialect-plugin=%t.absent.so --input=%S/Inputs/logarithmic_samples.npy 2>&1 | FileCheck %s --check-prefix=ABSENT
// The format has tables of 8-bit integers, and levels of 6 bits are down to 2^-62 of the threshold.
// RUN: sed "s/\], 3>)/], 6>)/" %t.mlir > %t.6.mlir
// RUN: not mct-translate --export-onnx --onnx-profile=mct_quantizers %t.6.mlir --load-dialect-plugin=%mct_obj/lib/MctLogarithmicQuantizer.so 2>&1 | FileCheck %s --check-prefix=ONNX
// Without mct_quantizers it has evenly spaced levels alone.
// RUN: sed "s/ activation \(.*\)parameters(#toy.logarithmic<[^>]*>)/ activation \1parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>)/" %t.6.mlir > %t.kernel.mlir
// RUN: not mct-translate --export-onnx --onnx-profile=qdq %t.kernel.mlir --load-dialect-plugin=%mct_obj/lib/MctLogarithmicQuantizer.so 2>&1 | FileCheck %s --check-prefix=QDQ

// The largest input is 2, the largest elements of the channels are 1 and 0.5, the largest result is
// 2 * 1 + 0.25 * 0.3125 = 2.078125.
// CHECK:      tpc.quantize {{.*}} activation config({{.*}}) statistics({{.*}}) parameters(#toy.logarithmic<[2.000000e+00], 3>)
// CHECK:      tpc.quantize {{.*}} weight "kernel_attr" axes [0] config({{.*}}) parameters(#toy.logarithmic<[1.000000e+00, 5.000000e-01], 3>)
// CHECK:      tpc.quantize {{.*}} activation config({{.*}}) {{.*}}parameters(#toy.logarithmic<[2.078125], 3>)
//
// Inputs become multiples of 0.5 from 0 to 1, or 2: (2, 0.5), (-0.5, 2), (0, 0), ties upwards. The kernel becomes
// (1, 0.25), (0.5, -0.25), so the sums are (2.125, 0.875), (0, -0.75), (0, 0), and the results (2.078125, 1.0390625),
// (0, -0.51953125), (0, 0).
// RAN: samples    3

// CORRECTED: corrections(#tpc.corrections<applied = [{{.*}}"quantized_network"]

// EXPLAIN: 3-bit #toy.logarithmic

// ONNX: error: 'tpc.quantize' op '{{.*}}' has a quantizer, #toy.logarithmic<[2.000000e+00], 6>, that mct_quantizers has no op for
// QDQ: error: 'tpc.quantize' op '{{.*}}/kernel_attr' has a quantizer, #toy.logarithmic<[1.000000e+00, 5.000000e-01], 6>, whose levels are not evenly spaced
// QDQ: note: DequantizeLinear has none for them: write the file with profile 'mct_quantizers', or choose parameters of another method
// ONNX: note: there are powers of two, thresholds, ranges, and for weights tables of 8-bit entries

// Squares of the errors of the input: 0, 1/16, 1/16, 1/4, 1/100, 1/16, over 6, give or take the bins of its histogram;
// of the kernel 0, 1/256, 0, 1/1024, over 4.
// REMARK-DAG: remark: mean squared error 7.4
// REMARK-DAG: remark: mean squared error 1.220703e-03

// BITS: error: 'tpc.quantize' op needs 2 bits for a sign and a magnitude
// WITHOUT: error: {{.*}}toy
// ABSENT: error: {{.*}}absent.so
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.3125]]], [[[0.5, -0.21875]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  return %0 : tensor<1x1x1x2xf32>
}
