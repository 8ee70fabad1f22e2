// The ending of OUT decides between text and bytecode; a failing run leaves an existing OUT alone and nothing beside it.
// RUN: rm -rf %t && mkdir %t
// RUN: mct-opt %s -o %t/out.mlirbc
// RUN: mlir-opt %t/out.mlirbc | FileCheck %s
// RUN: head -c 4 %t/out.mlirbc | od -c | FileCheck %s --check-prefix=MAGIC
// RUN: mct-opt %s -o %t/out.mlir
// RUN: FileCheck %s < %t/out.mlir
// RUN: echo precious > %t/kept.mlir
// RUN: not mct-opt %s --mct-insert-quantizers -o %t/kept.mlir 2> %t/errors.txt
// RUN: grep precious %t/kept.mlir
// RUN: not mct-opt %s --mct-insert-quantizers -o %t/absent.mlir 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not mct-opt %s -o %t/no_such_folder/out.mlir 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: ls %t | FileCheck %s --check-prefix=FILES

// CHECK-LABEL: func.func @main
// TARGET: error: {{.*}}target
// MAGIC: M L 357 R
// FOLDER: error: '{{.*}}no_such_folder/out.mlir'
// FILES:      errors.txt
// FILES-NEXT: kept.mlir
// FILES-NEXT: out.mlir
// FILES-NEXT: out.mlirbc
// FILES-NOT:  tmp
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  return %arg0 : tensor<1x4xf32>
}
