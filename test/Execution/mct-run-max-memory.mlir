// A network that needs more memory than it may have is refused before it runs; a worker of this one needs some 200 bytes.
// RUN: rm -f %t.npy
// RUN: not mct-run %s --input=%S/Inputs/a.npy --max-memory=16 --output=%t.npy 2>&1 | FileCheck %s
// RUN: not mct-run %s --input=%S/Inputs/a.npy --compare=%s --max-memory=1.5G --output=%t.npy 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/a.npy max-memory=16" 2>&1 | FileCheck %s
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/a.npy max-memory=16T" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: test ! -e %t.npy
// RUN: mct-run %s --input=%S/Inputs/a.npy --max-memory=1M | FileCheck %s --check-prefix=ENOUGH

// CHECK: mct-run-max-memory.mlir:{{.*}}error: the network needs {{[0-9]+}} bytes for its constants and {{[0-9]+}} for the values of {{.*}}that is more than the 16 bytes there are: raise the limit on memory, or run on a larger machine
// SIZE: error: {{(--)?}}max-memory: expected a number of bytes, which may end in K, M or G, but got '{{.*}}'
// ENOUGH: samples 3
func.func @main(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %1 = tpc.quantize %0 as "exp" activation : tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}
