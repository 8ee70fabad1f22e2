// Which samples these are: values of several inputs belong together.
// RUN: rm -rf %t && mkdir %t && cp %S/../Execution/Inputs/a.npy %S/../Execution/Inputs/b.npy %t
// RUN: python3 %S/Inputs/reorder.py %t/a.npy %t/a0.npy %t/a1.npy
// RUN: python3 %S/Inputs/reorder.py %t/b.npy %t/b0.npy %t/b1.npy
// RUN: mct-run %s --input=0:%t/a.npy,1:%t/b.npy --compare=%s --report=%t/plain.json > %t/out.txt
// RUN: mct-run %s --input=1:%t/b.npy,0:%t/a.npy --compare=%s --report=%t/named.json --batch-size=2 --num-threads=1 > %t/out.txt
// RUN: mct-run %s --input=0:%t/a0.npy,0:%t/a1.npy,1:%t/b0.npy,1:%t/b1.npy --compare=%s --report=%t/reordered.json > %t/out.txt
// RUN: mct-run %s --input=0:%t/a0.npy,0:%t/a1.npy,1:%t/b.npy --compare=%s --report=%t/others.json > %t/out.txt
// RUN: mct-run %s --input=0:%t/b.npy,1:%t/a.npy --compare=%s --report=%t/swapped.json > %t/out.txt
// RUN: mct-run %s --input=0:%t/a.npy,1:%t/b.npy --compare=%s --report=%t/fewer.json --samples=2 > %t/out.txt
// RUN: python3 %S/Inputs/summary.py %t/plain.json digest > %t/digest.txt
// RUN: FileCheck %s < %t/digest.txt
// RUN: python3 %S/Inputs/summary.py %t/named.json digest | diff - %t/digest.txt
// RUN: python3 %S/Inputs/summary.py %t/reordered.json digest | diff - %t/digest.txt
// RUN: python3 %S/Inputs/summary.py %t/others.json digest | not diff - %t/digest.txt
// RUN: python3 %S/Inputs/summary.py %t/swapped.json digest | not diff - %t/digest.txt
// RUN: python3 %S/Inputs/summary.py %t/fewer.json digest | not diff - %t/digest.txt

// CHECK: {{^[0-9a-f]+$}}
func.func @main(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tosa.add %arg0, %arg1 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  %1 = tpc.quantize %0 as "sum" activation parameters(#tpc.power_of_two<threshold = [64.0], bits = 8, is_signed = false>) : tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}
