// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_EXPORT_PASSES_TD
#define MCT_EXPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

def InsertShiftPointsPass : Pass<"mct-insert-shift-points", "::mlir::ModuleOp"> {
  let summary = "Quantize activations before they are shifted";
  let description = [{
    `mct-correct-shift-negative` leaves an activation, the addition of a constant, and a point. The IMX500 has no float
    values in between: it requires a signed 16-bit activation. A point with a power of two is inserted there, named
    after the activation; its threshold is the smallest one that covers all values that the point after the addition
    does not clip, so that no other values are clipped. Halves are rounded as at that point.

    `mct-translate --export-onnx` does this itself; the module after this pass computes the numbers of the file.

    The pass skips additions to values that are quantized already or that a layer produces (its bias), and additions
    before a point that does not have one grid.

    Before:
    ```mlir
    %1 = tosa.tanh %0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %2 = tosa.add %1, %one : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
    %3 = tpc.quantize %2 as "tanh_shifted" activation
           parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = false>) : tensor<1x4xf32>
    ```

    After:
    ```mlir
    %1 = tosa.tanh %0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %q = tpc.quantize %1 as "tanh" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 16>) : tensor<1x4xf32>
    %2 = tosa.add %q, %one : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
    %3 = tpc.quantize %2 as "tanh_shifted" activation
           parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = false>) : tensor<1x4xf32>
    ```
  }];
  let dependentDialects = ["::mct::tpc::TpcDialect", "::mlir::tosa::TosaDialect"];
}

#endif // MCT_EXPORT_PASSES_TD
