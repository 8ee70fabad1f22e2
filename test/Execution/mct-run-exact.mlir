// An integer network is executed beside the network that simulates it: every stored integer is compared, argument,
// points inside and result. Samples are put on the grid of the argument, halves up.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: mct-run %t/integer.mlir --input=%S/Inputs/ties.npy --compare=%t/simulated.mlir --exact | FileCheck %s
// RUN: mct-run %t/integer.mlir --input=%S/Inputs/ties.npy --compare=%t/simulated.mlir --exact --json | FileCheck %s --check-prefix=JSON
// RUN: mct-run %t/float_io.mlir --input=%S/Inputs/ties.npy --compare=%t/simulated.mlir --exact --num-threads=2 | FileCheck %s --check-prefix=FLOATIO
// Without --exact the same values are compared as real numbers.
// RUN: mct-run %t/integer.mlir --input=%S/Inputs/ties.npy --compare=%t/simulated.mlir | FileCheck %s --check-prefix=SQNR
// Without --compare samples are put on the grid, too.
// RUN: mct-run %t/integer.mlir --input=%S/Inputs/ties.npy --output=%t/stored.npy && cmp %t/stored.npy %S/Inputs/stored.npy

// CHECK-NOT:  agreement
// CHECK:      point                                  values    differing    max steps
// CHECK-NEXT: x                                          12            0            0
// CHECK-NEXT: conv                                       12            0            0
// CHECK-NEXT: abs                                        12            0            0
// CHECK-NEXT: total                                      36            0            0
// JSON:      "points": [
// JSON-NEXT:   {
// JSON-NEXT:     "name": "x",
// JSON-NEXT:     "values": 12,
// JSON-NEXT:     "differing": 0,
// JSON-NEXT:     "max_steps": 0
// JSON:      "total": {
// JSON-NEXT:   "values": 36,
// JSON-NEXT:   "differing": 0,
// JSON-NEXT:   "max_steps": 0
// JSON:      "not_compared": []
// FLOATIO:      x                                          12            0            0
// FLOATIO-NEXT: conv                                       12            0            0
// FLOATIO-NEXT: total                                      24            0            0
// SQNR: x      inf 1.000000 0
// SQNR: conv   inf 1.000000 0
// SQNR: abs    inf 1.000000 0

// Differences are counted, named and an exit code: halves to even differ for three of the samples; another bias; a value that is
// not on the grid.
// RUN: not mct-run %t/integer.mlir --input=%S/Inputs/ties.npy --compare=%t/even.mlir --exact --sort=error > %t/even.txt 2> %t/even.err
// RUN: FileCheck %s --check-prefix=EVEN < %t/even.txt
// RUN: FileCheck %s --check-prefix=EVENERR < %t/even.err
// RUN: not mct-run %t/wrong_bias.mlir --input=%S/Inputs/ties.npy --compare=%t/simulated.mlir --exact > %t/bias.txt 2>&1
// RUN: FileCheck %s --check-prefix=BIAS < %t/bias.txt
// RUN: not mct-run %t/wrong_bias.mlir --input=%S/Inputs/ties.npy --compare=%t/simulated.mlir --exact --local > %t/local.txt 2>&1
// RUN: FileCheck %s --check-prefix=LOCAL < %t/local.txt
// RUN: not mct-run %t/integer.mlir --input=%S/Inputs/ties.npy --compare=%t/simulated.mlir --local 2>&1 | FileCheck %s --check-prefix=LOCALALONE
// RUN: not mct-run %t/integer.mlir --input=%S/Inputs/ties.npy --compare=%t/float.mlir --exact > %t/float.txt 2>&1
// RUN: FileCheck %s --check-prefix=FLOAT < %t/float.txt

// EVEN:      conv                                       12
// EVEN-NEXT: abs                                        12
// EVEN-NEXT: x                                          12            3            1
// EVENERR: error: --exact: {{[0-9]+}} of 36 values differ from those of {{.*}}even.mlir
// BIAS-DAG: x                                          12            0            0
// BIAS-DAG: conv                                       12            6            2
// BIAS-DAG: error: --exact: 12 of 36 values differ from those of {{.*}}simulated.mlir; with --local they are counted where they arise
// With --local the difference stays where it arises.
// LOCAL-DAG: x                                          12            0            0
// LOCAL-DAG: conv                                       12            6            2
// LOCAL-DAG: abs                                        12            0            0
// LOCAL-DAG: error: --exact: 6 of 36 values differ from those of {{.*}}simulated.mlir{{$}}
// LOCALALONE: error: --local needs --exact
// FLOAT-DAG: x                                          12           12          0.5
// FLOAT-DAG: error: --exact: {{.*}}float.mlir has no value of the name and size of abs

// What cannot be compared.
// RUN: not mct-run %t/simulated.mlir --input=%S/Inputs/ties.npy --compare=%t/simulated.mlir --exact 2>&1 | FileCheck %s --check-prefix=NORECORDS
// RUN: not mct-run %t/integer.mlir --input=%S/Inputs/ties.npy --exact 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not mct-run %t/integer.mlir --compare=%t/simulated.mlir --exact 2>&1 | FileCheck %s --check-prefix=NOSAMPLES
// RUN: not mct-run %t/integer.mlir --input=%S/Inputs/ties.npy --compare=%t/integer.mlir --exact 2>&1 | FileCheck %s --check-prefix=INTEGERS
// RUN: not mct-run %t/integer.mlir --input=%S/Inputs/ties.npy --compare=%t/shapes.mlir --exact 2>&1 | FileCheck %s --check-prefix=SHAPES
// NORECORDS: error: {{.*}}simulated.mlir has no 'tpc.points' and no 'tpc.quantized', which say what the integers of a network stand for; mct-lower-to-integer writes them
// ALONE: error: --exact needs --compare: the module that simulates
// NOSAMPLES: error: --input is missing: the samples to run on; --signature prints what the inputs are
// INTEGERS: error: {{.*}}integer.mlir is an integer network; run that one, and compare it with the network that simulates it
// SHAPES: shapes.mlir:0:0: error: {{.*}}ties.npy': expected shape N for input 'arg0', found 6x2

//--- integer.mlir
func.func @main(%x: tensor<1x2xi8> {tpc.quantized = {name = "x", scale = 1.0 : f64, zero_point = 0 : i64, bits = 8 : i64}} loc("x"))
    -> (tensor<1x1x1x2xi8> {tpc.quantized = {name = "abs", scale = 0.25 : f64, zero_point = -128 : i64, bits = 8 : i64}})
    attributes {tpc.points = [{name = "conv", scale = 0.25 : f64, zero_point = 0 : i64, bits = 8 : i64}]} {
  %kernel = "tosa.const"() <{values = dense<[[[[64, -32]]], [[[16, 47]]]]> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
  %bias = "tosa.const"() <{values = dense<[32, -64]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero32 = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %end = "tosa.const"() <{values = dense<-128> : tensor<1xi8>}> : () -> tensor<1xi8>
  %multiplier = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %shift = "tosa.const"() <{values = dense<34> : tensor<1xi8>}> : () -> tensor<1xi8>
  %one = "tosa.const"() <{values = dense<30> : tensor<1xi8>}> : () -> tensor<1xi8>
  %shape = tosa.const_shape {values = dense<[1, 1, 1, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.reshape %x, %shape : (tensor<1x2xi8>, !tosa.shape<4>) -> tensor<1x1x1x2xi8>
  %1 = tosa.conv2d %0, %kernel, %bias, %zero, %zero {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x2xi32>
  %2 = tosa.rescale %1, %multiplier, %shift, %zero32, %zero {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}
         : (tensor<1x1x1x2xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x1x1x2xi8> loc("conv")
  %3 = tosa.rescale %2, %multiplier, %one, %zero, %zero32 {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}
         : (tensor<1x1x1x2xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<1x1x1x2xi32>
  %4 = tosa.abs %3 : (tensor<1x1x1x2xi32>) -> tensor<1x1x1x2xi32>
  %5 = tosa.rescale %4, %multiplier, %one, %zero32, %end {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}
         : (tensor<1x1x1x2xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x1x1x2xi8> loc("abs")
  return %5 : tensor<1x1x1x2xi8>
}

//--- float_io.mlir
func.func @main(%x: tensor<1x2xf32> loc("x")) -> tensor<1x1x1x2xi8>
    attributes {tpc.points = [{name = "x", scale = 1.0 : f64, zero_point = 0 : i64, bits = 8 : i64}, {name = "conv", scale = 0.25 : f64, zero_point = 0 : i64, bits = 8 : i64}]} {
  %kernel = "tosa.const"() <{values = dense<[[[[64, -32]]], [[[16, 47]]]]> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8> loc("conv")
  %bias = "tosa.const"() <{values = dense<[32, -64]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero32 = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %multiplier = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %shift = "tosa.const"() <{values = dense<34> : tensor<1xi8>}> : () -> tensor<1xi8>
  %shape = tosa.const_shape {values = dense<[1, 1, 1, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  // The argument and the op that quantizes it have one name.
  %moved = tosa.add %x, %half : (tensor<1x2xf32>, tensor<1x1xf32>) -> tensor<1x2xf32>
  %floor = tosa.floor %moved : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %quantized = tosa.cast %floor : (tensor<1x2xf32>) -> tensor<1x2xi8> loc("x")
  %0 = tosa.reshape %quantized, %shape : (tensor<1x2xi8>, !tosa.shape<4>) -> tensor<1x1x1x2xi8>
  %1 = tosa.conv2d %0, %kernel, %bias, %zero, %zero {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x2xi32>
  %2 = tosa.rescale %1, %multiplier, %shift, %zero32, %zero {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}
         : (tensor<1x1x1x2xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x1x1x2xi8> loc("conv")
  return %2 : tensor<1x1x1x2xi8>
}

//--- simulated.mlir
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x1x1x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, -0.5]]], [[[0.25, 0.734375]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[0.5, -1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shape = tosa.const_shape {values = dense<[1, 1, 1, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %q = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [128.0], bits = 8, rounding = half_up>) : tensor<1x2xf32>
  %0 = tosa.reshape %q, %shape : (tensor<1x2xf32>, !tosa.shape<4>) -> tensor<1x1x1x2xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<2x1x1x2xf32>
  %1 = tosa.conv2d %0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32> loc("conv")
  %2 = tpc.quantize %1 as "conv" activation parameters(#tpc.power_of_two<threshold = [32.0], bits = 8, rounding = half_up>) : tensor<1x1x1x2xf32>
  %3 = tosa.abs %2 : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %4 = tpc.quantize %3 as "abs" activation parameters(#tpc.power_of_two<threshold = [64.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x1x1x2xf32>
  return %4 : tensor<1x1x1x2xf32>
}

//--- even.mlir
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x1x1x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, -0.5]]], [[[0.25, 0.734375]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[0.5, -1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shape = tosa.const_shape {values = dense<[1, 1, 1, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %q = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [128.0], bits = 8>) : tensor<1x2xf32>
  %0 = tosa.reshape %q, %shape : (tensor<1x2xf32>, !tosa.shape<4>) -> tensor<1x1x1x2xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<2x1x1x2xf32>
  %1 = tosa.conv2d %0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32> loc("conv")
  %2 = tpc.quantize %1 as "conv" activation parameters(#tpc.power_of_two<threshold = [32.0], bits = 8>) : tensor<1x1x1x2xf32>
  %3 = tosa.abs %2 : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %4 = tpc.quantize %3 as "abs" activation parameters(#tpc.power_of_two<threshold = [64.0], bits = 8, is_signed = false>) : tensor<1x1x1x2xf32>
  return %4 : tensor<1x1x1x2xf32>
}

//--- wrong_bias.mlir
func.func @main(%x: tensor<1x2xi8> {tpc.quantized = {name = "x", scale = 1.0 : f64, zero_point = 0 : i64, bits = 8 : i64}} loc("x"))
    -> (tensor<1x1x1x2xi8> {tpc.quantized = {name = "abs", scale = 0.25 : f64, zero_point = -128 : i64, bits = 8 : i64}})
    attributes {tpc.points = [{name = "conv", scale = 0.25 : f64, zero_point = 0 : i64, bits = 8 : i64}]} {
  %kernel = "tosa.const"() <{values = dense<[[[[64, -32]]], [[[16, 47]]]]> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
  %bias = "tosa.const"() <{values = dense<[64, -64]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero32 = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %end = "tosa.const"() <{values = dense<-128> : tensor<1xi8>}> : () -> tensor<1xi8>
  %multiplier = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %shift = "tosa.const"() <{values = dense<34> : tensor<1xi8>}> : () -> tensor<1xi8>
  %one = "tosa.const"() <{values = dense<30> : tensor<1xi8>}> : () -> tensor<1xi8>
  %shape = tosa.const_shape {values = dense<[1, 1, 1, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.reshape %x, %shape : (tensor<1x2xi8>, !tosa.shape<4>) -> tensor<1x1x1x2xi8>
  %1 = tosa.conv2d %0, %kernel, %bias, %zero, %zero {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x2xi32>
  %2 = tosa.rescale %1, %multiplier, %shift, %zero32, %zero {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}
         : (tensor<1x1x1x2xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x1x1x2xi8> loc("conv")
  %3 = tosa.rescale %2, %multiplier, %one, %zero, %zero32 {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}
         : (tensor<1x1x1x2xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<1x1x1x2xi32>
  %4 = tosa.abs %3 : (tensor<1x1x1x2xi32>) -> tensor<1x1x1x2xi32>
  %5 = tosa.rescale %4, %multiplier, %one, %zero32, %end {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}
         : (tensor<1x1x1x2xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x1x1x2xi8> loc("abs")
  return %5 : tensor<1x1x1x2xi8>
}

//--- float.mlir
func.func @main(%x: tensor<1x2xf32> loc("x")) -> tensor<1x1x1x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, -0.5]]], [[[0.25, 0.734375]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[0.5, -1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shape = tosa.const_shape {values = dense<[1, 1, 1, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.reshape %x, %shape : (tensor<1x2xf32>, !tosa.shape<4>) -> tensor<1x1x1x2xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<2x1x1x2xf32>
  %1 = tosa.conv2d %0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32> loc("conv")
  %2 = tpc.quantize %1 as "conv" activation : tensor<1x1x1x2xf32>
  %3 = tosa.abs %2 : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> loc("magnitude")
  return %3 : tensor<1x1x1x2xf32>
}

//--- shapes.mlir
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
