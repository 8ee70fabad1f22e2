// The option says whose arguments variables become.
// RUN: mct-opt %s --mct-lift-variables=function=two | FileCheck %s
// RUN: not mct-opt %s --mct-lift-variables 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: error: 'builtin.module' op has several public functions: 'one', 'two'; choose one with the option 'function'

// CHECK: func.func @one(%{{.*}}: tensor<2xf32>) -> tensor<2xf32>
// CHECK: func.func @two(%{{.*}}: tensor<2xf32>, %{{.*}}: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
module {
  tosa.variable @s : tensor<2xf32>
  func.func @one(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
  func.func @two(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = tosa.variable_read @s : tensor<2xf32>
    tosa.variable_write @s, %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
