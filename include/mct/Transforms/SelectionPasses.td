// SPDX-License-Identifier: Apache-2.0
//
// Passes that select parameters, or select them anew. Passes.td includes them.
#ifndef MCT_TRANSFORMS_SELECTIONPASSES_TD
#define MCT_TRANSFORMS_SELECTIONPASSES_TD

include "mct/Transforms/Options.td"

def Mct_ShiftRatioOption :
    Option<"ratio", "ratio", "double", /*default=*/"0.05",
           "Largest |minimum| / threshold of an activation that is shifted; inf: any">;
def Mct_ThresholdRecalculationOption :
    Option<"thresholdRecalculation", "threshold-recalculation", "bool", /*default=*/"true",
           "Select thresholds again for the shifted values">;
def Mct_ParameterSearchOption :
    Option<"parameterSearch", "parameter-search", "bool", /*default=*/"false",
           "Search shift and threshold together, smallest mean squared error first">;

def UpdateConcatThresholdsPass : Pass<"mct-update-concat-thresholds", "::mlir::func::FuncOp"> {
  let summary = "Quantize the operands of a concatenation on the grid of its result";
  let description = [{
    Every activation point whose only user is a concatenation, directly or through ops that move values, gets the
    parameters of the concatenation's point: its threshold together with its sign. The concatenation then moves codes
    and never quantizes a second time. Nested concatenations are followed. Runs after `mct-select-parameters`, which
    skips points that have parameters.

    A point stays unchanged if its method, its width or the sign that the target requires does not allow the grid;
    `remarks` says so.

    Source: MCT `concat_threshold_update`, which copies the threshold but not the sign: an unsigned operand of a signed
    concatenation there keeps a grid of its own. MCT does not go through nested concatenations.

    Before:
    ```mlir
    %a = tpc.quantize %arg0 as "a" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2xf32>
    %b = tpc.quantize %arg1 as "b" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x2xf32>
    %c = tosa.concat %a, %b {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
    %0 = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4xf32>
    ```

    After:
    ```mlir
    %a = tpc.quantize %arg0 as "a" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x2xf32>
    %b = tpc.quantize %arg1 as "b" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x2xf32>
    %c = tosa.concat %a, %b {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
    %0 = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4xf32>
    ```
  }];
  let options = [Mct_RemarksOption];
  let dependentDialects = ["::mct::tpc::TpcDialect"];
}

def SelectWeightParametersPass : Pass<"mct-select-weight-parameters", "::mlir::ModuleOp"> {
  let summary = "Select the quantization parameters of every weight";
  let description = [{
    Reads the constant of each weight point and writes the point's `parameters`: thresholds (or scales) in the unit of
    the weights, one per channel if the point has axes. Weights are always signed. Points that have parameters are
    skipped. `selection` records the error method, the remaining error in each channel, and a bound of its distance from
    the least possible error. The result does not depend on `threads`.

    A positional constant (`pos_attr`) whose config requires channels but that has no axes gets the axis that fits best.

    `error-method=hmse` weights the error of an element of a kernel by the mean square of the input channel it is
    multiplied with, from the statistics of the point that feeds the op: the diagonal of the Hessian of the op's squared
    output error, the same for all positions in space. A kernel whose input is not an activation point uses mse, with a
    warning; other weights use mse.

    `error-tolerance` above 1 selects the largest threshold whose error is at most that many times the least one: for
    powers of two the largest power, for a uniform grid the largest scale with the zero point of the least error. Codes
    are then smaller, so that tools that compress weights write fewer bytes, and devices that wait for their weights
    need fewer cycles: 2 costs at most 3 dB and saves about half a bit of entropy for each weight of a long channel. A
    short channel may change little, since its least error often is far below those of all steps nearby. The option
    applies to `mse` and `hmse` (and `lp` of 2), and to grids of 8 bits and more. Grids of fewer bits keep the least
    error: they have none to spare, and `mct-round-weights` starts from it. So do tables, methods with a selection of
    their own, and channels whose least error is zero. The next power of two has about four times the error, so that 2
    changes few of them. Corrections of biases and deviations come later and use the selected codes. `selection` has the
    selected error, with `bound` as its distance from the least one; a remark counts the larger steps.

    A method with a lookup table gets one table for the tensor, which always holds zero, and the thresholds; it minimizes
    the mean squared error for every `error-method`.

    Source: MCT `get_weights_qparams`; spec of the searches: `mct/Quantization/Selection.h`. MCT's hmse takes gradients
    of the network's output instead of statistics.

    Before:
    ```mlir
    %w = tpc.quantize %k as "conv2d" weight "kernel_attr" axes [0] config(#kernel8) : tensor<2x1x1x2xf32>
    ```

    After:
    ```mlir
    %w = tpc.quantize %k as "conv2d" weight "kernel_attr" axes [0] config(#kernel8)
           parameters(#tpc.symmetric<threshold = [0.5, 1.0], bits = 8>) : tensor<2x1x1x2xf32>
    ```
  }];
  let options = [
    Mct_WeightErrorOption,
    Mct_LpNormOption, Mct_PercentileOption, Mct_MinThresholdOption, Mct_ErrorToleranceOption, Mct_RemarksOption,
    Mct_ThreadsOption,
  ];
  let dependentDialects = ["::mct::tpc::TpcDialect"];
}

def SelectParametersPass : Pass<"mct-select-parameters", "::mlir::ModuleOp"> {
  let summary = "Select the quantization parameters of every calibrated activation";
  let description = [{
    Reads the statistics of each activation point and writes its `parameters`. The grid is signed if the target requires
    it, or if there are values below zero. A tensor whose `range` is known on both sides skips the search and covers
    that range. Weight points and points that have parameters are skipped. `z-threshold` excludes outliers from the
    range, the error and the signedness. `selection` records the error method, the remaining error, and a bound of its
    distance from the least possible error. The result does not depend on `threads`.

    Logits of scores, whose only users are sigmoids that become results, cover their range as well: detections are rare
    compared to the background, and a search would clip them. They reach up to the logit above which a score of that
    many bits is 1 (6.24 for 8 bits), even if no sample does, but not beyond -13.8 and 13.8, a score of one in a
    million. Explicit `percentile`, `z-threshold` and `no-clipping` apply unchanged.

    A method with a lookup table minimizes the mean squared error for every `error-method`, even if the range is known.

    A grid that the target fixes for every network (`fixed_scale`, `fixed_zero_point`) is used unchanged. It is ignored,
    with a remark, only if it is not a grid of the method, or does not have the sign of the values.

    A point whose config is `preserving` takes the parameters of the point whose moved or selected values it reads;
    `mct-update-concat-thresholds` and `mct-simulate-integers` keep them the same.

    Fails for a point without statistics: run `mct-calibrate` before.

    Source: MCT `get_activations_qparams`.

    Before:
    ```mlir
    %2 = tpc.quantize %1 as "relu6" activation config(#act8)
           statistics(#tpc.statistics<count = 4, zeros = 1, min = 0.0, max = 6.0, histogram = …>) : tensor<1x4xf32>
    ```

    After:
    ```mlir
    %2 = tpc.quantize %1 as "relu6" activation config(#act8)
           statistics(#tpc.statistics<count = 4, zeros = 1, min = 0.0, max = 6.0, histogram = …>)
           parameters(#tpc.power_of_two<threshold = [8.0], bits = 8, is_signed = false>) : tensor<1x4xf32>
    ```
  }];
  let options = [
    Mct_ActivationErrorOption,
    Mct_LpNormOption, Mct_PercentileOption, Mct_MinThresholdOption, Mct_RemarksOption,
    Mct_ZThresholdOption,
    Mct_ThreadsOption,
  ];
  let dependentDialects = ["::mct::tpc::TpcDialect"];
}

def CorrectShiftNegativePass : Pass<"mct-correct-shift-negative", "::mlir::ModuleOp"> {
  let summary = "Shift activations with a short negative tail above zero";
  let description = [{
    A swish, hard-swish, GELU, leaky ReLU, PReLU or ELU has a short negative tail, for which its signed grid spends half
    of its levels. A constant is added to its result, so that the grid becomes unsigned with half the step, and the
    users of the result subtract the effect of the constant from their biases. Runs after `mct-select-parameters`,
    before the bias correction. Exact in real numbers, borders included; in f32 results differ by rounding (<= 1e-5
    relative).

    * The shift is the smallest multiple of the new step that lifts the minimum (the lower bound of `range`, else that of
      the statistics) to zero. It is tried where |minimum| / threshold is at most `ratio`.
    * The sum joins the fused group of the non-linearity; its point is now after it. Statistics, range and parameters of
      the point are those of the shifted values. With `threshold-recalculation` the threshold is selected again with the
      options of `mct-select-parameters`, and with `error-method=no-clipping` it covers the largest shifted value.
      Without it the threshold stays.
    * From there on the shift is propagated through pools (an average of TOSA does not count its padding), additions,
      reshapes, transposes, slices, reverses, tiles and paddings, whose value is shifted too, to convolutions, depthwise
      convolutions and products with a constant; on linalg through maximum pools, additions, reshapes, transposes and
      `tensor.pad`. Points on the way hold shifted values and get new parameters as well. Padding of a convolution
      becomes a `tosa.pad` with the shift as value, and its bias becomes b - shift * (sum of the kernel over all but the
      output channel). The quantized kernel is used if it has parameters; with `bias-correction-follows` the float
      kernel, because a bias correction that follows includes the difference.
    * Shifted values get names with the suffix `_shifted`, because they differ from those of the float network.

    A result stays unchanged, with a remark under `remarks`, if the target requires a signed grid or one with a zero
    point, if one of its users does not accept shifted values, if the threshold would double, if without recalculation
    the shifted data exceed the threshold, or if the summed mean squared error of all affected points does not decrease.

    `parameter-search` selects, among the threshold and its double, and all shifts up to the one above, those of the
    smallest mean squared error, which includes clipped negative values.

    Source: MCT `apply_shift_negative_correction`, which keeps the threshold and clips; a fused
    op of its own makes the 16 bits superfluous that MCT gives to the result before the addition.

    Before:
    ```mlir
    %swish = tosa.mul %x, %sigmoid, %no_shift : (…) -> tensor<1x4x4x1xf32>
    %0 = tpc.quantize %swish as "act" activation config(#act8) statistics(#tpc.statistics<count = 3913, zeros = 0,
           min = -0.279, max = 15.0, histogram = …>) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x1xf32>
    %1 = tosa.conv2d %0, %ones, %zeros, %zero, %zero {pad = array<i64: 1, 1, 1, 1>, …} : (…) -> tensor<1x4x4x1xf32>
    ```

    After:
    ```mlir
    %swish = tosa.mul %x, %sigmoid, %no_shift : (…) -> tensor<1x4x4x1xf32>
    %shift = "tosa.const"() <{values = dense<0.3125> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %sum = tosa.add %swish, %shift : (…) -> tensor<1x4x4x1xf32>
    %0 = tpc.quantize %sum as "act_shifted" activation config(#act8) group(["act", "act_shifted"])
           statistics(#tpc.statistics<count = 3913, zeros = 0, min = 0.0335, max = 15.3125, histogram = …>)
           parameters(#tpc.power_of_two<threshold = [16.0], bits = 8, is_signed = false>) : tensor<1x4x4x1xf32>
    %padded = tosa.pad %0, %sizes, %value : (…) -> tensor<1x6x6x1xf32>
    %bias = "tosa.const"() <{values = dense<-2.8125> : tensor<1xf32>}> : () -> tensor<1xf32>
    %1 = tosa.conv2d %padded, %ones, %bias, %zero, %zero {pad = array<i64: 0, 0, 0, 0>, …} : (…) -> tensor<1x4x4x1xf32>
    ```
  }];
  let options = [
    Mct_ShiftRatioOption, Mct_ThresholdRecalculationOption, Mct_ParameterSearchOption,
    Mct_ActivationErrorOption,
    Mct_LpNormOption, Mct_PercentileOption, Mct_MinThresholdOption,
    Mct_ZThresholdOption,
    Option<"biasCorrectionFollows", "bias-correction-follows", "bool", /*default=*/"false",
           "Subtract the shift by the float kernel, because a bias correction follows">,
    Mct_RemarksOption,
  ];
  let dependentDialects = ["::mct::tpc::TpcDialect", "::mlir::tosa::TosaDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

#endif // MCT_TRANSFORMS_SELECTIONPASSES_TD
