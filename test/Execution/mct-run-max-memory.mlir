// A limit below what the process has, or what the network needs in addition, is refused before anything runs.
// RUN: rm -f %t.npy
// RUN: not mct-run %s --input=%S/Inputs/a.npy --max-memory=16 --output=%t.npy 2>&1 | FileCheck %s
// RUN: not mct-run %s --input=%S/Inputs/a.npy --compare=%s --max-memory=1.5G --output=%t.npy 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/a.npy max-memory=16" 2>&1 | FileCheck %s
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/a.npy max-memory=16T" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: test ! -e %t.npy
// RUN: mct-run %s --input=%S/Inputs/a.npy --max-memory=2G | FileCheck %s --check-prefix=ENOUGH

// RUN: not mct-run %s --function=large --input=%S/Inputs/a.npy --max-memory=1G --output=%t.npy 2>&1 | FileCheck %s --check-prefix=LARGE

// CHECK: mct-run-max-memory.mlir:{{.*}}error: max-memory is 16 bytes, and the process has {{[0-9]+}} before it runs the network; raise the limit, or leave it out
// LARGE: mct-run-max-memory.mlir:{{.*}}error: the network needs {{[0-9]+}} bytes for its constants and {{[0-9]+}} for the values of {{.*}}that is more than the 1073741824 bytes there are: raise the limit on memory, or run on a larger machine
// SIZE: error: {{(--)?}}max-memory: expected a number of bytes, which may end in K, M or G, but got '{{.*}}'
// ENOUGH: samples 3
func.func @main(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %1 = tpc.quantize %0 as "exp" activation : tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}

func.func @large(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %shape = tosa.const_shape {values = dense<[1, 1, 1, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %times = tosa.const_shape {values = dense<[1, 4096, 65536, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.reshape %arg0, %shape : (tensor<1x2xf32>, !tosa.shape<4>) -> tensor<1x1x1x2xf32>
  %1 = tosa.tile %0, %times : (tensor<1x1x1x2xf32>, !tosa.shape<4>) -> tensor<1x4096x65536x2xf32>
  %2 = tosa.reduce_max %1 {axis = 1 : i32} : (tensor<1x4096x65536x2xf32>) -> tensor<1x1x65536x2xf32>
  %3 = tosa.reduce_max %2 {axis = 2 : i32} : (tensor<1x1x65536x2xf32>) -> tensor<1x1x1x2xf32>
  %back = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %4 = tosa.reshape %3, %back : (tensor<1x1x1x2xf32>, !tosa.shape<2>) -> tensor<1x2xf32>
  return %4 : tensor<1x2xf32>
}
