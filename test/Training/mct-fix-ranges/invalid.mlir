// RUN: not mct-opt %s --mct-fix-ranges=function=points -o /dev/null 2>&1 | FileCheck %s --check-prefix=POINTS
// RUN: not mct-opt %s --mct-fix-ranges="function=points outputs=false" -o /dev/null 2>&1 | FileCheck %s --check-prefix=INPUTS
// RUN: not mct-opt %s --mct-fix-ranges="function=points inputs=false" -o /dev/null 2>&1 | FileCheck %s --check-prefix=OUTPUTS
// RUN: not mct-opt %s --mct-fix-ranges="function=points bits=1" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not mct-opt %s --mct-fix-ranges="function=points input-min=2.0 input-max=-1.0" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not mct-opt %s --mct-fix-ranges="function=points output-min=0.5" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not mct-opt %s --mct-fix-ranges=function=blocks -o /dev/null 2>&1 | FileCheck %s --check-prefix=BLOCKS

// POINTS: error: 'func.func' op has no point that reads an argument, or of a result; insert points first
// INPUTS: error: 'func.func' op has no point that reads an argument; insert points first
// OUTPUTS: error: 'func.func' op has no point of a result; insert points first
// BITS: error: 'func.func' op cannot have ranges of 1 bits; give 2 to 16
// ORDER: error: 'func.func' op cannot have the input range [2.0{{.*}}, -1.0{{.*}}]; it must ascend, and hold 0
// ZERO: error: 'func.func' op cannot have the output range [5.0{{.*}}, 1.0{{.*}}]; it must ascend, and hold 0
// BLOCKS: error: 'func.func' op has several blocks; ranges are fixed in a network without control flow
func.func @points(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.exp %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

func.func @blocks(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  cf.br ^end
^end:
  return %x : tensor<1x4xf32>
}
