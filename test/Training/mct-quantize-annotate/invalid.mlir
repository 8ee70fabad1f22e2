// RUN: mct-opt %s --mct-quantize-annotate="layers=sum" --split-input-file --verify-diagnostics

// expected-error@+1 {{'func.func' op has no operator 'sum' to annotate; mct-assign-names names its values}}
func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.tanh %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  // expected-error@+1 {{'tpc.quantize' op is already there; mark the operators of a network without points that quantize}}
  %0 = tpc.quantize %x as "x" activation : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  // expected-error@+1 {{'tpc.quantize' op marks no operator: what it reads is an argument}}
  %0 = tpc.quantize %x as "x" activation config(#tpc.quantize_config<>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.tanh %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tpc.quantize %0 as "a" activation config(#tpc.quantize_config<>) : tensor<1x4xf32>
  // expected-error@+1 {{'tpc.quantize' op marks no operator: what it reads is the result of another point, or of no operator}}
  %2 = tpc.quantize %1 as "b" activation config(#tpc.quantize_config<>) : tensor<1x4xf32>
  return %2 : tensor<1x4xf32>
}

// -----

func.func @main(%x: tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %0 = tosa.tanh %x : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("tanh")
  // expected-note@+1 {{the first mark is here}}
  %1 = tpc.quantize %0 as "a" activation config(#tpc.quantize_config<>) : tensor<1x4xf32>
  // expected-error@+1 {{'tpc.quantize' op marks 'tanh' a second time; remove one}}
  %2 = tpc.quantize %0 as "b" activation config(#tpc.quantize_config<>) : tensor<1x4xf32>
  return %1, %2 : tensor<1x4xf32>, tensor<1x4xf32>
}

// -----

// expected-error@+1 {{'func.func' op has 2 blocks; operators are marked in a network without control flow}}
func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  cf.br ^end
^end:
  return %x : tensor<1x4xf32>
}
