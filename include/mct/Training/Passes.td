// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TRAINING_PASSES_TD
#define MCT_TRAINING_PASSES_TD

include "mct/Support/Options.td"

def AddGradientPass : Pass<"mct-add-gradient", "::mlir::ModuleOp"> {
  let summary = "Add a function that computes gradients of another one";
  let description = [{
    Reverse-mode differentiation of TOSA. After the function f, adds `@f_gradient` (or `name`), which takes the
    arguments of f and, for each of the `results`, a tensor of its shape: the derivatives of some number s, a loss for
    example, by its elements. It returns the derivatives of s by the elements of each of the `inputs`: arguments of f,
    by name or number, or other values of it, by the name that `mct-assign-names` gives them. With `with-results` it
    returns the results of f as well, before the gradients. It consists of TOSA ops, so that it is folded, printed and
    executed like everything else; f stays unchanged.

    Every op of TOSA on real numbers has a rule, and dialects provide theirs by `DifferentiableOpInterface`. Where
    several rules are possible, these are chosen:

    * The gradient of a convolution's input is a convolution with the kernel reversed in space, or a transposed one if
      it has a stride; that of its kernel is a convolution over the samples with stride and dilation exchanged; both are
      exact for all pads, strides and dilations. The executor runs the first as convolutions of oneDNN, the second, for
      `tosa.conv2d`, as oneDNN's gradients of weights.
    * `tosa.clamp` passes no gradient exactly at its bounds, like the ReLUs of the frameworks, unless `closed-clamps`.
      Equal operands of `tosa.maximum` and `tosa.minimum` share by halves, equal extremes of a reduction by their
      number; among equal elements of a `tosa.max_pool2d` the first one gets all.
    * Quantization points use the straight-through estimator: where the nearest code is on the grid (between the lowest
      and the highest level, for a quantizer without a grid), the gradient passes unchanged, and elsewhere none does;
      with `mask-points=false` it passes everywhere. Points without parameters pass it everywhere.
    * Roundings, comparisons and all ops with integer results pass none. `remarks` lists them, since an input that
      reaches a result only through them has the gradient 0.

    Fails at ops without a rule between an input and a result, such as control flow; if a shape is not static; and at
    zero points that are not 0.

    Before:
    ```mlir
    func.func @main(%x: tensor<2x3xf32>, %scale: tensor<1x3xf32>) -> tensor<2x3xf32> {
      %0 = tosa.mul %x, %scale, %shift : (tensor<2x3xf32>, tensor<1x3xf32>, tensor<1xi8>) -> tensor<2x3xf32>
      return %0 : tensor<2x3xf32>
    }
    ```

    After:
    ```mlir
    func.func @main(%x: tensor<2x3xf32>, %scale: tensor<1x3xf32>) -> tensor<2x3xf32> {…}
    func.func @main_gradient(%x: tensor<2x3xf32>, %scale: tensor<1x3xf32>, %gradient: tensor<2x3xf32>)
        -> (tensor<2x3xf32>, tensor<1x3xf32>) {
      %0 = tosa.mul %gradient, %scale, %shift : (tensor<2x3xf32>, tensor<1x3xf32>, tensor<1xi8>) -> tensor<2x3xf32>
      %1 = tosa.mul %gradient, %x, %shift : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xi8>) -> tensor<2x3xf32>
      %2 = tosa.reduce_sum %1 {axis = 0 : i32} : (tensor<2x3xf32>) -> tensor<1x3xf32>
      %3 = tosa.identity %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %4 = tosa.identity %2 : (tensor<1x3xf32>) -> tensor<1x3xf32>
      return %3, %4 : tensor<2x3xf32>, tensor<1x3xf32>
    }
    ```
  }];
  let options = [
    ListOption<"inputs", "inputs", "std::string",
               "Arguments, by name or index, and other values, by name; empty: all arguments of real numbers">,
    ListOption<"results", "results", "unsigned", "Indices of results; empty: all of real numbers">,
    Option<"name", "name", "std::string", /*default=*/"",
           "Name of the new function; empty: that of the old one and `_gradient`">,
    Option<"withResults", "with-results", "bool", /*default=*/"false",
           "Also return the results, before the gradients">,
    Option<"maskPoints", "mask-points", "bool", /*default=*/"true",
           "Points pass no gradient to values that their quantizer clips">,
    Option<"closedClamps", "closed-clamps", "bool", /*default=*/"false",
           "Clamps pass gradients for values equal to their bounds, as torch.clamp does">,
    Mct_FunctionOption,
    Mct_RemarksOption,
  ];
  let dependentDialects = ["::mlir::tosa::TosaDialect"];
}

def MakeTrainablePass : Pass<"mct-make-trainable", "::mlir::ModuleOp"> {
  let summary = "Choose how the points of a quantized network are trained";
  let description = [{
    Gives every point with parameters and without a `trainable` one: weights by `weights`, activations by `activations`.
    The network computes the same as before; training starts from the parameters.

    * `fixed`: the quantizer stays; weights and biases are learned through it. `ste`: thresholds, or ranges of
      quantizers with a zero point, are learned by straight-through gradients; `lsq`: by those of a learned step.
      Thresholds that are powers of two stay powers of two in training, too.
    * `soft-rounding`, for weights: they stay, and the choice between the two levels around each is learned; with
      `learn-scales` also a scale of each channel. `perturbed-rounding`, for weights: codes are moved by a learned
      amount, by `most-levels` at most.
    * `gradual`: activations are quantized gradually while training runs.

    A quantizer with a table of levels stays unchanged with every method but `none`.

    Before:
    ```mlir
    %0 = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 4>) : tensor<1x8xf32>
    ```

    After:
    ```mlir
    %0 = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 4>)
           trainable(#tpc.learned_threshold<bits = 4, power_of_two = true>) : tensor<1x8xf32>
    ```
  }];
  let options = [
    Option<"weights", "weights", "::mct::TrainingMethod", /*default=*/"::mct::TrainingMethod::LSQ",
           "Training method of weights", "::mct::trainingMethodValues()">,
    Option<"activations", "activations", "::mct::TrainingMethod", /*default=*/"::mct::TrainingMethod::LSQ",
           "Training method of activations", "::mct::trainingMethodValues()">,
    Option<"maskClipped", "mask-clipped", "bool", /*default=*/"true",
           "Values that a quantizer clips get no gradient; lsq never gives them one">,
    Option<"gradual", "gradual", "bool", /*default=*/"false", "Quantize activations gradually">,
    Option<"learnScales", "learn-scales", "bool", /*default=*/"false",
           "For soft-rounding: also learn a scale of each channel unless thresholds are powers of two">,
    Option<"mostLevels", "most-levels", "double", /*default=*/"1.0",
           "For perturbed-rounding: largest number of levels by which a weight may move">,
    Mct_FunctionOption,
  ];
  let dependentDialects = ["::mct::tpc::TpcDialect"];
}

def MakeTrainingFunctionPass : Pass<"mct-make-training-function", "::mlir::ModuleOp"> {
  let summary = "Add a copy of a network whose learned values are arguments";
  let description = [{
    After the function f, some points of which have a `trainable`, adds `@f_training` (or `name`). After the arguments
    of f it has the learned values, with these names: `conv/kernel_attr`, the weights of a trainable weight point
    (unless `weights=false`, or their rounding is learned); `conv/bias`, the bias of that layer, one number for each
    channel (unless `biases=false`); `conv/kernel_attr:threshold` and so on, the values that a point learns or observes,
    by role; `fraction`, one number, the quantized fraction of activations. It returns the results of f, or the values
    named by `compared` (for a point, its operand), followed by the new observed ranges. f stays unchanged; training
    starts from its constants and parameters.

    With `step`, also adds `@f_training_step`: it also returns the gradients of the learned values, computed from those
    of the results, for which the results themselves are used (each passes a `tosa.identity`) until a training run
    replaces them by the gradients of its loss. It contains no trainable points.

    Shapes must be static; `samples` sets the batch.

    Before:
    ```mlir
    func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
      %0 = tpc.quantize %x as "x" activation parameters(#tpc.symmetric<threshold = [3.0], bits = 4>)
             trainable(#tpc.learned_threshold<bits = 4>) : tensor<1x8xf32>
      return %0 : tensor<1x8xf32>
    }
    ```

    After:
    ```mlir
    func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {…}
    func.func @main_training(%x: tensor<1x8xf32>, %threshold: tensor<1x1xf32>) -> tensor<1x8xf32> {
      %0 = tpc.quantize %x as "x" activation trainable(#tpc.learned_threshold<bits = 4>)
             learned(%threshold : tensor<1x1xf32>) : tensor<1x8xf32>
      return %0 : tensor<1x8xf32>
    }
    ```
  }];
  let options = [
    Option<"name", "name", "std::string", /*default=*/"",
           "Name of the new function; empty: that of the old one and `_training`">,
    Option<"samples", "samples", "int64_t", /*default=*/"0",
           "Samples of one call; 0: the batch of the network">,
    ListOption<"compared", "compared", "std::string", "Values to return, by name; empty: the results of the network">,
    Option<"weights", "weights", "bool", /*default=*/"true", "Learn the weights of trainable points">,
    Option<"biases", "biases", "bool", /*default=*/"true", "Learn the biases of layers with such weights">,
    Option<"step", "step", "bool", /*default=*/"false", "Also add the function with gradients">,
    Mct_FunctionOption,
  ];
  let dependentDialects = ["::mlir::tosa::TosaDialect", "::mct::tpc::TpcDialect"];
}

def ExpandTrainablePointsPass : Pass<"mct-expand-trainable-points", "::mlir::func::FuncOp"> {
  let summary = "Replace points with learned values by TOSA ops";
  let description = [{
    A `tpc.quantize` with learned values becomes ops of TOSA, built by its `trainable`
    (`TrainableQuantizerAttrInterface`); other points stay.

    Before:
    ```mlir
    func.func @main(%x: tensor<1x8xf32>, %threshold: tensor<1x1xf32>) -> tensor<1x8xf32> {
      %0 = tpc.quantize %x as "x" activation trainable(#tpc.learned_threshold<bits = 4>)
             learned(%threshold : tensor<1x1xf32>) : tensor<1x8xf32>
      return %0 : tensor<1x8xf32>
    }
    ```

    After:
    ```mlir
    func.func @main(%x: tensor<1x8xf32>, %threshold: tensor<1x1xf32>) -> tensor<1x8xf32> {
      %0 = tosa.maximum %threshold, %smallest : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
      %step = tosa.mul %0, %eighth, %shift : (tensor<1x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x1xf32>
      %1 = tosa.reciprocal %step : (tensor<1x1xf32>) -> tensor<1x1xf32>
      %levels = tosa.mul %x, %1, %shift : (tensor<1x8xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x8xf32>
      %2 = tosa.cast %levels : (tensor<1x8xf32>) -> tensor<1x8xi32>
      %rounded = tosa.cast %2 : (tensor<1x8xi32>) -> tensor<1x8xf32>
      %clipped = tosa.clamp %rounded {max_val = 7.000000e+00 : f32, min_val = -8.000000e+00 : f32} : (tensor<1x8xf32>) -> tensor<1x8xf32>
      %3 = tosa.mul %clipped, %step, %shift : (tensor<1x8xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x8xf32>
      return %3 : tensor<1x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::tosa::TosaDialect", "::mct::tpc::TpcDialect"];
}

def QuantizeAnnotatePass : Pass<"mct-quantize-annotate", "::mlir::ModuleOp"> {
  let summary = "Mark the operators that are to be quantized, with their quantizers";
  let description = [{
    Inserts a `tpc.quantize` after every operator that marks it: its `config`, `#tpc.quantize_config<>` or the given
    one, determines the quantizers of its weights, its activation function and its output. A mark is the identity, and
    other passes keep it; `mct-quantize-apply` replaces it by points.

    Operators are those that targets know (`mct-opt --tpc-list-subgraphs`): a softmax or a dense layer of several ops is
    one, and its mark is after the last of them. Operators that are marked already keep their mark. Results that are not
    tensors of f32 get none.

    `layers`: names, or patterns with `*`, of the results of the operators, as `mct-assign-names` gives them.
    `supported-only`: only operators for which the default scheme has quantizers, or which it lists as needing none.

    Source: TensorFlow Model Optimization, `quantize_annotate_layer`, `quantize_annotate_model`.

    Before:
    ```mlir
    %0 = tosa.conv2d %x, %kernel, %bias, %zero, %zero {…} : (…) -> tensor<1x4x4x2xf32>
    %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (…) -> tensor<1x4x4x2xf32>
    ```

    After:
    ```mlir
    %0 = tosa.conv2d %x, %kernel, %bias, %zero, %zero {…} : (…) -> tensor<1x4x4x2xf32>
    %1 = tpc.quantize %0 as "conv2d" activation config(#tpc.quantize_config<>) : tensor<1x4x4x2xf32>
    %2 = tosa.clamp %1 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (…) -> tensor<1x4x4x2xf32>
    %3 = tpc.quantize %2 as "clamp" activation config(#tpc.quantize_config<>) : tensor<1x4x4x2xf32>
    ```
  }];
  let options = [
    ListOption<"layers", "layers", "std::string", "Operators, by name or pattern; empty: all">,
    Option<"config", "config", "std::string", /*default=*/"",
           "Attribute of the marks; empty: `#tpc.quantize_config<>`, which follows the scheme">,
    Option<"supportedOnly", "supported-only", "bool", /*default=*/"false",
           "Skip operators that the default scheme does not cover">,
    Mct_FunctionOption,
  ];
  let dependentDialects = ["::mlir::tosa::TosaDialect", "::mct::tpc::TpcDialect"];
}

def QuantizeApplyPass : Pass<"mct-quantize-apply", "::mlir::ModuleOp"> {
  let summary = "Insert the quantization points that annotated operators request";
  let description = [{
    Replaces the marks of `mct-quantize-annotate` by points with a `trainable` (or with `parameters`, if the config has
    a fixed quantizer). Points without parameters are the identity: training, or `mct-observe-ranges`, provides
    parameters.

    A config may leave quantizers to the default scheme:

    | operator | quantizers |
    |---|---|
    | convolution, depthwise convolution | kernel, for each output channel: the range of the last values, symmetric, without the lowest level; activation: a moving average of ranges |
    | transposed convolution, dense layer | the same with one range for the kernel |
    | sum, concatenation, ReLUs, leaky ReLU, swish, GELU, resize, average pools | output: a moving average |
    | softmax, sigmoid, tanh, max pools, and what moves or selects values | none |
    | a batch norm after an annotated layer | output, and none between: it is there to be folded |
    | everything else | an error |

    Biases have none. Positions of the quantizers:

    * That of the activation of a layer is after ReLU, ReLU6 and swish, before softmax, sigmoid and tanh, and on both
      sides of GELU, if one of these is the only user of the layer, and otherwise on its result; that of the output is
      last.
    * If a ReLU follows a batch norm or a sum and both are annotated, only the ReLU has a quantizer. The kernel of a
      layer keeps its quantizer in every case.
    * Operands of a concatenation with output quantizers of the scheme have none if the concatenation is their only
      user.
    * If the only operand of an annotated operator is the result of one that is not annotated, that result gets the
      quantizers that the scheme has for it; the weights of its operator get none. Arguments of the function that
      annotated operators read have the range of all values.

    Fails if an annotated operator has nothing in the scheme and no config of its own, several quantizers of one
    activation or output, several results, or no weight of a name; if nothing is annotated; and if there are other
    points.

    Source: TensorFlow Model Optimization, `quantize_apply`, `Default8BitQuantizeScheme`. There, a layer followed by a
    separate ReLU loses the quantizer of its kernel.

    Before:
    ```mlir
    %0 = tosa.conv2d %x, %kernel, %bias, %zero, %zero {…} : (…) -> tensor<1x4x4x2xf32>
    %1 = tpc.quantize %0 as "conv2d" activation config(#tpc.quantize_config<>) : tensor<1x4x4x2xf32>
    %2 = tosa.clamp %1 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (…) -> tensor<1x4x4x2xf32>
    ```

    After:
    ```mlir
    %0 = tpc.quantize %x as "x" activation
           trainable(#tpc.observed_range<observer = all_values, bits = 8>) : tensor<1x4x4x3xf32>
    %1 = tpc.quantize %kernel as "conv2d" weight "kernel_attr" axes [0]
           trainable(#tpc.observed_range<observer = last_value, bits = 8, is_symmetric = true, is_narrow = true>) : tensor<2x1x1x3xf32>
    %2 = tosa.conv2d %0, %1, %bias, %zero, %zero {…} : (…) -> tensor<1x4x4x2xf32>
    %3 = tosa.clamp %2 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (…) -> tensor<1x4x4x2xf32>
    %4 = tpc.quantize %3 as "clamp" activation
           trainable(#tpc.observed_range<observer = moving_average, bits = 8>) : tensor<1x4x4x2xf32>
    ```
  }];
  let options = [
    Option<"weightBits", "weight-bits", "unsigned", /*default=*/"8", "Bits of the scheme's quantizers of weights">,
    Option<"activationBits", "activation-bits", "unsigned", /*default=*/"8", "Bits of its quantizers of activations">,
    Option<"perChannel", "per-channel", "bool", /*default=*/"true",
           "Kernels of convolutions have a range for each output channel">,
    Mct_FunctionOption,
  ];
  let dependentDialects = ["::mlir::tosa::TosaDialect", "::mct::tpc::TpcDialect"];
}

def ObserveRangesPass : Pass<"mct-observe-ranges", "::mlir::ModuleOp"> {
  let summary = "Let observed ranges follow samples, and convert them to quantizers";
  let description = [{
    Runs the network forward, batch by batch in the order of the samples, like a training run whose learning rates are
    zero: every point with an `#tpc.observed_range` quantizes with the range observed so far, including this batch. In
    the end each has the `parameters` of its range, and no `trainable`. This turns the result of `mct-quantize-apply`
    into a quantized network without any training. Points with other trainable quantizers stay unchanged.

    Moving averages begin with the range of the first batch. With `from-first-batch=false` they begin with [-6, 6], or
    the existing parameters, as in TensorFlow, whose decay of 0.999 needs thousands of batches to forget it.

    The result depends on `batch`, since ranges are those of batches, and on the order of the samples.

    Source: TensorFlow Model Optimization, `quantize.quantizers`.

    Before:
    ```mlir
    %0 = tpc.quantize %x as "x" activation
           trainable(#tpc.observed_range<observer = all_values, bits = 8>) : tensor<1x1xf32>
    ```

    After:
    ```mlir
    %0 = tpc.quantize %x as "x" activation
           parameters(#tpc.uniform<scale = [0.03125], zero_point = [0], bits = 8, rounding = half_up>) : tensor<1x1xf32>
    ```
  }];
  let options = [
    ListOption<"calibrationData", "calibration-data", "std::string", "Samples: `FILE.npy` or `INPUT:FILE.npy`, …">,
    Option<"calibrationSamples", "calibration-samples", "uint64_t", /*default=*/"0", "Read this many samples; 0: all">,
    Option<"batch", "batch", "uint64_t", /*default=*/"32", "Samples whose range is observed at once">,
    Option<"fromFirstBatch", "from-first-batch", "bool", /*default=*/"true",
           "Moving averages begin with the range of the first batch">,
    Option<"maxMemory", "max-memory", "std::string", /*default=*/"",
           "Memory limit of the process in bytes, or in K, M, G of them: fewer workers, smaller batches, more "
           "temporary files, and an error if running needs more; empty: the memory of the machine">,
    Option<"inputScale", "input-scale", "std::string", /*default=*/"",
           "Factor from stored value to network input, `S` or `S;S;…` per channel">,
    Option<"inputOffset", "input-offset", "std::string", /*default=*/"", "Number added after the factor, in the same "
                                                                         "form">,
    Mct_FunctionOption,
  ];
  let dependentDialects = ["::mlir::tosa::TosaDialect", "::mct::tpc::TpcDialect"];
}

def FixRangesPass : Pass<"mct-fix-ranges", "::mlir::ModuleOp"> {
  let summary = "Give the points of inputs and results known ranges";
  let description = [{
    The points that read arguments of the function, and those whose values it returns, possibly moved, get `parameters`
    for the given ranges, and lose `trainable`: pixels from 0 to 1, for example, and probabilities. A range is shifted
    so that zero is a level. With `remove-inputs` points of arguments are removed, for samples that are codes already.

    Source: TensorFlow Model Optimization, `fix_input_output_range` and `remove_input_range`. There, 8 bits are always
    taken.

    Before:
    ```mlir
    %0 = tpc.quantize %x as "x" activation
           trainable(#tpc.observed_range<observer = all_values, bits = 8>) : tensor<1x4xf32>
    %1 = tosa.tanh %0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %2 = tpc.quantize %1 as "tanh" activation
           trainable(#tpc.observed_range<observer = moving_average, bits = 8>) : tensor<1x4xf32>
    ```

    After:
    ```mlir
    %0 = tpc.quantize %x as "x" activation
           parameters(#tpc.uniform<scale = [0.03125], zero_point = [0], bits = 8, rounding = half_up>) : tensor<1x4xf32>
    %1 = tosa.tanh %0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %2 = tpc.quantize %1 as "tanh" activation
           parameters(#tpc.uniform<scale = [0.0078125], zero_point = [128], bits = 8, rounding = half_up>) : tensor<1x4xf32>
    ```
  }];
  let options = [
    Option<"inputMin", "input-min", "double", /*default=*/"0.0", "Smallest value of arguments">,
    Option<"inputMax", "input-max", "double", /*default=*/"1.0", "Largest value of arguments">,
    Option<"outputMin", "output-min", "double", /*default=*/"0.0", "Smallest value of results">,
    Option<"outputMax", "output-max", "double", /*default=*/"1.0", "Largest value of results">,
    Option<"bits", "bits", "unsigned", /*default=*/"8", "Bits of the points of arguments and results">,
    Option<"narrow", "narrow", "bool", /*default=*/"false", "Ranges exclude the lowest level">,
    Option<"inputs", "inputs", "bool", /*default=*/"true", "Give points of arguments a range">,
    Option<"outputs", "outputs", "bool", /*default=*/"true", "Give points of results a range">,
    Option<"removeInputs", "remove-inputs", "bool", /*default=*/"false",
           "Remove points of arguments instead of giving them a range">,
    Mct_FunctionOption,
  ];
  let dependentDialects = ["::mlir::tosa::TosaDialect", "::mct::tpc::TpcDialect"];
}

def QatPass : Pass<"mct-qat", "::mlir::ModuleOp"> {
  let summary = "Train a quantized network as a whole, with its quantizers in place";
  let description = [{
    Takes a network whose points have parameters, such as the result of `mct-ptq`, and updates weights, biases,
    thresholds and ranges by the gradients of a loss over the samples. Points become trainable by `weights` and
    `activations` (see `mct-make-trainable`; trainable points keep their method), and in the end are ordinary points
    with other parameters; tables of levels stay. `#tpc.corrections` of layers and statistics of activations are
    dropped, because they belong to other weights.

    * `loss=cross-entropy` compares with `labels`, `mse` and `kl` with the results of the float network, whose kernels
      and biases are those from before the corrections that the points record. The operand of a softmax is compared
      instead of its result.
    * Training starts from the present weights, biases and parameters. Weights that were rounded jointly
      (`mct-round-weights`) start from their float values, but at most 0.4 steps from their levels, which they keep. A
      threshold that is a power of two starts at 0.71 of it: it is rounded up to the next power of two, and so does not
      double at the first step.
    * Rates of weights, biases and thresholds are in units of the root mean square of the initial values of a tensor, so
      that one rate fits layers of any scale.
    * Each epoch has an order of its own, by `seed`; its last batch has the remaining samples. The gradients of a batch
      are summed in a fixed order: the result does not depend on `threads`.
    * With `checkpoint` the run is saved in that file, every `checkpoint-every` steps and at its end, and is resumed
      from it if it exists: with the same bytes as a result, wherever it was interrupted. A file of another network,
      other samples or other options is an error.
    * `epochs=0` trains nothing: trainable points become the quantizers that training would start from; any other
      network stays unchanged.

    Source: MCT `pytorch_quantization_aware_training_init_experimental`, whose training is up to the user.

    Before:
    ```mlir
    %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0]
           parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
    %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {…} : (…) -> tensor<1x1x1x1xf32>
    ```

    After:
    ```mlir
    %w = tpc.quantize %trained as "conv" weight "kernel_attr" axes [0]
           parameters(#tpc.symmetric<threshold = [1.003], bits = 2>) : tensor<1x1x1x2xf32>
    %0 = tosa.conv2d %arg0, %w, %trained_bias, %zero, %zero {…} : (…) -> tensor<1x1x1x1xf32>
    ```
  }];
  let options = [
    Option<"weights", "weights", "::mct::TrainingMethod", /*default=*/"::mct::TrainingMethod::LSQ",
           "Training method of quantizers of weights", "::mct::qatMethodValues()">,
    Option<"activations", "activations", "::mct::TrainingMethod", /*default=*/"::mct::TrainingMethod::LSQ",
           "Training method of quantizers of activations", "::mct::qatMethodValues()">,
    Option<"maskClipped", "mask-clipped", "bool", /*default=*/"true",
           "Values that a quantizer clips get no gradient; lsq never gives them one">,
    Option<"loss", "loss", "::mct::QatLoss", /*default=*/"::mct::QatLoss::CrossEntropy",
           "Loss that is minimized", "::mct::qatLossValues()">,
    Option<"labels", "labels", "std::string", /*default=*/"",
           "Class of each sample, integers in an .npy file">,
    Option<"epochs", "epochs", "uint64_t", /*default=*/"1", "Number of passes over all samples">,
    Option<"batch", "batch", "uint64_t", /*default=*/"32", "Samples per step">,
    Option<"seed", "seed", "uint64_t", /*default=*/"0", "Seed of the order of the samples">,
    Option<"optimizer", "optimizer", "::mct::OptimizerKind", /*default=*/"::mct::OptimizerKind::Adam",
           "Optimizer of learned values", "::mct::optimizerKindValues()">,
    Option<"momentum", "momentum", "double", /*default=*/"0.0", "Momentum of sgd">,
    Option<"weightsRate", "weights-rate", "double", /*default=*/"0.003", "Learning rate of weights">,
    Option<"biasesRate", "biases-rate", "double", /*default=*/"0.003", "Learning rate of biases">,
    Option<"quantizersRate", "quantizers-rate", "double", /*default=*/"0.003",
           "Learning rate of thresholds and ranges">,
    Option<"schedule", "schedule", "::mct::quantization::RateSchedule::Kind",
           /*default=*/"::mct::quantization::RateSchedule::Kind::Cosine",
           "Decrease of the learning rates", "::mct::rateScheduleValues()">,
    Option<"warmup", "warmup", "uint64_t", /*default=*/"0", "Steps at the beginning in which rates grow from 0">,
    Option<"trainBias", "train-bias", "bool", /*default=*/"true", "Also train biases">,
    Option<"checkpoint", "checkpoint", "std::string", /*default=*/"",
           "File in which the run is saved, and from which it is resumed if it exists">,
    Option<"checkpointEvery", "checkpoint-every", "uint64_t", /*default=*/"0",
           "Steps between two checkpoints; 0: only at the end">,
    Option<"lossesOut", "losses-out", "std::string", /*default=*/"",
           "Write the loss of every step of this command to this .npy file">,
    // The order in which gradients are summed determines the number of samples that a worker processes at once.
  ] # !filter(option, Mct_SampleOptions, !ne(option.argument, "batch-size"));
  let dependentDialects = ["::mlir::tosa::TosaDialect", "::mct::tpc::TpcDialect"];
}

//===----------------------------------------------------------------------===//
// Gradient-based post-training quantization
//===----------------------------------------------------------------------===//

defvar Mct_GptqOptions = [
  Option<"loss", "loss", "::mct::GptqLoss", /*default=*/"::mct::GptqLoss::Divergence",
         "Loss of the difference from the float network", "::mct::gptqLossValues()">,
  Option<"temperature", "temperature", "double", /*default=*/"4.0", "For loss=divergence: divisor of the logits">,
  Option<"rounding", "rounding", "::mct::GptqRounding", /*default=*/"::mct::GptqRounding::Soft",
         "Method of learning the levels of weights", "::mct::gptqRoundingValues()">,
  Option<"softness", "softness", "double", /*default=*/"0.02",
         "For rounding=soft: largest distance of the initial value of a weight from its level, in steps, 0 to 0.5">,
  Option<"regularization", "regularization", "double", /*default=*/"-1.0",
         "For rounding=soft: factor of the term that pulls weights to levels; below 0: 10 for loss=attention, 0.01 for mse, 0 else">,
  Option<"mostLevels", "most-levels", "double", /*default=*/"1.0",
         "For rounding=perturbed: largest number of levels by which a weight may move">,
  Option<"optimizer", "optimizer", "::mct::OptimizerKind", /*default=*/"::mct::OptimizerKind::Adam",
         "Optimizer of the rounding", "::mct::optimizerKindValues()">,
  Option<"rate", "rate", "double", /*default=*/"0.003", "Learning rate of the rounding">,
  Option<"momentum", "momentum", "double", /*default=*/"0.0", "Momentum of optimizer=sgd">,
  Option<"trainBias", "train-bias", "bool", /*default=*/"true", "Train biases">,
  Option<"biasOptimizer", "bias-optimizer", "::mct::OptimizerKind", /*default=*/"::mct::OptimizerKind::Adam",
         "Optimizer of biases", "::mct::optimizerKindValues()">,
  Option<"biasRate", "bias-rate", "double", /*default=*/"0.001", "Learning rate of biases">,
  Option<"biasMomentum", "bias-momentum", "double", /*default=*/"0.0", "Momentum of bias-optimizer=sgd">,
  Option<"learnScales", "learn-scales", "bool", /*default=*/"true",
         "For rounding=soft: learn a factor for each threshold of a kernel">,
  Option<"learnThresholds", "learn-thresholds", "bool", /*default=*/"false", "Learn thresholds of activations">,
  Option<"quantizerOptimizer", "quantizer-optimizer", "::mct::OptimizerKind", /*default=*/"::mct::OptimizerKind::Adam",
         "Optimizer of factors and thresholds", "::mct::optimizerKindValues()">,
  Option<"quantizerRate", "quantizer-rate", "double", /*default=*/"0.001", "Learning rate of factors and thresholds">,
  Option<"quantizerMomentum", "quantizer-momentum", "double", /*default=*/"0.0", "Momentum of quantizer-optimizer=sgd">,
  Option<"schedule", "schedule", "::mct::quantization::RateSchedule::Kind",
         /*default=*/"::mct::quantization::RateSchedule::Kind::Cosine", "Decrease of the learning rates",
         "::mct::rateScheduleValues()">,
  Option<"maskClipped", "mask-clipped", "bool", /*default=*/"true",
         "Activations that a quantizer clips get no gradient">,
  Option<"gradual", "gradual", "bool", /*default=*/"false", "Quantize activations gradually">,
  Option<"gradualInitial", "gradual-initial", "double", /*default=*/"0.0", "For gradual: initial share of quantized activations">,
  Option<"gradualTarget", "gradual-target", "double", /*default=*/"1.0", "For gradual: final share of quantized activations">,
  Option<"gradualStart", "gradual-start", "int64_t", /*default=*/"0", "For gradual: first step">,
  Option<"gradualEnd", "gradual-end", "int64_t", /*default=*/"-1",
         "For gradual: last step; below 0: that of the training">,
  Option<"hessianWeights", "hessian-weights", "bool", /*default=*/"true",
         "Weight layers by their Hessian scores, with loss=mse; loss=attention always does">,
  Option<"hessianSamples", "hessian-samples", "uint64_t", /*default=*/"32",
         "Samples for the scores of loss=mse; loss=attention uses all">,
  Option<"hessianBatch", "hessian-batch", "uint64_t", /*default=*/"0",
         "Samples that a worker processes at once for scores; 0: derived from the network">,
  Option<"normScores", "norm-scores", "bool", /*default=*/"true",
         "For loss=mse: divide the scores of a sample by their sum">,
  Option<"logNorm", "log-norm", "bool", /*default=*/"true",
         "For loss=mse: weight layers by the logarithm of their score">,
  Option<"scaleLogNorm", "scale-log-norm", "bool", /*default=*/"false", "For log-norm: the largest score becomes 1">,
  Option<"batch", "batch", "uint64_t", /*default=*/"50", "Samples per step">,
  Option<"seed", "seed", "uint64_t", /*default=*/"0", "Seed of the order of samples and of Hessian scores">,
  Option<"checkpoint", "checkpoint", "std::string", /*default=*/"",
         "File in which the run is saved, so that it can be resumed">,
  Option<"checkpointEvery", "checkpoint-every", "uint64_t", /*default=*/"0",
         "Steps between two checkpoints; 0: when the run ends">,
];

def GradientPtqPass : Pass<"mct-gptq", "::mlir::ModuleOp"> {
  let summary = "Train rounding, biases and thresholds of a quantized network to reproduce the float network";
  let description = [{
    Gradient-based post-training quantization. Trains a quantized network, such as the result of `mct-ptq`, for `epochs`
    passes over all samples but a fifth, without labels (a single sample, or equal ones, are in both parts); its teacher
    is the float network that its records of corrections determine. The result is kept if it is nearer to the float
    network on the other fifth (the divergence of its results if they are distributions, else their mean squared error,
    as in `mct-measure-sensitivity`); otherwise the network stays unchanged, with a remark. The choice of the training
    samples, and their order, depend on their values and the `seed`, not on files or threads.

    In layers whose kernel has its own point with evenly spaced levels, these are trained:

    * The choice between two levels for each weight (`rounding=soft`: that of the network and the next one in the
      direction of the float weight; it starts at most `softness` steps from the first), or the number of levels, at
      most `most-levels`, by which it is moved (`perturbed`). With `soft`, a `regularization` pulls weights to levels;
      its power goes from 20 to 2.
    * With `learn-scales` and `soft`, a factor of each threshold of a kernel that is not a power of two; with
      `learn-thresholds` the thresholds or ranges of activations; with `train-bias` the biases.

    `loss`: `divergence`, that of the results of the network, with distributions softened by `temperature`; `mse`, the
    mean over the layers of the mean squared error of their results, divided by the mean square, with layers weighted by
    their Hessian scores with `hessian-weights`; `attention`, those errors with each sample of each layer weighted by
    its score (MCT's sample-layer attention); `program`, a loss that the caller computes from the results of the layers,
    as `mct.gptq` for Python provides one. MCT has `loss=mse`, `rate=0.03`, `bias-optimizer=sgd`, `bias-rate=1e-4`,
    `bias-momentum=0.9`, `schedule=constant`, `gradual=true`, `softness=0.5` and `learn-scales=false`.

    Points keep their kinds of quantizers. The record of each layer, `rounded_weights`, determines the float network as
    before. An interrupted run with `checkpoint` is resumed from its file, with the same bytes as a result.

    Before:
    ```mlir
    %w = tpc.quantize %rounded as "conv" weight "kernel_attr" axes [0]
           parameters(#tpc.power_of_two<threshold = [1.0], bits = 2>)
           corrections(#tpc.corrections<applied = ["rounded_weights"], bias_offset = [3.0], kernel_scale = [1.0],
                                        kernel = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>>)
           : tensor<1x1x1x2xf32>
    %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {…} : (…) -> tensor<1x1x1x1xf32>
    ```

    After:
    ```mlir
    %w = tpc.quantize %trained as "conv" weight "kernel_attr" axes [0]
           parameters(#tpc.power_of_two<threshold = [1.0], bits = 2>)
           corrections(#tpc.corrections<applied = ["rounded_weights"], bias_offset = [-0.60], kernel_scale = [1.0],
                                        kernel = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>>)
           : tensor<1x1x1x2xf32>
    %0 = tosa.conv2d %arg0, %w, %new_bias, %zero, %zero {…} : (…) -> tensor<1x1x1x1xf32>
    ```
  }];
  let options = [
    Option<"epochs", "epochs", "uint64_t", /*default=*/"20", "Number of passes over all samples; 0: nothing is trained">,
  ] # Mct_GptqOptions # Mct_SampleOptions # [Mct_RemarksOption];
  let dependentDialects = ["::mlir::tosa::TosaDialect", "::mct::tpc::TpcDialect"];
}

#endif // MCT_TRAINING_PASSES_TD
