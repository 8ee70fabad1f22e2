// DEFINE: %{samples} = calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy
// DEFINE: %{measure} = --mct-add-error-tolerances=weights-error-tolerances=4,64 --mct-measure-sensitivity="metric=mse %{samples}"
// RUN: mct-opt %s %{measure} --mct-assign-bit-widths="max-loss=3 %{samples} bit-widths-out=%t.json" | FileCheck %s --check-prefix=SOME
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// RUN: mct-opt %s %{measure} --mct-assign-bit-widths="max-loss=40 %{samples}" | FileCheck %s --check-prefix=MUCH
// RUN: mct-opt %s %{measure} --mct-assign-bit-widths="max-loss=40 round-max-bits=0 device=ethos-u55-256 %{samples}" | FileCheck %s --check-prefix=MUCH
// RUN: mct-opt %s %{measure} --mct-assign-bit-widths="max-loss=40 device=%S/Inputs/slow.mlir %{samples}" | FileCheck %s --check-prefix=NEVER

// The steps of the alternatives are 1, 2 and 8 times those of the least error:
// 64 times its square is 18 dB.
// SOME: chosen = {{[01]}}>
// MUCH: chosen = 2>
// JSON: "measured": [
// JSON: "distance":

// A device that computes for longer than it reads does not gain anything.
// NEVER: chosen = 0>

// RUN: not mct-opt %s %{measure} --mct-assign-bit-widths="max-loss=-1 %{samples}" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not mct-opt %s %{measure} --mct-assign-bit-widths="max-loss=1 budget=weights:50% %{samples}" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not mct-opt %s %{measure} --mct-assign-bit-widths="max-loss=1" 2>&1 | FileCheck %s --check-prefix=DATA
// RUN: not mct-opt %s %{measure} --mct-assign-bit-widths="device=pro_int %{samples}" 2>&1 | FileCheck %s --check-prefix=PLAIN
// NEGATIVE: error: max-loss is -1{{.*}}; give a number of dB from 0 to 100
// BOTH: error: 'func.func' op gets bit widths by max-loss=1{{.*}}, and by a budget or by bit-widths-in; give one of them
// DATA: error: max-loss=1{{.*}} needs samples; give calibration-data=FILE.npy
// PLAIN: error: device=pro_int reads weights as they are stored; give one with tpc.compressed_weights, or no device
#w8 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x64xf32> {
  %kernel = "tosa.const"() <{values = dense<"0x72F97F3FA549653FB30B63BFA88B54BF82C62B3F1EA2F13ECECDAD3EE077C4BE41F9583EDEBA5A3E4B4E263E71E82EBF13FD0DBEFD0B5ABE475DE43EFD587D3F2A17663FFEF2B43D93E0E1BD4D52EDBE549B6DBFBFF271BF74CB8FBD47E4B9BEBDBA75BEA198483F79F7523DB6D9F73DD51A07BFE0C873BFBB0DB3BECD023ABFEB81A73C74537F3FCEAAB23E69E522BF3582493FEBF0173FFF06F03E0B2D503FED98063FCD59143FDEB895BE9042763F487E6C3F35792DBFD20C023F8450DC3E03149EBD8DAC783DA69CA3BC9783593FC27ADC3A94BD293FE59495BE0905443F8EA54C3FB5B19FBDF5A80A3E8D35573FBD24E53ECB67DBBCCA6E0EBF6E8AB3BE825CCC3EEAF82ABF94DD503F5C6DEDBE1EA0523FE201C3BE502B6A3F9D27D33EA9390B3CBE63113D600C9B3E5B1C343EE2ABC0BED19815BF3BD5C23C7B495E3F68727C3E666859BF780B243F405FE73EFAB7503F76001EBF53A8FA3E5BEA61BF6C949C3E8B58E8BEEBF80BBF6140403F819749BFE931373D0538353F62A502BF1B3C14BF9DDB423F5ADD1DBE0D2BDE3E55AE6FBF4FF28CBE37FF27BF6DE9B03EB78D55BF5FBC683F040673BFFFEDEA3E802C75BF632CFABEFC6F203F318E2FBFFDEC21BF6117C43E6F5C6ABECDE669BF7CE17A3F107932BF266E6DBFC6899FBEAE026C3E5647F83ECE1546BF6FB1A6BE8F3970BFF550D2BD362D083F94B4F53E"> : tensor<64x1x1x2xf32>}> : () -> tensor<64x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<64xf32>}> : () -> tensor<64xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" config(#w8)
    parameters(#tpc.symmetric<threshold = [1.0], bits = 8>) : tensor<64x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<64x1x1x2xf32>, tensor<64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x64xf32>
  return %0 : tensor<1x1x1x64xf32>
}
