// SPDX-License-Identifier: Apache-2.0
//
// How quantizers are trained.
#ifndef TPC_DIALECT_IR_TPCTRAININGATTRIBUTES_TD
#define TPC_DIALECT_IR_TPCTRAININGATTRIBUTES_TD

include "tpc_dialect/IR/TpcAttributes.td"

class Tpc_TrainableAttr<string name, string attr_mnemonic, list<string> methods = []>
    : Tpc_Attr<name, attr_mnemonic, [DeclareAttrInterfaceMethods<Tpc_TrainableAttrInterface,
        !listconcat(["getRoles"], methods)>]>;

def Tpc_StraightThroughAttr : Tpc_TrainableAttr<"StraightThrough", "straight_through", ["keepsParameters"]> {
  let summary = "A fixed quantizer that passes gradients";
  let description = [{
    The quantizer is not learned; values pass their gradients. `clip` applies to values that the quantizer clips: they
    get no gradient (`masked`), or that of the identity (`passed`).

    ```mlir
    #tpc.straight_through<clip = passed>
    ```
  }];
  let parameters = (ins
    DefaultValuedParameter<"::mct::tpc::ClipGradient", "::mct::tpc::ClipGradient::Masked">:$clip);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 0;
}

def Tpc_LearnedThresholdAttr : Tpc_TrainableAttr<"LearnedThreshold", "learned_threshold"> {
  let summary = "A symmetric grid whose threshold is learned";
  let description = [{
    Levels are those of `#tpc.symmetric`; the threshold is at least 2^-16. With `power_of_two` it is rounded up to the
    next power of two, in training and in the resulting `#tpc.power_of_two`.

    * `gradient`: substitute for the derivative by the step: `learned_step` treats rounding as the identity, and
      clipping as a clamp; `straight_through` treats both as the identity.
    * `clip`: with `straight_through`, the gradient of clipped values.
    * `gradient_scale`: multiplies the gradient of the threshold. Without it `learned_step` has 1 / sqrt(highest code *
      parameters), with the channels of a weight, or the size of the last axis of an activation, and `straight_through`
      1.

    ```mlir
    #tpc.learned_threshold<bits = 4, is_signed = false, gradient = straight_through>
    ```

    Source: Esser et al., Learned Step Size Quantization (ICLR 2020); MCT `LSQWeightQATQuantizer`,
    `STESymmetricActivationTrainableQuantizer`.
  }];
  let parameters = (ins
    "unsigned":$bits,
    DefaultValuedParameter<"bool", "true">:$is_signed,
    DefaultValuedParameter<"bool", "false">:$power_of_two,
    DefaultValuedParameter<"::mct::tpc::StepGradient", "::mct::tpc::StepGradient::LearnedStep">:$gradient,
    DefaultValuedParameter<"::mct::tpc::ClipGradient", "::mct::tpc::ClipGradient::Masked">:$clip,
    Tpc_OptionalNumberParameter:$gradient_scale);
  let assemblyFormat = [{
    `<` struct($bits, $is_signed, $power_of_two, $gradient, $clip, custom<OptionalReal>($gradient_scale)) `>`
  }];
}

def Tpc_LearnedRangeAttr : Tpc_TrainableAttr<"LearnedRange", "learned_range"> {
  let summary = "A grid with a zero point whose range is learned";
  let description = [{
    Levels are those of `#tpc.uniform`, over a range that is shifted so that it contains zero, and is at least 2^-15
    wide. The other parameters are as for `#tpc.learned_threshold`.

    ```mlir
    #tpc.learned_range<bits = 8, gradient_scale = 0.5>
    ```

    Source: MCT `LSQUniformWeightQATQuantizer`, `STEUniformActivationTrainableQuantizer`.
  }];
  let parameters = (ins
    "unsigned":$bits,
    DefaultValuedParameter<"::mct::tpc::StepGradient", "::mct::tpc::StepGradient::LearnedStep">:$gradient,
    DefaultValuedParameter<"::mct::tpc::ClipGradient", "::mct::tpc::ClipGradient::Masked">:$clip,
    Tpc_OptionalNumberParameter:$gradient_scale);
  let assemblyFormat = "`<` struct($bits, $gradient, $clip, custom<OptionalReal>($gradient_scale)) `>`";
}

def Tpc_SoftRoundingAttr : Tpc_TrainableAttr<"SoftRounding", "soft_rounding", ["keepsParameters"]> {
  let summary = "Weights between two levels of the point's quantizer, with a learned choice";
  let description = [{
    For a weight point with evenly spaced levels, which it keeps. Every weight w has a variable a and becomes step *
    (floor(w / step) + h(a)), clipped, where h is a sigmoid stretched to reach 0 and 1; in the end it is rounded up if
    h(a) is at least 1/2. With `learns_scale` the result is multiplied by a learned scale for each channel, which
    becomes part of the quantizer in the end; this requires thresholds that need not be powers of two.

    ```mlir
    #tpc.soft_rounding<learns_scale = true>
    ```

    Source: Nagel et al., Up or Down? Adaptive Rounding for Post-Training Quantization (ICML 2020); MCT
    `SymmetricSoftRoundingGPTQ`, `UniformSoftRoundingGPTQ`.
  }];
  let parameters = (ins
    DefaultValuedParameter<"::mct::tpc::ClipGradient", "::mct::tpc::ClipGradient::Masked">:$clip,
    DefaultValuedParameter<"bool", "false">:$learns_scale);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 0;
}

def Tpc_PerturbedRoundingAttr : Tpc_TrainableAttr<"PerturbedRounding", "perturbed_rounding", ["keepsParameters"]> {
  let summary = "Weights on levels of the point's quantizer that are moved by learned amounts";
  let description = [{
    For a weight point with evenly spaced levels, which it keeps. Every weight has a perturbation in its unit, which moves
    its code by at most `most_levels`; all gradients pass to it.

    ```mlir
    #tpc.perturbed_rounding<most_levels = 2.0>
    ```

    Source: MCT `STEWeightGPTQQuantizer`.
  }];
  let parameters = (ins Tpc_OptionalNumberParameter:$most_levels);
  let assemblyFormat = "`<` struct(custom<OptionalReal>($most_levels)) `>`";
}

def Tpc_ObservedRangeAttr : Tpc_TrainableAttr<"ObservedRange", "observed_range"> {
  let summary = "A quantizer whose range follows the values during training";
  let description = [{
    Like TensorFlow's fake quantization: the range is shifted so that zero is a level, and halves are rounded up. Both
    ends follow the values by `observer`, and the new ends are used; they are not learned.

    * `last_value`: the range of the values; `moving_average`: an exponential mean of ranges with `decay`; `all_values`:
      that of all values so far, and zero; `fixed`: it does not change.
    * `is_symmetric`: as wide on both sides of zero, in levels. `is_narrow`: without the lowest level. With one bit
      neither is possible.
    * `decay`: decay of `moving_average`, at least 0 and below 1.

    ```mlir
    #tpc.observed_range<observer = moving_average, bits = 8>
    ```

    Source: TensorFlow Model Optimization, `quantize.quantizers`.
  }];
  let parameters = (ins
    "::mct::tpc::Observer":$observer,
    "unsigned":$bits,
    DefaultValuedParameter<"bool", "false">:$is_symmetric,
    DefaultValuedParameter<"bool", "false">:$is_narrow,
    Tpc_OptionalNumberParameter:$decay);
  let assemblyFormat = "`<` struct($observer, $bits, $is_symmetric, $is_narrow, custom<OptionalReal>($decay)) `>`";
}

def Tpc_GradualAttr : Tpc_TrainableAttr<"Gradual", "gradual", ["keepsParameters"]> {
  let summary = "A quantizer that is applied gradually during training";
  let description = [{
    The result is (1 - fraction) * x + fraction * q(x), q being the quantizer `of`. The fraction is one number, which the
    schedule of the training sets.

    ```mlir
    #tpc.gradual<of = #tpc.straight_through<>>
    ```

    Source: MCT `GradualActivationQuantizerWrapper`.
  }];
  let parameters = (ins "::mct::tpc::TrainableAttrInterface":$of);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 0;
}

def Tpc_HostQuantizerAttr : Tpc_TrainableAttr<"HostQuantizer", "host_quantizer", ["keepsParameters"]> {
  let summary = "A quantizer that the caller runs";
  let description = [{
    Its result and its gradient are computed by functions that were registered under `name`, for example in Python;
    `config` has the arguments that they were created with, so that they can be created again. Only they can freeze it.

    ```mlir
    #tpc.host_quantizer<name = "my_module.MyQuantizer", config = {bits = 4 : i64}>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::DictionaryAttr":$config);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 0;
}

def Tpc_QuantizeConfigAttr
    : Tpc_Attr<"QuantizeConfig", "quantize_config", [DeclareAttrInterfaceMethods<Tpc_QuantizeConfigAttrInterface>]> {
  let summary = "Quantizers of the weights, activations and outputs of an operator";
  let description = [{
    The `config` of a point after an operator, which marks it: such a point is the identity, until `mct-quantize-apply`
    replaces it by the points that it requests.

    * `weights`: quantizers by generic name (`kernel_attr`, `bias_attr`, `pos_attr`); weights that are not listed get
      none.
    * `per_channel`: names of those that have parameters for each channel instead of one for the tensor.
    * `activations`: quantizer of the activation function that runs with the operator, or of its result if there is
      none; `[]`: no quantizer.
    * `outputs`: quantizer of the output of the operator, after its activation function; `[]`: none.
    * `name`, `config`: the object of the caller that has the quantizers, so that it can be created again: the name of a
      class, for example in Python, and its arguments.

    Omitted `weights`, `activations` and `outputs` are those of the scheme of `mct-quantize-apply`, so that
    `#tpc.quantize_config<>` requests its defaults. A quantizer is one that is trained, such as `#tpc.observed_range`,
    or a fixed one, such as `#tpc.symmetric`.

    Rules: (QC1) the values of `weights` and the elements of the lists are quantizers; (QC2) `config` requires a `name`
    that is not empty; (QC3) `per_channel` has names of `weights`.

    ```mlir
    #tpc.quantize_config<
      weights = {kernel_attr = #tpc.observed_range<observer = last_value, bits = 8, is_symmetric = true, is_narrow = true>},
      per_channel = ["kernel_attr"],
      activations = [#tpc.observed_range<observer = moving_average, bits = 8>], outputs = [],
      name = "my_module.MyDenseQuantizeConfig", config = {}>
    ```

    Source: TensorFlow Model Optimization, `QuantizeConfig`.
  }];
  let parameters = (ins
    OptionalParameter<"::mlir::DictionaryAttr">:$weights,
    OptionalParameter<"::mlir::ArrayAttr">:$per_channel,
    OptionalParameter<"::mlir::ArrayAttr">:$activations,
    OptionalParameter<"::mlir::ArrayAttr">:$outputs,
    OptionalParameter<"::mlir::StringAttr">:$name,
    OptionalParameter<"::mlir::DictionaryAttr">:$config);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Returns whether all quantizers are left to the scheme.
    bool isDefault() const { return !getWeights() && !getActivations() && !getOutputs(); }
  }];
}

#endif // TPC_DIALECT_IR_TPCTRAININGATTRIBUTES_TD
