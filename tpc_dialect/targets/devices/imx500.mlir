// SPDX-License-Identifier: Apache-2.0
//
// Sony IMX500, whose converter takes ONNX.
tpc.device @imx500 title("the IMX500") for ["imx500"] {
  tpc.onnx_operators missing ["Erf", "Floor", "Log", "Reciprocal", "ReduceMin", "Tile"]
    wide ["Abs", "Add", "Clip", "Concat", "Cos", "Div", "Gelu", "HardSigmoid", "HardSwish", "Identity", "LeakyRelu", "Max",
          "Min", "Mul", "Neg", "Pad", "Pow", "Relu", "Reshape", "Sigmoid", "Sin", "Slice", "Sub", "Tanh"]
    behind_layers ["Clip", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Relu", "Sigmoid", "Tanh"]
    behind_sums ["Clip", "Relu"]
  tpc.onnx_limits batch 1 bytes 8388608 signed [8, 16] unsigned [8] power_of_two weights [2, 4, 8] symmetric tables_with_zero
}
