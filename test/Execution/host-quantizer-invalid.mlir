// RUN: rm -f %t.npy
// RUN: not mct-run %s --input=%mct_data/digits_test.npy --output=%t.npy 2>&1 | FileCheck %s
// RUN: not ls %t.npy
// RUN: mct-run %s --input=%mct_data/digits_test.npy --float-points=a --output=%t.float.npy | FileCheck %s --check-prefix=FLOAT

// Nobody has the quantizer here; a network in which the point is the identity does not need it.
// CHECK: host-quantizer-invalid.mlir:[[# @LINE + 4]]:{{[0-9]+}}: error: 'tpc.quantize' op is quantized by "my_module.MyQuantizer", but nothing is registered under this name
// CHECK: note: use the module from the program that has the quantizer, by mct for Python for example
// FLOAT: samples 899
func.func @main(%arg0: tensor<1x8x8x1xf32>) -> tensor<1x8x8x1xf32> {
  %0 = tpc.quantize %arg0 as "a" activation trainable(#tpc.host_quantizer<name = "my_module.MyQuantizer", config = {}>) : tensor<1x8x8x1xf32>
  return %0 : tensor<1x8x8x1xf32>
}
