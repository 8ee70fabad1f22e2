// The kernels of LiteRT end the process for a difference whose scale is 2^-24 of that of its operands, as that of a value
// that is always zero is: the operator makes codes of a coarser grid, and QUANTIZE the others. Whatever is not zero
// saturates in both. A sum of two grids would lose the steps of the finer one, and is computed with numbers.
// RUN: mct-translate --export-tflite-json %s | FileCheck %s

// CHECK-DAG: "name": "difference/coarse"
// CHECK-DAG: "operator": "SUB"
// CHECK-DAG: "operator": "QUANTIZE"
// CHECK-DAG: "operator": "ADD"
// CHECK-DAG: "name": "sum",{{[[:space:]]*}}"reason": "has a result with a far smaller scale than that of an operand"
func.func @main(%x: tensor<1x4xf32> loc("x"), %y: tensor<1x4xf32> loc("y")) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4xf32>
  %1 = tpc.quantize %y as "y" activation parameters(#tpc.power_of_two<threshold = [0.5], bits = 8>) : tensor<1x4xf32>
  %2 = tosa.sub %0, %0 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("difference")
  %3 = tpc.quantize %2 as "difference" activation parameters(#tpc.power_of_two<threshold = [2.384185791015625e-07], bits = 8>) : tensor<1x4xf32>
  %4 = tosa.add %0, %1 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("sum")
  %5 = tpc.quantize %4 as "sum" activation parameters(#tpc.power_of_two<threshold = [0.0009765625], bits = 8>) : tensor<1x4xf32>
  return %3, %5 : tensor<1x4xf32>, tensor<1x4xf32>
}
