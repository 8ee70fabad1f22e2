// RUN: mct-opt %s --mct-lift-variables --split-input-file --verify-diagnostics

tosa.variable @s : tensor<2xf32>
func.func @write_in_a_branch(%x: tensor<2xf32>, %c: tensor<i1>) -> tensor<2xf32> {
  // expected-note @below {{let this op yield the value, and write it behind}}
  %0 = tosa.cond_if %c : tensor<i1> -> tensor<2xf32> {
    // expected-error @below {{'tosa.variable_write' op writes the variable 's' inside of 'tosa.cond_if', where it is not known whether and how often that happens}}
    tosa.variable_write @s, %x : tensor<2xf32>
    tosa.yield %x : tensor<2xf32>
  } else {
    tosa.yield %x : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}

// -----

tosa.variable @s : tensor<i32>
func.func @write_in_a_loop(%x: tensor<i32>, %c: tensor<i1>) -> tensor<i32> {
  // expected-note @below {{let this op yield the value}}
  %0 = tosa.while_loop (%arg = %x) : (tensor<i32>) -> tensor<i32> {
    tosa.yield %c : tensor<i1>
  } do {
  ^bb0(%arg: tensor<i32>):
    // expected-error @below {{'tosa.variable_write' op writes the variable 's' inside of 'tosa.while_loop'}}
    tosa.variable_write @s, %arg : tensor<i32>
    tosa.yield %arg : tensor<i32>
  }
  return %0 : tensor<i32>
}

// -----

tosa.variable @s : tensor<2xf32>
func.func private @helper(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{'tosa.variable_read' op reads the variable 's' outside of 'main', whose argument it becomes}}
  %0 = tosa.variable_read @s : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// expected-note @below {{inline the functions that are called, by the pass inline}}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @helper(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

tosa.variable @s : tensor<2xf32>
// expected-error @below {{'func.func' op gets arguments and results for its variables, but is called}}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tosa.variable_read @s : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @other(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-note @below {{called here; remove the call, or name another entry function}}
  %0 = func.call @main(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

tosa.variable @s : tensor<2xf32>
// expected-error @below {{'func.func' op has several blocks, through which the values of variables cannot be followed}}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tosa.variable_read @s : tensor<2xf32>
  cf.br ^next(%0 : tensor<2xf32>)
^next(%1: tensor<2xf32>):
  return %1 : tensor<2xf32>
}

// -----

// expected-note @below {{it is declared with type 'tensor<?x3xf32>'}}
tosa.variable @s : tensor<?x3xf32>
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @below {{'tosa.variable_read' op reads the variable 's' as 'tensor<2x3xf32>'}}
  %0 = tosa.variable_read @s : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
