// RUN: split-file %s %t
// RUN: not mct-opt %t/main.mlir --mct-report-costs=cost-table=%S/Inputs/format.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not mct-opt %t/main.mlir --mct-report-costs=cost-table=%S/Inputs/version.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=VERSION
// RUN: not mct-opt %t/main.mlir --mct-report-costs=cost-table=%S/Inputs/no-layers.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=NO-LAYERS
// RUN: not mct-opt %t/main.mlir --mct-report-costs=cost-table=%S/Inputs/number.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not mct-opt %t/main.mlir --mct-report-costs=cost-table=%S/Inputs/no-form.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=NO-FORM
// RUN: not mct-opt %t/main.mlir --mct-report-costs=cost-table=%S/Inputs/bits.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not mct-opt %t/main.mlir --mct-report-costs=cost-table=%S/Inputs/no-points.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=NO-POINTS
// RUN: not mct-opt %t/main.mlir --mct-report-costs=cost-table=%S/Inputs/negative.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not mct-opt %t/main.mlir --mct-report-costs=cost-table=%S/Inputs/order.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not mct-opt %t/main.mlir --mct-report-costs=cost-table=%S/Inputs/twice.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not mct-opt %t/main.mlir --mct-report-costs=cost-table=%S/Inputs/broken.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: not mct-opt %t/main.mlir --mct-report-costs=cost-table=%S/Inputs/absent.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not mct-opt %t/main.mlir --mct-report-costs=cost-table=%S/Inputs/eight.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not mct-opt %t/main.mlir --mct-report-costs="device=ethos-u55 cost-table=%S/Inputs/costs.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not mct-opt %t/main.mlir --mct-report-costs=device=%S/Inputs/lost.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOST
// RUN: mct-opt %t/main.mlir --mct-report-costs=device=%S/Inputs/npu.mlir -o /dev/null | FileCheck %s --check-prefix=NAMED
// RUN: not mct-opt %t/blocks.mlir --mct-report-costs -o /dev/null 2>&1 | FileCheck %s --check-prefix=BLOCKS

// FORMAT: error: cannot read costs from '{{.*}}format.json': expected an object with "format": "mct-costs"
// VERSION: error: cannot read costs from '{{.*}}version.json': expected version 1; write the table again with mct.cost.write_table
// NO-LAYERS: error: cannot read costs from '{{.*}}no-layers.json': expected a text as 'device' and a list of 'layers'
// NUMBER: error: cannot read costs from '{{.*}}number.json': expected objects as 'layers'
// NO-FORM: error: cannot read costs from '{{.*}}no-form.json': layer 0: expected lists of texts as 'ops', 'operands' and 'constants', a text as 'result' and an object as 'attributes'
// BITS: error: cannot read costs from '{{.*}}bits.json': layer 0: expected a positive integer as 'kernel_bits', or none for kernels of any width
// NO-POINTS: error: cannot read costs from '{{.*}}no-points.json': layer 0: expected 'points', at least one
// NEGATIVE: error: cannot read costs from '{{.*}}negative.json': layer 0: expected whole numbers from 0 on as 'compressed_bytes', 'cycles' and 'memory_bytes' of each of its 'points'
// ORDER: error: cannot read costs from '{{.*}}order.json': layer 0: expected 'points' by rising 'compressed_bytes', found 5 behind 5
// TWICE: error: cannot read costs from '{{.*}}twice.json': layer 1: it has the form of layer 0; join their 'points'
// BROKEN: error: cannot read costs from '{{.*}}broken.json': {{.+}}see docs/guide/troubleshooting.md#a-cost-table-cannot-be-used
// ABSENT: error: cannot read costs from '{{.*}}absent.json': 
// MISSING: error: {{.*}}costs of 'conv' are not in '{{.*}}eight.json' for a kernel of 4 bits
// MISSING: note: {{.*}}the layer is {"attributes":{{.*}}"result":"1x2x2x2xi8"}; write a table of this network with mct.cost.write_table
// OTHER: error: the costs in '{{.*}}costs.json' are of 'my-npu', and not of 'ethos-u55'; give the table of this device
// The path begins at the file of the device, and the error is there.
// LOST: lost.mlir:3:3: error: cannot read costs from '{{.*}}Inputs/nowhere.json'
// NAMED: in total: 120 cycles
// BLOCKS: error: 'func.func' op has several blocks, so that its costs are not known

//--- main.mlir
func.func @main(%x: tensor<1x2x2x4xf32> loc("x")) -> tensor<1x2x2x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x4xf32>}> : () -> tensor<2x1x1x4xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %xq = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x2x2x4xf32>
  %wq = tpc.quantize %w as "conv" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 4>) : tensor<2x1x1x4xf32>
  %0 = tosa.conv2d %xq, %wq, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x4xf32>, tensor<2x1x1x4xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32> loc("conv")
  %1 = tpc.quantize %0 as "conv" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x2x2x2xf32>
  return %1 : tensor<1x2x2x2xf32>
}
//--- blocks.mlir
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}
