// Arguments that do not share a batch: a sample is what one call reads, two rows of the one and one row of the other.
// RUN: mct-run %s --input=pair:%S/Inputs/rows6.npy,row:%S/Inputs/a.npy --output=%t.npy | FileCheck %s
// RUN: mct-run %s --input=pair:%S/Inputs/stacked.npy,row:%S/Inputs/a.npy --output=%t.stacked.npy
// RUN: cmp %t.npy %t.stacked.npy
// RUN: od -An -v -tf4 -w8 -j128 %t.npy | FileCheck %s --check-prefix=ROWS
// RUN: not mct-run %s --input=pair:%S/Inputs/a.npy,row:%S/Inputs/a.npy 2>&1 | FileCheck %s --check-prefix=ODD
// RUN: not mct-run %s --input=pair:%S/Inputs/rows6.npy,row:%S/Inputs/rows6.npy 2>&1 | FileCheck %s --check-prefix=COUNT

// rows6: 0 ... 11; a: 1, 2 / 3, 4 / 5, 6.
// CHECK: samples    3
// ROWS:      1 3
// ROWS-NEXT: 3 5
// ROWS-NEXT: 7 9
// ROWS-NEXT: 9 11
// ROWS-NEXT: 13 15
// ROWS-NEXT: 15 17
// ROWS-NOT:  {{[0-9]}}
// ODD: error: '{{.*}}a.npy': expected shape Nx2 with 2 rows for each sample, or Nx2x2 for input 'pair', found 3x2
// COUNT: error: expected 3 samples for input 'row' as for 'pair', found 6; the inputs have leading sizes of their own, so that a sample of 'row' is all of 1x2, and not one row of it
func.func @main(%arg0: tensor<2x2xf32> loc("pair"), %arg1: tensor<1x2xf32> loc("row")) -> tensor<2x2xf32> {
  %0 = tosa.add %arg0, %arg1 : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
