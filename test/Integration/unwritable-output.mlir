// Standard output that cannot be written is one error, also where it is found only at the end; a pipe whose reader has left
// ends a tool without a message, unless the caller ignores the signal.
// The option keeps `test/round-trip`, which copies modules, out of the way.
// RUN: not mct-opt %s --dump-pass-pipeline 2>&1 >/dev/full | FileCheck %s --check-prefix=FULL
// RUN: not mct-opt --tpc-list-targets 2>&1 >/dev/full | FileCheck %s --check-prefix=FULL
// RUN: not mct-run --metrics 2>&1 >/dev/full | FileCheck %s --check-prefix=FULL
// RUN: not mct-translate --export-parameters %s 2>&1 >/dev/full | FileCheck %s --check-prefix=FULL
// RUN: not sh -c 'mct-opt %s --dump-pass-pipeline 2>&1 1>&-' 2>&1 | FileCheck %s --check-prefix=CLOSED
// RUN: sh -c 'trap "" PIPE; (sleep 1; mct-opt --help) 2>%t.ignored | true'
// RUN: FileCheck %s --check-prefix=IGNORED < %t.ignored
// RUN: sh -c '(sleep 1; mct-opt --help) 2>%t.silent | true'
// RUN: count 0 < %t.silent
// Messages that nobody can read do not make a result wrong.
// RUN: sh -c 'mct-opt %s --mct-fold-constants -o %t.mlir 2>&-'
// RUN: test -s %t.mlir

// FULL-NOT: LLVM ERROR
// FULL: error: cannot write the output: No space left on device
// CLOSED-NOT: LLVM ERROR
// CLOSED: error: cannot write the output: Bad file descriptor
// IGNORED: error: cannot write the output: Broken pipe
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  return %arg0 : tensor<1x4xf32>
}
