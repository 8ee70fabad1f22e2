// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_BITWIDTHS_PASSES_TD
#define MCT_BITWIDTHS_PASSES_TD

include "mct/Transforms/Options.td"

/// How parameters of alternatives are selected: as in the pipelines.
defvar Mct_CandidateSelectionOptions = [
  Mct_PipelineOption<"activationErrorMethod", "activation-error-method", Mct_ActivationErrorOption>,
  Mct_PipelineOption<"weightsErrorMethod", "weights-error-method", Mct_WeightErrorOption>,
  Mct_PipelineOption<"weightsErrorTolerance", "weights-error-tolerance", Mct_ErrorToleranceOption>,
  Mct_LpNormOption, Mct_PercentileOption, Mct_MinThresholdOption, Mct_ZThresholdOption,
];

def Mct_SensitivityMetricOption :
    Option<"metric", "metric", "::mct::SensitivityMetric", /*default=*/"::mct::SensitivityMetric::Auto",
           "How results are compared with those of the float network", "::mct::sensitivityMetricValues()">;
def Mct_SensitivitySamplesOption :
    Option<"maxSamples", "max-samples", "uint64_t", /*default=*/"512",
           "Measure distances from the float network on about that many samples; 0: on all">;
def Mct_ComparePointsOption :
    Option<"comparePoints", "compare-points", "double", /*default=*/"0",
           "Compare this fraction of the points inside of the network, too: 1 is what MCT compares">;
def Mct_SensitivityDistanceOption :
    Option<"distance", "distance", "::mct::SensitivityDistance", /*default=*/"::mct::SensitivityDistance::Auto",
           "How these points are compared with those of the float network", "::mct::sensitivityDistanceValues()">;
def Mct_SensitivityWeightingOption :
    Option<"weighting", "weighting", "::mct::SensitivityWeighting",
           /*default=*/"::mct::SensitivityWeighting::Average",
           "How the distances of these points become one", "::mct::sensitivityWeightingValues()">;

def Mct_SensitivityRoundingOption :
    Option<"roundMaxBits", "round-max-bits", "unsigned", /*default=*/"7",
           "Kernels of at most that many bits are rounded as by mct-round-weights; 0: none, all to the nearest levels">;

def Mct_BudgetOption :
    ListOption<"budget", "budget", "std::string",
               "Limits: `weights`, `activations`, `total`, `bops`, `compressed` or `cycles`, a colon, and a number of bytes (for `bops`: of "
               "operations, for `cycles`: of cycles; suffixes K, M, G of bytes), or a percentage of what 8 bits everywhere would use, "
               "of cycles of what the present alternatives take">;
def Mct_MaxLossOption :
    Option<"maxLoss", "max-loss", "double", /*default=*/"0",
           "Instead of a budget: the smallest compressed weights by which results get at most so many dB further from those "
           "of the float network; 0: a budget">;
def Mct_MaxDropOption :
    Option<"maxDrop", "max-drop", "double", /*default=*/"0",
           "Instead of a budget: the cheapest assignment whose drop of drop-metric is at most that, in the unit of the metric "
           "(of a share 0.005 is half a point), as validation-data show with 95 % confidence; 0: a budget">;
def Mct_DropMetricOption :
    Option<"dropMetric", "drop-metric", "std::string", /*default=*/"",
           "Metric that max-drop is about: top1, miou, psnr, … (see mct-run --metrics)">;
def Mct_MinimizeOption :
    Option<"minimize", "minimize", "::mct::MinimizedResource", /*default=*/"::mct::MinimizedResource::Weights",
           "Resource that max-drop makes as small as it can", "::mct::minimizedResourceValues()">;
def Mct_ValidationDataOption :
    ListOption<"validationData", "validation-data", "std::string",
               "Samples that max-drop is judged on, `FILE.npy` or `INPUT:FILE.npy`, …; others than those of calibration-data">;
def Mct_ValidationLabelsOption :
    Option<"labels", "labels", "std::string", /*default=*/"",
           "Labels of the samples of validation-data, as the metric takes them, in an `.npy` file">;
def Mct_DeviceOption :
    Option<"device", "device", "std::string", /*default=*/"",
           "The `tpc.device` that reads the weights: the cycles for which its layers wait for them decide, and max-loss "
           "is 0.1 where nothing else is given">;
def Mct_CostTableOption :
    Option<"costTable", "cost-table", "std::string", /*default=*/"",
           "Table of the cycles of layers on the device, as mct.cost.write_table writes it; empty: that which the device names">;
def Mct_ErrorTolerancesOption :
    ListOption<"weightsErrorTolerances", "weights-error-tolerances", "int64_t",
               "Kernels of 8 bits and more may have thresholds with at most so many times the least squared error">;
def Mct_BitWidthsInOption :
    Option<"bitWidthsIn", "bit-widths-in", "std::string", /*default=*/"",
           "Take the alternatives of this file, which bit-widths-out wrote and which may have been edited">;
def Mct_BitWidthsOutOption :
    Option<"bitWidthsOut", "bit-widths-out", "std::string", /*default=*/"",
           "Write the chosen alternatives, what they use, and the front of the best to this file">;
def Mct_RemeasureOption :
    Option<"remeasure", "remeasure", "unsigned", /*default=*/"2",
           "Number of the best assignments that are measured as complete networks, on samples that they were not rounded "
           "on; the best one is taken; 0: take the one with the least sum of sensitivities">;

def AddErrorTolerancesPass : Pass<"mct-add-error-tolerances", "::mlir::ModuleOp"> {
  let summary = "Let kernels have larger steps than those of the least error";
  let description = [{
    Adds alternatives to each operator: those that it has, with kernels of 8 bits and more whose config has an
    `error_tolerance`, one for each of `weights-error-tolerances`. Their codes are smaller, so that devices that read compressed weights wait
    less. The operator keeps the alternative that it has; `mct-measure-sensitivity` and `mct-assign-bit-widths` choose another one.
    Points without a config, and kernels whose method has no grid, get none.

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

def MeasureSensitivityPass : Pass<"mct-measure-sensitivity", "::mlir::ModuleOp"> {
  let summary = "Measure what each alternative of each operator does to the results of the network";
  let description = [{
    For each operator with several alternatives of the target (`#tpc.alternatives`) and each of these, runs the network on
    the samples with that alternative taken by that operator alone, and writes the distance of the results from those of
    the float network to the function as `tpc.sensitivities`. The kernels of all other such operators are float,
    activations are as they stand. The parameters of the alternatives are selected as `mct-select-parameters` and
    `mct-select-weight-parameters` do, with the same options. Kernels are rounded together as by
    `mct-round-weights` with `max-bits` equal to `round-max-bits`, with what the layer makes in float of what it reads as the target. Layers whose kernel changes
    get their mean output back, as by `mct-correct-bias`.

    `metric`: `kl`, the Kullback-Leibler divergence of the distributions along the last axis from those of the float
    network, where the rows of a result are not negative and sum up to 1, and of the softmax of others; `mse`, the mean
    squared error by the mean square; `logits`, the same of the logarithms of distributions, less their mean in each row, and `mse` of other
    results. `auto` takes `kl` for distributions and `mse` for everything else. Results
    that have no alternatives are compared before they are quantized. Distances are means over the samples, then over the
    results that are tensors of f32.

    `compare-points` > 0: points inside of the network are compared, too, and their weighted distance is added to that of
    the results. Points are the results of layers, additions, concatenations, sigmoids and softmax, behind their
    quantizers; with `0.3`, for example, 30 % of them, evenly spaced. `distance`, of each sample: `mse`, `kl` as above; `cosine`, 0 for
    values of the same direction and 1 for opposite ones; `auto` is `kl` for softmax, `cosine` for fully connected layers
    and sigmoids, `mse` for others. `weighting`: `average`, `last-layer`, `exponential`, which leaves out what hardly
    changes, or `hessian`: points count by how much the results of the float network change with them, the mean over 32
    samples of the squares of the gradients of v f, where f are the results and v random signs (`HessianScores.h`; of a softmax
    that is a result, and of an argmax, f is what it reads). `mct-assign-bit-widths` measures assignments as a whole by the
    results alone. The table says with which points it was measured:
    `points = {distance = "auto", fraction = 1.0, weighting = "hessian"}`.

    The part before an operator is run once: the network is cut at its layers, and values that cross a cut are kept for all
    samples, in memory up to 16 MiB and otherwise in a temporary file. Nothing is compiled anew for an alternative.
    Alternatives of the operators behind one cut are measured at the same time (as many as have 32 MiB of kernels): the
    threads share their batches. The table is the same bytes for any number of threads and any batch size.

    The table may be edited, or written by hand: every operator with alternatives has as many numbers as it has
    alternatives. `mct-assign-bit-widths` reads it. An operator that is measured already is not measured again; where the
    table says that it was measured on samples, and by another metric or with other points than asked for, that is an error.

    Fails where a point has no parameters (or no statistics to select those of an alternative from); with
    `weighting=hessian` also where an op between a point and a result has no rule for its gradient. `distance` and `weighting`
    without points to compare are an error.

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
  let summary = "Choose the alternatives of all operators that cost least within a budget";
  let description = [{
    Takes for each operator one of the alternatives of the target so that the sum of their sensitivities
    (`mct-measure-sensitivity`) is least and all limits of `budget` hold:

    * `weights`: bytes of all quantized weights;
    * `activations`: bytes of the largest cut, `total`: of both;
    * `bops`: operations on bits, with the width of the input of each layer;
    * `compressed`: bytes of all quantized weights in the compressed form in which Arm's Ethos-U reads kernels, an estimate
      that is within 2 % of what Vela 5.2 writes for Ethos-U55 (`mct/Quantization/WeightCoding.h`);
    * `cycles`: cycles of all layers on the device, by the document `mct-costs` of `cost-table`, or of the `tpc.cost_table` of `device`.
      The table knows a layer by its ops, shapes, strides, and widths, and its cycles by the compressed bytes of its kernel. A layer that it does
      not have is an error, as are alternatives that differ in the bits of an activation;

    the first four as `mct-report-resources` counts them. `75%` is of what 8 bits everywhere would use, of `cycles` of what the present alternatives take. One limit on what each operator
    uses by itself is solved exactly by dynamic programming, several and those on products as integer programs, exactly as
    well, by COIN-OR CBC. A sensitivity is measured with the other operators in float; in a network whose weights are rounded
    together, operators make up for a part of the errors of those before them. The share is not known in advance, so the
    optimum is found for `remeasure` shares from 0 to 0.8, by which sensitivities at the beginning count less than at the end;
    where some of these are the same, the next best sums fill up their number, without assignments in which some operators lose and
    none gains beside another one: these look nearer only by weights that are rounded to the samples. These assignments are rounded on one half of
    the samples and run as a whole on the other, and the other way round: weights of few bits fit the samples that they are
    rounded on, and the fewer the bits, the more they promise there. An assignment whose distance from the float network is
    1.5 times that of another one on one half is not run on the other half. The nearest assignment is taken, and the first among equals.
    Without samples the sum decides.

    Where no assignment keeps to the limits, an error tells which comes closest, and which limits it exceeds. `overrides`
    (as for `mct-insert-quantizers`): what its rules ask for is not changed. Alternatives of an operator go together: its
    result, its kernel and its constants. The points take the alternatives as by `mct-choose-candidates`; selecting
    parameters again gives them what is missing.

    `max-loss` instead of a budget: of the assignments that have the least sum of sensitivities for their compressed weights, the
    one with the smallest weights that is at most so many dB further from the float network than the present
    alternatives are, as complete networks. It is found by bisection, rounded and measured as above. `device`: not bytes count but
    the cycles for which layers wait for their weights, by `tpc.compressed_weights` and `tpc.repeated_layers` of that device; layers
    that wait for nothing keep their alternatives. `max-loss` is 0.1 then, where neither it nor a budget is given: the cheapest of several assignments
    that look near is further than it looks. In `mct-ptq` the loss is that of `metric=logits`.

    `max-drop`: the smallest `weights`, `total`, `bops` or `cycles` (`minimize`; cycles as those of a budget) by which `drop-metric` drops from the float network by no
    more than that, as samples with labels show that nothing else has seen (`validation-data`, `labels`). A tenth of them, by their
    values, is for the search. For budgets that become smaller by 4.2 % from step to step, from the present use to a sixteenth of
    it (of cycles: by a 64th of what alternatives save at most), the assignment with the least sum of sensitivities is solved exactly; bisection finds the smallest budget of which the
    search samples let expect that the others show it, and then up to three operators take the alternatives of the next smaller budget,
    one by one, where that is expected to hold as well. Each assignment is measured as the complete network that it becomes:
    `completed-by` are the passes behind this one; without them parameters are selected, and nothing is corrected. The other samples
    judge a sequence that does not depend on them: the present alternatives, the assignments of budgets towards the one that was found,
    that one, its exchanges, and smaller budgets. They are tested in this order, each with 95 % confidence on one side, and the last one
    before the first that fails is taken. By testing in a fixed order up to the first failure, errors do not add up: the probability
    that the drop is larger than `max-drop` is at most 5 %, whatever the number of tests (Maurer, Hothorn and Lehmacher 1995; Wiens
    2003). Limits are exact for shares of samples, by a bootstrap for
    other metrics. Where the present alternatives fail, an error
    tells the drop, its limit, and about how many samples would do.

    `bit-widths-out`: a JSON object with `function`, `budget`, `operators` (for each `name`, `alternative`, the `bits` of
    its points, and for each of its `alternatives` the bits and the `sensitivity`), `resources` (with `compressed_bytes` or `cycles` where these
    decide), `sum_of_sensitivities`,
    `measured` (the assignments that were run as a whole), with `max-drop` the `contract` and its `looks`, and `front`: every point, by rising weights, at which no
    assignment of the same weights or less has a smaller sum, with its alternatives in the order of `operators`.
    `bit-widths-in` reads `name` and `alternative` of `operators` from such a file, and solves nothing; with a `budget` too
    it fails where that is exceeded, and with `overrides` where their rules ask for something else. `function`, and the
    `bits` of an operator beside its `alternative`, may be left out, but not be others. Operators that are not named keep
    their alternatives.

    The function gets the limits as `tpc.budget`, which goes when an operator takes another alternative. With `remarks=true`
    a remark tells for each operator which alternative it takes, and what that costs.

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
               "Makes the complete network of an assignment that max-drop measures: builtin.module(PASSES)">,
    Mct_OverridesOption, Mct_RemarksOption,
  ] # Mct_SampleOptions # Mct_CandidateSelectionOptions # [
    Mct_SensitivityMetricOption, Mct_SensitivitySamplesOption, Mct_SensitivityRoundingOption,
  ];
}

#endif // MCT_BITWIDTHS_PASSES_TD
