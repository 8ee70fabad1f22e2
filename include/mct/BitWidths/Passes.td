// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_BITWIDTHS_PASSES_TD
#define MCT_BITWIDTHS_PASSES_TD

include "mct/Transforms/Options.td"

/// Selection of the parameters of alternatives, with the options of the pipelines.
defvar Mct_CandidateSelectionOptions = [
  Mct_PipelineOption<"activationErrorMethod", "activation-error-method", Mct_ActivationErrorOption>,
  Mct_PipelineOption<"weightsErrorMethod", "weights-error-method", Mct_WeightErrorOption>,
  Mct_PipelineOption<"weightsErrorTolerance", "weights-error-tolerance", Mct_ErrorToleranceOption>,
  Mct_LpNormOption, Mct_PercentileOption, Mct_MinThresholdOption, Mct_ZThresholdOption,
];

def Mct_SensitivityMetricOption :
    Option<"metric", "metric", "::mct::SensitivityMetric", /*default=*/"::mct::SensitivityMetric::Auto",
           "Comparison of results with those of the float network", "::mct::sensitivityMetricValues()">;
def Mct_SensitivitySamplesOption :
    Option<"maxSamples", "max-samples", "uint64_t", /*default=*/"512",
           "Measure distances from the float network on about this many samples; 0: on all">;
def Mct_RefinementSamplesOption :
    Option<"maxSamples", "max-samples", "uint64_t", /*default=*/"64",
           "Compare thresholds on about this many samples; 0: on all">;
def Mct_ComparePointsOption :
    Option<"comparePoints", "compare-points", "double", /*default=*/"0",
           "Also compare this fraction of the points inside the network; 1 is what MCT compares">;
def Mct_SensitivityDistanceOption :
    Option<"distance", "distance", "::mct::SensitivityDistance", /*default=*/"::mct::SensitivityDistance::Auto",
           "Comparison of these points with those of the float network", "::mct::sensitivityDistanceValues()">;
def Mct_SensitivityWeightingOption :
    Option<"weighting", "weighting", "::mct::SensitivityWeighting",
           /*default=*/"::mct::SensitivityWeighting::Average",
           "Combination of the distances of these points", "::mct::sensitivityWeightingValues()">;

def Mct_SensitivityRoundingOption :
    Option<"roundMaxBits", "round-max-bits", "unsigned", /*default=*/"7",
           "Round kernels of at most this many bits as mct-round-weights does; 0: round all to the nearest levels">;

def Mct_BudgetOption :
    ListOption<"budget", "budget", "std::string",
               "Limits: `weights`, `activations`, `total`, `bops`, `compressed` or `cycles`, a colon, and a number "
               "of bytes (of operations for `bops`, of cycles for `cycles`; bytes with suffixes K, M, G), or a "
               "percentage of the use with 8 bits everywhere (for cycles: of the present alternatives)">;
def Mct_MaxLossOption :
    Option<"maxLoss", "max-loss", "double", /*default=*/"0",
           "Instead of a budget: the smallest compressed weights with which results are at most this many dB further "
           "from those of the float network; 0: a budget">;
def Mct_MaxDropOption :
    Option<"maxDrop", "max-drop", "double", /*default=*/"0",
           "Instead of a budget: the cheapest assignment whose drop of drop-metric is at most this, in the unit of "
           "the metric (0.005 of a share is half a point), with 95 % confidence on validation-data; 0: a budget">;
def Mct_DropMetricOption :
    Option<"dropMetric", "drop-metric", "std::string", /*default=*/"",
           "Metric of max-drop: top1, miou, psnr, … (see mct-run --metrics)">;
def Mct_MinimizeOption :
    Option<"minimize", "minimize", "::mct::MinimizedResource", /*default=*/"::mct::MinimizedResource::Weights",
           "Resource that max-drop minimizes", "::mct::minimizedResourceValues()">;
def Mct_ValidationDataOption :
    ListOption<"validationData", "validation-data", "std::string",
               "Samples for the judgement of max-drop, `FILE.npy` or `INPUT:FILE.npy`, …; not those of "
               "calibration-data">;
def Mct_ValidationLabelsOption :
    Option<"labels", "labels", "std::string", /*default=*/"",
           "Labels of the samples of validation-data for the metric, in an `.npy` file">;
def Mct_DeviceOption :
    Option<"device", "device", "std::string", /*default=*/"",
           "The `tpc.device` that reads the weights: the cycles for which its layers wait for them decide, and "
           "max-loss defaults to 0.1">;
def Mct_CostTableOption :
    Option<"costTable", "cost-table", "std::string", /*default=*/"",
           "Table of the cycles of layers on the device, as written by mct.cost.write_table; empty: that of the device">;
def Mct_ErrorTolerancesOption :
    ListOption<"weightsErrorTolerances", "weights-error-tolerances", "int64_t",
               "Let kernels of 8 bits and more have thresholds with at most this many times the least squared error">;
def Mct_BitWidthsInOption :
    Option<"bitWidthsIn", "bit-widths-in", "std::string", /*default=*/"",
           "Take the alternatives of this file, which bit-widths-out wrote and users may have edited">;
def Mct_BitWidthsOutOption :
    Option<"bitWidthsOut", "bit-widths-out", "std::string", /*default=*/"",
           "Write the chosen alternatives, their use of resources, and the Pareto front to this file">;
def Mct_RemeasureOption :
    Option<"remeasure", "remeasure", "unsigned", /*default=*/"2",
           "Number of the best assignments that are measured as complete networks, on samples that they were not "
           "rounded on, to take the best one; 0: take the one with the least sum of sensitivities">;

def AddErrorTolerancesPass : Pass<"mct-add-error-tolerances", "::mlir::ModuleOp"> {
  let summary = "Let kernels have larger steps than those of the least error";
  let description = [{
    Adds alternatives to each operator: its present ones, with an `error_tolerance` in the configs of kernels of 8 bits
    and more, one for each of `weights-error-tolerances`. Their codes are smaller, so that devices that read compressed
    weights wait less. The operator keeps its alternative; `mct-measure-sensitivity` and `mct-assign-bit-widths` choose
    another one. Points without a config, and kernels whose method has no grid, get none.

    Before:
    ```mlir
    %w = tpc.quantize %kernel as "conv" weight "kernel_attr"
           config(#tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>) : tensor<1x1x1x2xf32>
    ```

    After:
    ```mlir
    #w8 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
    #w8_4 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true, error_tolerance = 4>
    %w = tpc.quantize %kernel as "conv" weight "kernel_attr" config(#w8)
           candidates(#tpc.alternatives<of = "conv", configs = [#w8, #w8_4], chosen = 0>) : tensor<1x1x1x2xf32>
    ```
  }];
  let options = [Mct_ErrorTolerancesOption, Mct_FunctionOption];
}

def RefineThresholdsPass : Pass<"mct-refine-thresholds", "::mlir::ModuleOp"> {
  let summary = "Choose thresholds of activations by the results of the network";
  let description = [{
    `mct-select-parameters` gives each activation the threshold with the least error of its own values. Which errors
    matter depends on the layers behind it: a detector's few large values may be all that it is about, and an outlier may
    hardly have an effect. For each activation with one threshold, or one scale, this pass runs the network on the samples
    with 0.5, 0.75, 1.5 and 2 times that one (0.5 and 2 times if thresholds are powers of two), everything else being in
    float. The activation gets the threshold with which the results are nearest to those of the float network. Thresholds
    with more than eight times the error of the activation's values are not tried.

    The distance is that of `mct-measure-sensitivity` with `metric=auto`, separately for each group of channels of a result
    with a common meaning. Boxes count at each place as much as the largest score of the float network there. The distances
    of a group are divided by their sum over all activations with their own thresholds, and what is compared is the mean of
    these shares over the groups: boxes count as much as scores. All are measured before the first threshold changes. The
    network before an activation is run once; no code is compiled again. The result is the same bytes for any number of
    threads and any batch size.

    Runs after `mct-select-parameters` and `mct-correct-shift-negative`, before weights are rounded and biases corrected.
    Grids that the target fixes, and parameters from a file, stay. Fails if a point has no parameters or an
    activation no statistics.

    Source: Nahshan et al., "Loss Aware Post-training Quantization", 2019, which searches all steps together for the least
    loss.

    In this example, the first number of `x` is 1 or -1 and the second one 2 or 0. The result is a tenth of the first
    number plus the second one.

    Before:
    ```mlir
    %0 = tpc.quantize %x as "x" activation config(#act) statistics(…)
           parameters(#tpc.power_of_two<threshold = [2.0], bits = 2>) : tensor<1x1x1x2xf32>
    %1 = tosa.conv2d %0, %kernel, %zero, %zero, %zero {…} : (…) -> tensor<1x1x1x1xf32>
    ```

    After:
    ```mlir
    %0 = tpc.quantize %x as "x" activation config(#act) statistics(…)
           parameters(#tpc.power_of_two<threshold = [4.0], bits = 2>)
           selection(#tpc.selection<error_method = given, error = [0.4996]>) : tensor<1x1x1x2xf32>
    ```
  }];
  let options = Mct_SampleOptions # [Mct_RefinementSamplesOption, Mct_RemarksOption];
}

def MeasureSensitivityPass : Pass<"mct-measure-sensitivity", "::mlir::ModuleOp"> {
  let summary = "Measure the effect of each alternative of each operator on the results of the network";
  let description = [{
    For each operator with several alternatives of the target (`#tpc.alternatives`) and each of these, runs the network
    on the samples with that alternative taken by that operator alone, and writes the distance of the results from those
    of the float network to the function as `tpc.sensitivities`. The kernels of all other such operators are float,
    activations are as they are. The parameters of the alternatives are selected as `mct-select-parameters` and
    `mct-select-weight-parameters` do, with the same options. Kernels are rounded together as by `mct-round-weights`
    with `max-bits` equal to `round-max-bits`, with the layer's float result for its present operands as the target. The
    mean output of layers whose kernel changes is restored, as by `mct-correct-bias`.

    `metric`: `kl`, the Kullback-Leibler divergence of the distributions along the last axis from those of the float
    network, if the rows of a result are not negative and sum up to 1, otherwise of the softmax; `mse`, the mean squared
    error divided by the mean square; `logits`, the same for the logarithms of distributions, minus their mean in each
    row, and `mse` for other results. `auto` takes `kl` for distributions and `mse` for everything else. Results that
    have no alternatives are compared before they are quantized. Distances are means over the samples, then over the
    results that are tensors of f32.

    `compare-points` > 0: points inside the network are compared, too, and their weighted distance is added to that of
    the results. Points are the results of layers, additions, concatenations, sigmoids and softmax, after their
    quantizers; with `0.3`, for example, 30 % of them, evenly spaced. `distance`, for each sample: `mse`, `kl` as above;
    `cosine`, 0 for values of the same direction and 1 for opposite ones; `auto` is `kl` for softmax, `cosine` for fully
    connected layers and sigmoids, `mse` for others. `weighting`: `average`, `last-layer`, `exponential`, which ignores
    points that hardly change, or `hessian`: points are weighted by the sensitivity of the results of the float network
    to them, the mean over 32 samples of the squares of the gradients of v f, where f are the results and v random signs
    (`HessianScores.h`; for a softmax that is a result, and for an argmax, f is the operand). `mct-assign-bit-widths`
    measures complete assignments by the results alone. The table records the points with which it was measured: `points
    = {distance = "auto", fraction = 1.0, weighting = "hessian"}`.

    The part before an operator is run once: the network is cut at its layers, and values that cross a cut are kept for
    all samples, in memory up to 16 MiB and otherwise in a temporary file. No code is compiled again for an alternative.
    Alternatives of the operators after one cut are measured at the same time (as many as have 32 MiB of kernels): the
    threads share their batches. The table is the same bytes for any number of threads and any batch size.

    The table may be edited, or written by hand: every operator with alternatives has one number for each.
    `mct-assign-bit-widths` reads it. An operator that has been measured is not measured again; it is an error if the
    table was measured on samples by another metric or with other points than requested.

    Fails if a point has no parameters (or no statistics to select those of an alternative from); with
    `weighting=hessian` also if an op between a point and a result has no rule for its gradient. `distance` and
    `weighting` without points to compare are an error.

    Source: MCT `SensitivityEvaluation`, whose `AVG`, `LAST_LAYER`, `EXP` and `HESSIAN` are `compare-points=1` with the
    weightings; with activations that stay quantized.

    Before:
    ```mlir
    func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
      %w = tpc.quantize %kernel as "conv" weight "kernel_attr" config(#w8)
             candidates(#tpc.alternatives<of = "conv", configs = [#w8, #w2], chosen = 0>)
             parameters(#tpc.symmetric<threshold = [1.0], bits = 8>) : tensor<1x1x1x2xf32>
    ```

    After:
    ```mlir
    func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32>
        attributes {tpc.sensitivities = {metric = "mse", of = {conv = [2.32E-5, 0.0238]}, samples = 8 : i64}} {
    ```
  }];
  let options = Mct_SampleOptions # Mct_CandidateSelectionOptions # [
    Mct_SensitivityMetricOption, Mct_SensitivitySamplesOption, Mct_SensitivityRoundingOption,
    Mct_ComparePointsOption, Mct_SensitivityDistanceOption, Mct_SensitivityWeightingOption,
  ];
}

def AssignBitWidthsPass : Pass<"mct-assign-bit-widths", "::mlir::ModuleOp"> {
  let summary = "Choose the cheapest alternatives of all operators within a budget";
  let description = [{
    Takes one of the target's alternatives for each operator so that the sum of their sensitivities
    (`mct-measure-sensitivity`) is least and all limits of `budget` hold:

    * `weights`: bytes of all quantized weights;
    * `activations`: bytes of the largest cut, `total`: bytes of both;
    * `bops`: bit operations, with the width of the input of each layer;
    * `compressed`: bytes of all quantized weights in the compressed form in which Arm's Ethos-U reads kernels, an
      estimate within 2 % of the size that Vela 5.2 writes for Ethos-U55 (`mct/Quantization/WeightCoding.h`);
    * `cycles`: cycles of all layers on the device, by the document `mct-costs` of `cost-table`, or of the
      `tpc.cost_table` of `device`. The table identifies a layer by its ops, shapes, strides, and widths, and has its
      cycles by the compressed bytes of its kernel. A layer that it does not have is an error, as are alternatives that
      differ in the bits of an activation;

    the first four as `mct-report-resources` counts them. `75%` refers to the use with 8 bits everywhere, for `cycles`
    to that of the present alternatives. One limit on a sum over operators is solved exactly by dynamic programming,
    several limits and those on products as integer programs, also exactly, by COIN-OR CBC. A sensitivity is measured
    with the other operators in float; in a network whose weights are rounded jointly, operators compensate a part of
    the errors of those before them. The share is not known in advance, so the optimum is found for `remeasure` shares
    from 0 to 0.8, by which sensitivities at the beginning count less than at the end; if some of these optima are
    equal, the next best sums complete their number, without assignments in which some operators lose and none gains
    compared to another one: these seem nearer only because weights are fitted to the samples. These assignments are
    rounded on one half of the samples and run as complete networks on the other, and vice versa: weights of few bits
    overfit the samples that they are rounded on, and the fewer the bits, the more so. An assignment whose distance from
    the float network is 1.5 times that of another one on one half is not run on the other half. The nearest assignment
    is taken, and the first among equals. Without samples the sum decides.

    If no assignment keeps to the limits, an error names the closest one and the limits that it exceeds. Tensors with a
    rule in `overrides` (as for `mct-insert-quantizers`) are not changed. An alternative of an operator applies to its
    result, its kernel and its constants together. The points take the alternatives as by `mct-choose-candidates`;
    selecting parameters again adds those that are missing.

    `max-loss` instead of a budget: of the assignments that have the least sum of sensitivities for their compressed
    weights, the one with the smallest weights that is at most so many dB further from the float network than the
    present alternatives are, as complete networks. It is found by bisection, rounded and measured as above. `device`:
    instead of bytes, the cycles for which layers wait for their weights count, by `tpc.compressed_weights` and
    `tpc.repeated_layers` of that device; layers that do not wait keep their alternatives. `max-loss` is then 0.1 if
    neither it nor a budget is given: the cheapest of several assignments that seem near is further away than it seems.
    In `mct-ptq` the loss is that of `metric=logits`.

    `max-drop`: the smallest `weights`, `total`, `bops` or `cycles` (`minimize`; cycles as those of a budget) with which
    `drop-metric` drops from the float network by no more than that, on labelled samples that nothing else has used
    (`validation-data`, `labels`). A tenth of them, by their values, is for the search. For budgets that become smaller
    by 4.2 % from step to step, from the present use to a sixteenth of it (of cycles: by a 64th of what alternatives
    save at most), the assignment with the least sum of sensitivities is solved exactly; bisection finds the smallest
    budget for which the search samples predict success on the others. Within it, `remeasure` assignments are compared
    as for a budget, and then up to three operators take the alternatives of the next smaller budget, one by one, if
    that is predicted to succeed as well. Each assignment is measured as the complete network that it becomes:
    `completed-by` are the passes after this one; without them parameters are selected, and nothing is corrected. The
    other samples judge a sequence that does not depend on them: the present alternatives, the assignments of budgets
    towards the one that was found, that one, its exchanges, and smaller budgets up to one that the search samples
    refute with the same confidence. They are tested in this order, each with 95 % confidence on one side, and the last
    one before the first that fails is taken. By testing in a fixed order up to the first failure, errors do not add up:
    the probability that the drop is larger than `max-drop` is at most 5 %, whatever the number of tests (Maurer,
    Hothorn and Lehmacher 1995; Wiens 2003). If at least 10 000 samples judge, and the search predicts that the limit of
    its assignment is at most three quarters of `max-drop`, that assignment is tested first, with 95.5 %, and the more
    expensive ones only if it fails, with 99.5 %. Limits are exact for shares of samples, by a bootstrap for other
    metrics. If the present alternatives fail, an error names the drop, its limit, and about how many samples would be
    enough.

    `bit-widths-out`: a JSON object with `function`, `budget`, `operators` (for each `name`, `alternative`, the `bits`
    of its points, and for each of its `alternatives` the bits and the `sensitivity`), `resources` (with
    `compressed_bytes` or `cycles` if these decide), `sum_of_sensitivities`, `measured` (the assignments that were run
    as a whole), with `max-drop` the `contract` and its `looks`, and `front`: every point, by rising weights, at which
    no assignment of the same weights or less has a smaller sum, with its alternatives in the order of `operators`.
    `bit-widths-in` reads `name` and `alternative` of `operators` from such a file, and solves nothing; with a `budget`
    it fails if that is exceeded, and with `overrides` if their rules request something else. `function`, and the `bits`
    of an operator beside its `alternative`, may be missing, but must not differ. Operators that are not named keep
    their alternatives.

    The function gets the limits as `tpc.budget`, which is removed when an operator takes another alternative. With
    `remarks=true` a remark for each operator names the alternative that it takes, and its cost.

    Source: MCT `MixedPrecisionSearchManager`, whose products are not exact.

    Before:
    ```mlir
    func.func @main(…) attributes {tpc.sensitivities = {metric = "mse", of = {conv = [4.0e-06, 2.5e-01]}, samples = 4 : i64}} {
      %w = tpc.quantize %kernel as "conv" weight "kernel_attr" config(#w8)
             candidates(#tpc.alternatives<of = "conv", configs = [#w8, #w2], chosen = 0>)
             parameters(#tpc.symmetric<threshold = [1.0], bits = 8>) : tensor<1x1x1x2xf32>
    ```

    After:
    ```mlir
    func.func @main(…) attributes {tpc.budget = {weights_bytes = 1 : i64},
                                   tpc.sensitivities = {metric = "mse", of = {conv = [4.0e-06, 2.5e-01]}, samples = 4 : i64}} {
      %w = tpc.quantize %kernel as "conv" weight "kernel_attr" config(#w2)
             candidates(#tpc.alternatives<of = "conv", configs = [#w8, #w2], chosen = 1>) : tensor<1x1x1x2xf32>
    ```
  }];
  let options = [
    Mct_BudgetOption, Mct_MaxLossOption, Mct_MaxDropOption, Mct_DropMetricOption, Mct_MinimizeOption, Mct_ValidationDataOption,
    Mct_ValidationLabelsOption, Mct_DeviceOption, Mct_CostTableOption, Mct_BitWidthsInOption, Mct_BitWidthsOutOption, Mct_RemeasureOption,
    ListOption<"completedBy", "completed-by", "::mlir::OpPassManager",
               "Passes that complete the network of an assignment for max-drop: builtin.module(PASSES)">,
    Mct_OverridesOption, Mct_RemarksOption,
  ] # Mct_SampleOptions # Mct_CandidateSelectionOptions # [
    Mct_SensitivityMetricOption, Mct_SensitivitySamplesOption, Mct_SensitivityRoundingOption,
  ];
}

#endif // MCT_BITWIDTHS_PASSES_TD
