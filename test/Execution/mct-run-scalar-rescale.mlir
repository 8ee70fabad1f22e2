// Upstream lowers a rescale of a scalar whose multiplier is computed to an op that its verifier crashes on.
// RUN: python3 -c "import numpy; numpy.save('%t.x.npy', numpy.array([3], numpy.int8)); numpy.save('%t.m.npy', numpy.array([1 << 30], numpy.int32))"
// RUN: not mct-run %s --input=x:%t.x.npy --input=multiplier:%t.m.npy --output=%t.npy 2>&1 | FileCheck %s
// CHECK: error: 'tosa.rescale' op cannot be executed: its multiplier or its shift is computed, and its input has rank 0; reshape the input to one element
func.func @main(%x: tensor<i8> loc("x"), %multiplier: tensor<1xi32> loc("multiplier")) -> tensor<i8> {
  %shift = "tosa.const"() <{values = dense<30> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zp = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.rescale %x, %multiplier, %shift, %zp, %zp {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<i8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<i8>
  return %0 : tensor<i8>
}
