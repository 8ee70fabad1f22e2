// RUN: rm -rf %t && mkdir %t && split-file %s %t && cp %S/../Execution/Inputs/ties.npy %t/ties.npy
// RUN: not mct-run %t/quantized.mlir --input=%t/ties.npy --report=%t/r.json 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not mct-run %t/quantized.mlir --input=%t/ties.npy --compare=%t/float.mlir --integer=%t/float.mlir 2>&1 | FileCheck %s --check-prefix=INTEGER
// RUN: not mct-run %t/quantized.mlir --input=%t/ties.npy --compare=%t/float.mlir --report-samples=3 2>&1 | FileCheck %s --check-prefix=SAMPLES
// RUN: not mct-run %t/quantized.mlir --input=%t/ties.npy --compare=%t/float.mlir --report=%t/r.json --exact 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: not mct-run %t/quantized.mlir --input=%t/ties.npy --compare=%t/float.mlir --report=%t/r.json --float-points="*" 2>&1 | FileCheck %s --check-prefix=POINTS
// RUN: not mct-run %t/quantized.mlir --input=%t/ties.npy --compare=%t/float.mlir --report=%t/r.json --output=%t/o.npy 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not mct-run %t/quantized.mlir --input=%t/ties.npy --compare=%t/float.mlir --report=%t/float.mlir 2>&1 | FileCheck %s --check-prefix=ONTO
// RUN: not mct-run %t/quantized.mlir --input=%t/ties.npy --compare=%t/float.mlir --report=%t/none/r.json 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not mct-run %t/quantized.mlir --input=%t/ties.npy --compare=- --integer=- --report=%t/r.json 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not mct-run %t/quantized.mlir --input=%t/ties.npy --compare=%t/float.mlir --integer=%t/none.mlir --report=%t/r.json 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not mct-run %t/blocks.mlir --input=%t/ties.npy --compare=%t/float.mlir --report=%t/r.json 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not mct-run --input=%t/ties.npy 2>&1 | FileCheck %s --check-prefix=MODULE
// Nothing was written, and nothing written over.
// RUN: not ls %t/r.json %t/o.npy 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: cmp %t/ties.npy %S/../Execution/Inputs/ties.npy
// RUN: FileCheck %s --check-prefix=KEPT --input-file=%t/float.mlir

// ALONE: error: --report needs --compare: the float module that the quantized one was made of
// INTEGER: error: --integer needs --report
// SAMPLES: error: --report-samples needs --report
// EXACT: error: --report does not go with --exact; it takes the quantized module, and the integer one as --integer
// POINTS: error: --report does not go with --float-points; it finds out by itself what each point does
// OUTPUT: error: --report does not go with --output; write the outputs with a run of their own
// ONTO: error: --report: {{.*}}float.mlir
// FOLDER: error: {{.*}}none/r.json{{.*}}: No such file or directory
// TWICE: error: standard input can only be read once
// MISSING: error: cannot read '{{.*}}none.mlir': {{.*}}No such file
// BLOCKS: error: {{.*}}blocks
// MODULE: error: a module is missing: the network to run
// NONE-DAG: {{cannot access.*r.json}}
// NONE-DAG: {{cannot access.*o.npy}}
// KEPT: func.func @main

//--- float.mlir
func.func @main(%x: tensor<1x2xf32> loc("x")) -> tensor<1x2xf32> {
  return %x : tensor<1x2xf32>
}

//--- quantized.mlir
func.func @main(%x: tensor<1x2xf32> loc("x")) -> tensor<1x2xf32> {
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [128.0], bits = 8>) : tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

//--- blocks.mlir
func.func @main(%x: tensor<1x2xf32> loc("x")) -> tensor<1x2xf32> {
  cf.br ^end
^end:
  return %x : tensor<1x2xf32>
}
