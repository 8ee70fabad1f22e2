// RUN: mct-opt %s --mct-check-integer --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=PLAIN --allow-empty
// RUN: mct-opt %s --mct-check-integer="simulation=true remarks=true" --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=TOLD
// RUN: mct-opt %s --mct-check-integer="simulation=true remarks=true" --mct-records=%t.json --split-input-file -o /dev/null 2> %t.remarks
// RUN: FileCheck %s --check-prefix=RECORDS --input-file=%t.json
// RUN: not mct-opt %s --mct-check-integer=profile=pro_int --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefixes=FLOAT,PROINT
// RUN: not mct-opt %s --mct-check-integer=profile=ethos-u85 --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefixes=FLOAT,U85
// RUN: not mct-opt %s --mct-check-integer=profile=ethos-u55 --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefixes=FLOAT,U55
// PLAIN-NOT: {{error|remark}}

// Products of one channel: 1026 * 127 * 128 = 16678656; with half a step, 2^13, and its bias channel 1 has 2^24.
// TOLD:      remark: a simulation in f32 may round its sums, use f64: they may reach 16777216 of 16777216
// TOLD:      remark: a simulation in f32 computes its sums exactly if all its steps are powers of two: they stay within 16384 of 16777216
// RECORDS:      "decision": "noted"
// RECORDS:      "reason": "not-exact-in-f32"
// RECORDS:      "channel": 1,
// RECORDS-NEXT: "magnitude": 16777216
// RECORDS:      "reason": "exact-in-f32"
// RECORDS:      "channel": 0,
// RECORDS-NEXT: "magnitude": 16384
// RECORDS:      "reason": "computes-float"
func.func @accumulators(%arg0: tensor<1x1x1x1026xi8>) -> (tensor<1x1x1x2xi8>, tensor<1x1x1xi32>) {
  %kernel = "tosa.const"() <{values = dense<127> : tensor<2x1x1x1026xi8>}> : () -> tensor<2x1x1x1026xi8>
  %bias = "tosa.const"() <{values = dense<[0, -90368]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %zp = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.conv2d %arg0, %kernel, %bias, %zp, %zp {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x1x1x1026xi8>, tensor<2x1x1x1026xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x2xi32>
  %multiplier = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %shift = "tosa.const"() <{values = dense<44> : tensor<1xi8>}> : () -> tensor<1xi8>
  %input_zp = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %1 = tosa.rescale %0, %multiplier, %shift, %input_zp, %zp {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<1x1x1x2xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x1x1x2xi8>
  %short = "tosa.const"() <{values = dense<0> : tensor<1x1x1xi8>}> : () -> tensor<1x1x1xi8>
  %one = "tosa.const"() <{values = dense<-128> : tensor<1x1x1xi8>}> : () -> tensor<1x1x1xi8>
  %start = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<1> : tensor<4xindex>} : () -> !tosa.shape<4>
  %first = tosa.slice %arg0, %start, %size : (tensor<1x1x1x1026xi8>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x1x1x1xi8>
  %shape = tosa.const_shape {values = dense<1> : tensor<3xindex>} : () -> !tosa.shape<3>
  %row = tosa.reshape %first, %shape : (tensor<1x1x1x1xi8>, !tosa.shape<3>) -> tensor<1x1x1xi8>
  %2 = tosa.matmul %row, %one, %zp, %zp : (tensor<1x1x1xi8>, tensor<1x1x1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1xi32>
  return %1, %2 : tensor<1x1x1x2xi8>, tensor<1x1x1xi32>
}

// -----

// TOLD:      remark: it computes with floating-point numbers
// TOLD-NOT:  floating-point
// FLOAT:     'tosa.exp' op computes with floating-point numbers, which {{pro_int|ethos-u55|ethos-u85}} cannot
// FLOAT:     note: quantize it, or split the network before it
func.func @float(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// PROINT-NOT: error:
// U85-NOT:    error:
// U55:        'tosa.intdiv' op divides integers, which ethos-u55 cannot
// U55:        note: multiply by a reciprocal, as softmax=integer does
func.func @division(%arg0: tensor<4xi32>) -> tensor<4xi32> {
  %c2 = "tosa.const"() <{values = dense<2> : tensor<4xi32>}> : () -> tensor<4xi32>
  %0 = tosa.intdiv %arg0, %c2 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// U55:        'tosa.greater' op computes with conditions, which ethos-u55 cannot
// U55:        note: write a maximum, a minimum, a clamp or a table instead
// U55:        'tosa.select' op computes with conditions, which ethos-u55 cannot
func.func @select(%arg0: tensor<4xi32>, %arg1: tensor<4xi32>) -> tensor<4xi32> {
  %0 = tosa.greater %arg0, %arg1 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %1 = tosa.select %0, %arg0, %arg1 : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %1 : tensor<4xi32>
}

// -----

// U55:        'tosa.bitwise_and' op computes with bits, which ethos-u55 cannot
// U55:        note: round halves up, which a rescale alone does
func.func @bits(%arg0: tensor<4xi32>, %arg1: tensor<4xi32>) -> tensor<4xi32> {
  %0 = tosa.bitwise_and %arg0, %arg1 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// U55:        'tosa.reduce_max' op reduces values of 32 bits to their maximum or minimum, which ethos-u55 cannot
// U55:        note: move it before the rescale, to 8 bits
func.func @maximum(%arg0: tensor<4x2xi32>, %arg1: tensor<4x2xi8>) -> (tensor<4x1xi32>, tensor<4x1xi8>) {
  %0 = tosa.reduce_max %arg0 {axis = 1 : i32} : (tensor<4x2xi32>) -> tensor<4x1xi32>
  %1 = tosa.reduce_max %arg1 {axis = 1 : i32} : (tensor<4x2xi8>) -> tensor<4x1xi8>
  return %0, %1 : tensor<4x1xi32>, tensor<4x1xi8>
}

// -----

// U55-NOT:    tosa.reduce_max
// U55:        'tosa.resize' op interpolates, which ethos-u55 cannot
// U55:        note: resize by nearest neighbours
func.func @interpolation(%arg0: tensor<1x4x5x3xi8>) -> tensor<1x7x9x3xi32> {
  %scale = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %offset = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %border = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.resize %arg0, %scale, %offset, %border {mode = BILINEAR} : (tensor<1x4x5x3xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x7x9x3xi32>
  return %0 : tensor<1x7x9x3xi32>
}

// -----

// Of 32 bits it is computed.
// U55:        'tosa.logical_left_shift' op shifts values of less than 32 bits, which ethos-u55 cannot
// U55:        note: cast them to i32 before
// U55-NOT:    tosa.logical_left_shift
func.func @shifts(%arg0: tensor<4xi8>, %arg1: tensor<4xi32>) -> (tensor<4xi8>, tensor<4xi32>) {
  %c8 = "tosa.const"() <{values = dense<1> : tensor<4xi8>}> : () -> tensor<4xi8>
  %c32 = "tosa.const"() <{values = dense<1> : tensor<4xi32>}> : () -> tensor<4xi32>
  %0 = tosa.logical_left_shift %arg0, %c8 : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %1 = tosa.logical_left_shift %arg1, %c32 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0, %1 : tensor<4xi8>, tensor<4xi32>
}

// -----

// U55:        'tosa.gather' op reads or writes by index, which ethos-u55 cannot
// U55:        note: split the network before it
func.func @index(%arg0: tensor<1x8x4xi8>, %arg1: tensor<1x3xi32>) -> tensor<1x3x4xi8> {
  %0 = tosa.gather %arg0, %arg1 : (tensor<1x8x4xi8>, tensor<1x3xi32>) -> tensor<1x3x4xi8>
  return %0 : tensor<1x3x4xi8>
}

// -----

// U55:        'tosa.argmax' op looks for a maximum among values of 16 bits, which ethos-u55 cannot
// U55:        note: rescale them to 8 bits before
// U55:        'tosa.matmul' op multiplies matrices of 16 bits, which ethos-u55 cannot
// U55:        note: rescale the factors to 8 bits before
func.func @wide(%arg0: tensor<1x4x8xi16>, %arg1: tensor<1x8x4xi16>) -> (tensor<1x4xi32>, tensor<1x4x4xi48>) {
  %0 = tosa.argmax %arg0 {axis = 2 : i32} : (tensor<1x4x8xi16>) -> tensor<1x4xi32>
  %zp = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  %1 = tosa.matmul %arg0, %arg1, %zp, %zp : (tensor<1x4x8xi16>, tensor<1x8x4xi16>, tensor<1xi16>, tensor<1xi16>) -> tensor<1x4x4xi48>
  return %0, %1 : tensor<1x4xi32>, tensor<1x4x4xi48>
}

// -----

// U55:        'tosa.conv2d' op reads weights that are not constant, which ethos-u55 cannot
// U55:        note: write them into a tosa.const
func.func @weights(%arg0: tensor<1x4x4x2xi8>, %arg1: tensor<2x1x1x2xi8>) -> tensor<1x4x4x2xi32> {
  %bias = "tosa.const"() <{values = dense<3> : tensor<2xi32>}> : () -> tensor<2xi32>
  %zp = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.conv2d %arg0, %arg1, %bias, %zp, %zp {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x4x4x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x4x2xi32>
  return %0 : tensor<1x4x4x2xi32>
}

// -----

// U55:        'tosa.resize' op resizes otherwise than by a power of two between centres, which ethos-u55 cannot
// U55:        note: write scale [2n, 2, 2n, 2], offset [1 - n, 1 - n] and border [n - 1, n - 1] for n = 2, 4, 8
// U55-NOT:    error
func.func @nearest(%arg0: tensor<1x4x4x8xi8>) -> (tensor<1x8x8x8xi8>, tensor<1x8x8x8xi8>) {
  %scale = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %corner = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %rest = tosa.const_shape {values = dense<2> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.resize %arg0, %scale, %corner, %rest {mode = NEAREST_NEIGHBOR} : (tensor<1x4x4x8xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x8x8x8xi8>
  %offset = tosa.const_shape {values = dense<-1> : tensor<2xindex>} : () -> !tosa.shape<2>
  %border = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  %1 = tosa.resize %arg0, %scale, %offset, %border {mode = NEAREST_NEIGHBOR} : (tensor<1x4x4x8xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x8x8x8xi8>
  return %0, %1 : tensor<1x8x8x8xi8>, tensor<1x8x8x8xi8>
}
