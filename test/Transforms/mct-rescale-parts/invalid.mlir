// RUN: not mct-opt %s --pass-pipeline="builtin.module(mct-rescale-parts{measured-by={builtin.module(canonicalize)}})" 2>&1 | FileCheck %s

// CHECK: error: 'measured-by' changes the points of the module; give passes that only calibrate
module {
  func.func @main(%x: tensor<1x1x1xf32>) -> tensor<1x1x2xf32> {
    %gain = "tosa.const"() <{values = dense<64.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %unused = tpc.quantize %x as "unused" activation : tensor<1x1x1xf32>
    %0 = tosa.mul %x, %gain, %shift : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1xf32>
    %1 = tosa.concat %x, %0 {axis = 2 : i32} : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
    %joined = tpc.quantize %1 as "joined" activation : tensor<1x1x2xf32>
    %2 = tosa.mul %joined, %gain, %shift : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
    return %2 : tensor<1x1x2xf32>
  }
}
