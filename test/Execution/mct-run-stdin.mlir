// A module, text or bytecode, comes from standard input or a pipe as well as from a file.
// RUN: mct-opt %s -o %t.mlirbc
// RUN: mct-run - --input=%S/Inputs/a.npy < %s | FileCheck %s
// RUN: mct-run - --input=%S/Inputs/a.npy < %t.mlirbc | FileCheck %s
// RUN: cat %t.mlirbc | mct-run - --input=%S/Inputs/a.npy | FileCheck %s
// RUN: cat %t.mlirbc | mct-run /dev/stdin --input=%S/Inputs/a.npy | FileCheck %s
// RUN: mct-opt < %t.mlirbc | FileCheck %s --check-prefix=TEXT
// RUN: cat %t.mlirbc | mct-opt | FileCheck %s --check-prefix=TEXT
// RUN: not mct-opt /dev/zero 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not mct-opt %t.absent 2>&1 | FileCheck %s --check-prefix=ABSENT

// CHECK: samples 3
// TEXT: dense_resource<large> : tensor<2xf32>
// DEVICE: error: cannot read '/dev/zero': expected a file, found a device
// ABSENT: error: cannot read '{{.*}}.absent': No such file or directory
func.func @main(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = "tosa.const"() <{values = dense_resource<large> : tensor<2xf32>}> : () -> tensor<2xf32>
  return %arg0 : tensor<1x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      // 64: the constant wants to lie on such a multiple.
      large: "0x400000000000803F00000040"
    }
  }
#-}
