// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_CORRECTIONS_PASSES_TD
#define MCT_CORRECTIONS_PASSES_TD

include "mct/Support/Options.td"

def Mct_BiasSamplesOption :
    Option<"maxSamples", "max-samples", "uint64_t", /*default=*/"256",
           "Measure errors in the quantized network on about this many samples; 0: on all">;
def Mct_RoundingSamplesOption :
    Option<"maxSamples", "max-samples", "uint64_t", /*default=*/"1024",
           "Measure on about this many samples; 0: on all">;
def Mct_HalfOption :
    Option<"half", "half", "::mct::execution::SampleHalf", /*default=*/"::mct::execution::SampleHalf::All",
           "Measure on one half of the samples, chosen by their values, so that the other half can judge",
           "::mct::sampleHalfValues()">;
def Mct_JudgeOption :
    Option<"judge", "judge", "bool", /*default=*/"true",
           "Undo corrections that make results worse on the judging samples">;
def Mct_BiasEstimateOption :
    Option<"estimate", "estimate", "::mct::BiasEstimate", /*default=*/"::mct::BiasEstimate::QuantizedNetwork",
           "Source of the error of a layer", "::mct::biasEstimateValues()">;

def Mct_MaxBitsOption : Option<"maxBits", "max-bits", "unsigned", /*default=*/"7",
                               "Only layers whose kernels have at most this many bits">;

def Mct_BiasErrorOption : Option<"threshold", "threshold", "double", /*default=*/"0.0",
                                 "Smallest error to correct, in percent of the mean">;

def CorrectBiasPass : Pass<"mct-correct-bias", "::mlir::ModuleOp"> {
  let summary = "Restore the mean output of every layer, which quantization changes";
  let description = [{
    Applies to layers: convolutions (also depthwise and transposed) and matrix products whose kernel has a point with
    parameters, of TOSA and of linalg, as `tpc.framework` describes them. The samples are those of `mct-calibrate`; the
    result does not depend on `threads` or `batch-size`.

    * `estimate=quantized-network`: layer by layer, from the inputs on, in the quantized network: bias += mean of the
      float layer's output - mean of the quantized layer's output, per channel. Earlier layers are corrected when a
      layer is measured, so that each one also corrects their remaining errors. Layers that do not depend on each other
      are measured together. The outputs of layers are kept between two measurements, as codes if a point has quantized
      them, in memory up to 48 MiB and otherwise in a temporary file: all layers together cost one pass over the network
      in addition to that of the float network. On n samples, the mean keeps 1 / n of the variance of an error between
      samples by chance; no bias can remove that variance itself. With more than `max-samples`, the squared error of a
      layer could shrink by 1 / `max-samples` at most (0.02 dB for 256), so that no more are measured. They are chosen
      by their values and not by their order. With `shrink`, an error d whose standard error over the samples is e
      counts as d * max(0, 1 - e^2 / d^2): an error that varies between samples more than its mean is chance, and would
      be wrong for other samples. A few samples determine one channel badly, so that no error counts more than the
      larger of two factors that come from all channels of the layer: s / (s + e^2), where s is the mean of d^2 - e^2,
      and 1 - 1 / q, where q is the mean of d^2 / e^2, each 9 at most, times (n - 3) / (n - 1) for n samples. e is
      computed from all samples if they fit in 64 MiB; for more samples the mean is accurate enough. With fewer than 8
      samples errors count in full. With `judge`, samples to which the correction is not fitted judge it: of 256 and
      more samples, 64 are held out; of 16 to 255, each half (chosen by values) judges the correction fitted to the
      other half; of fewer, or with a fixed batch, all judge the correction fitted to them. Layers are corrected under
      two conditions. In a layer the squared errors of the means of its channels must not be larger with its correction
      than without, beyond chance (if none were held out: with the mean of all other samples). And no result of the
      function may have a squared error that is larger by more than 0.1 dB and beyond chance, which is two standard
      errors of the difference from sample to sample, times sqrt((n - 1) / (n - 3)) for n samples; nor may the mean loss
      of all results, in dB, be more than 0.1 dB and the mean of their standard errors. If one has, the
      smallest set of layers is searched, by halving, without whose corrections that result is a standard error away
      from any loss and no other one loses; the others are measured again without it, and judged again. Corrections that
      are undone are recorded in `tpc.rejected_corrections` of the function, and are not tried again. The remaining ones
      are measured on all samples that are not held out. If those judge as well, because there are fewer than 256, no
      result may lose more than 0.1 dB on them, whether that is beyond chance or not: a correction gains on the samples
      that it is fitted to, or on none. Fewer than 4 samples judge nothing, and neither do results that are not tensors
      of f32 with a batch, or not finite. Channels of a result that come from different operands of concatenations,
      as boxes and scores do, are judged separately: errors of scores are negligible beside coordinates in pixels.
    * `estimate=input-mean`: bias -= (sum over space of quantized - float kernel) * mean of the layer's input in the
      float network. Ignores the quantization of activations and borders.

    The correction is recorded as `corrections` on the point of the kernel; a layer that has either, or whose weights
    were rounded (`mct-round-weights`), is not corrected again. A layer without a bias gets one. Layers stay unchanged
    if their bias is not constant per channel, or if the point of their kernel has several users; `input-mean` also
    skips layers that `mct-correct-second-moment` changed.

    Source: `input-mean` is MCT `compute_bias_correction_of_graph` (which takes the mean of batch means);
    `quantized-network` is ours; the README compares both.

    Before:
    ```mlir
    %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0]
           parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
    %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {…} : (…) -> tensor<1x1x1x1xf32>
    ```

    After:
    ```mlir
    %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0]
           parameters(#tpc.symmetric<threshold = [1.0], bits = 2>)
           corrections(#tpc.corrections<applied = ["quantized_network"], bias_offset = [1.25], kernel_scale = [1.0]>)
           : tensor<1x1x1x2xf32>
    %0 = tosa.conv2d %arg0, %w, %new_bias, %zero, %zero {…} : (…) -> tensor<1x1x1x1xf32>
    ```
  }];
  let options = [
    Mct_BiasEstimateOption,
    Option<"shrink", "shrink", "bool", /*default=*/"true",
           "Ignore the part of a measured error that other samples would not show">,
    Mct_BiasSamplesOption,
    Mct_HalfOption,
    Mct_JudgeOption,
    Mct_RemarksOption,
  ] # Mct_SampleOptions;
}

def CorrectSecondMomentPass : Pass<"mct-correct-second-moment", "::mlir::ModuleOp"> {
  let summary = "Restore mean and deviation of every layer's output, which quantized weights change";
  let description = [{
    For each layer (as in `mct-correct-bias`), from the inputs on, in the network with quantized weights and float
    activations: s = deviation of the float output / deviation of the output, per channel. Kernel and thresholds (or
    scales) are multiplied by s, so that the codes of the kernel stay; the bias becomes mean of the float output +
    s * (bias - mean of the output).

    Afterwards the float network is another one: activation points after a changed layer lose their `statistics` and
    `parameters`. Run `mct-calibrate` and `mct-select-parameters`, with the same options as before, after this pass.

    `max-bits` excludes kernels that are too fine for it to matter: at 8 bits, more than its default, a deviation hardly
    changes.

    The correction is recorded as `corrections` on the point of the kernel; a layer that has any is not corrected again.
    Not corrected, with a remark if requested: weights with power-of-two thresholds, which could not be multiplied;
    weights with one threshold for all channels; layers whose bias is not constant per channel; points of kernels with
    several users.

    Source: MCT `apply_second_moment_correction_to_graph`, which needs a folded batch norm.

    Before:
    ```mlir
    %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0]
           parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x1xf32>
    %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {…} : (…) -> tensor<1x1x1x1xf32>
    ```

    After:
    ```mlir
    %w = tpc.quantize %scaled as "conv" weight "kernel_attr" axes [0]
           parameters(#tpc.symmetric<threshold = [1.5], bits = 2>)
           corrections(#tpc.corrections<applied = ["second_moment"], bias_offset = [0.0], kernel_scale = [1.5]>)
           : tensor<1x1x1x1xf32>
    %0 = tosa.conv2d %arg0, %w, %new_bias, %zero, %zero {…} : (…) -> tensor<1x1x1x1xf32>
    ```
  }];
  let options = [Mct_MaxBitsOption, Mct_RemarksOption] # Mct_SampleOptions;
}

def RoundWeightsPass : Pass<"mct-round-weights", "::mlir::ModuleOp"> {
  let summary = "Round the weights of every layer jointly, so that errors compensate each other";
  let description = [{
    For each layer (as in `mct-correct-bias`) whose kernel has at most `max-bits` bits, one more where all its output
    channels have one range in common (0: none), or that reads activations of at most `max-bits` bits, from the inputs
    on, in the quantized network: the weights become those levels of their quantizer with which the output is as near to
    that of the float network as can be found. Earlier layers are rounded when a layer is measured, so that each one
    also corrects their remaining errors; layers that do not depend on each other are measured together. If a sum
    (`tosa.add`) is the only user of the layer, the layer also corrects the error of the other summand, if that is known
    by then.

    * Of the difference between the output of the float network and that of the layer with its float weights, only the
      part counts that other samples show as well (`quantization::shrinkTargets`): a linear function of the inputs that
      explains it is fitted to each half of the samples, and the difference is multiplied by the factor, from 0 to 1,
      with which a fit to both would explain other samples best. Its means have a factor of their own. Fewer than 8 samples
      count in full.
    * With H the covariance of the layer's input, already quantized (positions of convolutions are rows, the weights of
      a channel columns; each channel of a depthwise one has columns of its own), and w* the weights whose output is
      nearest to the float one, (q - w*)^T H (q - w*) is minimized: column by column, from the largest variance on, each
      takes the level nearest to its optimum given the columns before; then weights change one at a time while that
      lowers it. If a channel has at most 12 columns (depthwise kernels of 3x3), an exact search finds the best levels
      there are. A hundredth of the mean variance is added to the diagonal of H, which keeps weights unchanged where the
      samples give no evidence.
    * Thresholds (or scales) are multiplied by a factor from 0.44 to 1.5, for every output channel, or for the tensor if
      it has one parameter; powers of two by one half if that is better. The search begins at the factor that would be
      best if columns did not compensate each other, and ends where none of the next two on each side is better. Tables
      keep their entries. Kernels whose config has an `error_tolerance` are rounded whatever their bits, and keep their
      thresholds, which are large on purpose.
    * The bias becomes the one that restores the mean of the float network.

    With `judge`, the layers are first rounded on samples of which some are held out (64 of 256 and more, of 16 to 255 a
    quarter), at most 256, and the results are compared on the others with those of the nearest levels, whose biases are
    corrected on 32 samples if `correct-bias`. If there are fewer, all samples judge. Then weights are rounded on all
    samples: a dense layer has one row for each. A layer that makes a result worse is undone as by `mct-correct-bias`;
    the layer keeps its kernel, parameters and bias.

    The result is never worse, in the quantity above, than every weight at the nearest level of the original parameters.
    With `correct-bias`, layers with more bits only get the bias that `mct-correct-bias` would give them.

    Rows are kept, up to 32 MiB for the layers that are measured together: of more rows every n-th on average is kept;
    neither the choice nor the result depends on `threads` or `batch-size`. H takes 8 bytes for each pair of columns,
    its factor 12 more while it is computed: 424 MB for a 3x3 kernel of 512 channels. If that would be more than 512
    MiB, from 5182 columns on, adjacent columns form blocks, which are rounded one after the other, each with the errors
    of those before it in its target.

    The kernel in the IR then consists of levels of its point, so that quantizing it again changes nothing. The float
    kernel is stored as `kernel` in the point's `corrections` (`rounded_weights`), whose `bias_offset` determines the
    float bias; taking another alternative of an operator restores both. A layer that has `corrections` is not rounded,
    and `mct-correct-bias` and `mct-correct-second-moment` skip rounded layers. The `selection` of the point has the
    mean squared error of the outputs.

    Before:
    ```mlir
    %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0]
           parameters(#tpc.power_of_two<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
    %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {…} : (…) -> tensor<1x1x1x1xf32>
    ```

    After:
    ```mlir
    %w = tpc.quantize %rounded as "conv" weight "kernel_attr" axes [0]
           parameters(#tpc.power_of_two<threshold = [1.0], bits = 2>)
           selection(#tpc.selection<error_method = least_squares, error = [0.0625]>)
           corrections(#tpc.corrections<applied = ["rounded_weights"], bias_offset = [0.75], kernel_scale = [1.0],
                                        kernel = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>>)
           : tensor<1x1x1x2xf32>
    %0 = tosa.conv2d %arg0, %w, %new_bias, %zero, %zero {…} : (…) -> tensor<1x1x1x1xf32>
    ```
  }];
  let options = [
    Mct_MaxBitsOption,
    Option<"correctBias", "correct-bias", "bool", /*default=*/"true",
           "Also correct the biases of the layers with more bits, if any layer is rounded">,
    Mct_RoundingSamplesOption,
    Mct_HalfOption,
    Mct_JudgeOption,
    Mct_RemarksOption,
  ] # Mct_SampleOptions;
}

def CorrectActivationBiasPass : Pass<"mct-correct-activation-bias", "::mlir::ModuleOp"> {
  let summary = "Remove the mean error of rounding and clipping activations from biases";
  let description = [{
    For each layer (as in `mct-correct-bias`) that reads one position at a time (a matrix product, or a kernel of size 1
    in space), from the histogram on the point of its input: d = mean of the quantized - mean of the float values; bias
    -= d * sum of the float kernel per output channel. The centre of a bin represents it; its quantized value is the
    mean of its quantized edges. Ops that only reorder values may be between point and layer. Needs no samples.

    `threshold`: layers whose 100 * |d| is below that many percent of the mean's magnitude stay as they are.

    The correction is recorded as `corrections` on the point of the kernel; a layer that has it is not corrected again,
    nor is one that `mct-correct-bias{estimate=quantized-network}` has corrected, because that includes this error, or
    one whose weights were rounded.

    Source: MCT `compute_activation_bias_correction_of_graph`.

    Before:
    ```mlir
    %x = tpc.quantize %arg0 as "in" activation statistics(…) parameters(…) : tensor<1x1x1x1xf32>
    %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(…) : tensor<1x1x1x1xf32>
    %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {…} : (…) -> tensor<1x1x1x1xf32>
    ```

    After:
    ```mlir
    %x = tpc.quantize %arg0 as "in" activation statistics(…) parameters(…) : tensor<1x1x1x1xf32>
    %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(…)
           corrections(#tpc.corrections<applied = ["activation_bias"], bias_offset = [1.0], kernel_scale = [1.0]>)
           : tensor<1x1x1x1xf32>
    %0 = tosa.conv2d %x, %w, %new_bias, %zero, %zero {…} : (…) -> tensor<1x1x1x1xf32>
    ```
  }];
  let options = [Mct_BiasErrorOption, Mct_FunctionOption, Mct_RemarksOption];
}

def JudgeCorrectionPass : Pass<"mct-judge-correction", "::mlir::ModuleOp"> {
  let summary = "Apply a correction, and undo it if it makes results worse";
  let description = [{
    Runs the pipeline `made-by` on a copy of the module. If that changes anything, the pipeline `then` is run on the
    copy and on a copy of the module without it, and both are compared with the float network on about `max-samples` of
    the samples: if no result of the function loses, the module becomes the result of `made-by`. Otherwise it stays, and
    the loss is recorded in `tpc.rejected_corrections` of the function.

    A result loses when its squared errors are larger with the correction than without, by more than 0.1 dB and more than
    two standard errors over the samples, which are those of the differences from sample to sample:
    10 log10(sum of a / sum of b) with a standard error of 10 / ln 10 * deviation of (a / mean of a - b / mean of b) /
    sqrt(n), times sqrt((n - 1) / (n - 3)). All results together lose when the mean of their losses is larger than 0.1
    dB and than the mean of their standard errors. Fewer than 4 samples judge nothing, and neither do results that are not tensors
    of f32 with a batch, or not finite in the float network.

    This is for corrections of the whole network that are not fitted to samples: shifts of negative tails, equalization,
    deviations, biases by formulas. `mct-correct-bias` and `mct-round-weights` judge their own corrections, layer by
    layer, and describe which channels of a result are judged separately.

    `correction`: what is recorded, one of `shift_negative`, `channel_equalization`, `residual_equalization`,
    `parts_rescaling`, `second_moment`, `activation_bias`, `input_mean`, `threshold_refinement`.

    Before:
    ```mlir
    func.func @main(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
    ```

    After:
    ```mlir
    func.func @main(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
      attributes {tpc.rejected_corrections = […]} {
    ```
  }];
  let options = [
    Option<"correction", "correction", "std::string", /*default=*/"", "Name to record if the correction is undone">,
    ListOption<"madeBy", "made-by", "::mlir::OpPassManager", "Passes that apply the correction: builtin.module(PASSES)">,
    ListOption<"then", "then", "::mlir::OpPassManager", "Passes that the corrected module needs before it is run, in "
                                                        "the same form">,
    Option<"maxSamples", "max-samples", "uint64_t", /*default=*/"64", "Judge on about this many samples; 0: on all">,
    Mct_RemarksOption,
  ] # Mct_SampleOptions;
}

#endif // MCT_CORRECTIONS_PASSES_TD
