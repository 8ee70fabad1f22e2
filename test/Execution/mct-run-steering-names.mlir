// Names are printed as text: an escape sequence in a file, or a line break, steers no terminal.
// RUN: mct-run %s --input=%S/Inputs/a.npy --compare=%s | FileCheck %s
// RUN: mct-run %s --signature | FileCheck %s --check-prefix=SIGNATURE
// RUN: mct-opt %s --mct-report-memory -o /dev/null | FileCheck %s --check-prefix=MEMORY
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/a.npy input-scale=1e38" 2>&1 -o /dev/null | FileCheck %s --check-prefix=ERROR

// CHECK:     point\1B[31m
// CHECK-NOT: {{\x1b}}
// SIGNATURE: input     in\1B[2Jput
// SIGNATURE: output    line\0Abreak\9Bé
// MEMORY-NOT: {{\x1b}}
// ERROR-NOT: {{\x1b}}
// ERROR: error:
func.func @main(%arg0: tensor<1x2xf32> loc("in\1B[2Jput")) -> tensor<1x2xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("exp\1B]0;title\07")
  %1 = tpc.quantize %0 as "point\1B[31m" activation : tensor<1x2xf32>
  %2 = tosa.abs %1 : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("line\0Abreak\9B\C3\A9")
  return %2 : tensor<1x2xf32>
}
