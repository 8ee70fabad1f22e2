// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_IR_TPCINTERFACES_TD
#define TPC_DIALECT_IR_TPCINTERFACES_TD

include "mlir/IR/OpBase.td"

def Tpc_QuantizerAttrInterface : AttrInterface<"QuantizerAttrInterface"> {
  let cppNamespace = "::mct::tpc";
  let description = [{
    The parameters of one quantizer, as they stand on a `tpc.quantize`. Simulation, corrections, lowerings and reports
    use this interface only, so that a new kind of quantizer is one attribute. Targets can ask for it when
    that attribute, or another one, implements `QuantizationMethodAttrInterface`.

    Every quantizer implements the methods without a default; a quantizer with evenly spaced levels gives `getGrids`, any
    other one `getLevels`.

    "Channels" are the index combinations of the axes that the point names, in row-major order; a quantizer without
    channels serves the whole tensor.
  }];
  let methods = [
    InterfaceMethod<"Method of the target-platform model that this quantizer belongs to.",
      "::mct::tpc::QuantizationMethodAttrInterface", "getQuantizationMethod", (ins)>,
    InterfaceMethod<"Width of the stored integer in bits, sign included.",
      "unsigned", "getBits", (ins)>,
    InterfaceMethod<"Number of parameters: 1 per tensor, else one per channel.",
      "size_t", "getNumChannels", (ins)>,
    InterfaceMethod<"Whether the stored integer is signed.",
      "bool", "getIsSigned", (ins), /*methodBody=*/"", /*defaultImplementation=*/"return true;">,
    InterfaceMethod<[{One affine grid per parameter; empty for a quantizer whose levels are not evenly spaced.}],
      "::llvm::SmallVector<::mct::quantization::Grid>", "getGrids", (ins), "", "return {};">,
    InterfaceMethod<[{
        The values that a tensor, or the channel of that number, can have after the quantizer: ascending, none twice.
        By default those of the grid.}],
      "::llvm::SmallVector<float>", "getLevels", (ins "size_t":$channel), "",
      "return ::mct::tpc::detail::getLevelsOfGrids($_attr.getGrids(), channel);">,
    InterfaceMethod<[{
        Where a value halfway between two levels goes; none for a quantizer that has a rule of its own.}],
      "::std::optional<::mct::quantization::Rounding>", "getRoundingMode", (ins), "", "return ::std::nullopt;">,
    InterfaceMethod<"The same quantizer with another rounding; null when it has a rule of its own.",
      "::mct::tpc::QuantizerAttrInterface", "withRoundingMode", (ins "::mct::quantization::Rounding":$rounding), "",
      "return {};">,
    InterfaceMethod<[{
        The thresholds, one for each parameter, in the unit of the tensor; empty for a quantizer that has none.}],
      "::llvm::ArrayRef<double>", "getThresholds", (ins), "", "return {};">,
    InterfaceMethod<[{
        The same quantizer with other thresholds, one or one per channel; null when it has none, or takes not these.}],
      "::mct::tpc::QuantizerAttrInterface", "withThresholds", (ins "::llvm::ArrayRef<double>":$thresholds), "",
      "return {};">,
    InterfaceMethod<"Whether `scaledBy` takes any positive factor.",
      "bool", "takesFactors", (ins), "", "return false;">,
    InterfaceMethod<[{
        The quantizer of values that are multiplied by `factors` > 0, one for all or one for each parameter; null when
        there is none.}],
      "::mct::tpc::QuantizerAttrInterface", "scaledBy", (ins "::llvm::ArrayRef<double>":$factors), "", "return {};">,
    InterfaceMethod<[{
        The `!quant.uniform` type of tensors of `expressed` that this quantizer makes, its channels on `axes`; null when
        upstream has none: for levels that are not evenly spaced, and for channels on several axes.}],
      "::mlir::Type", "getQuantizedType", (ins "::mlir::FloatType":$expressed, "::llvm::ArrayRef<int64_t>":$axes), "",
      "return ::mct::tpc::detail::getQuantizedType($_attr, expressed, axes);">,
    InterfaceMethod<[{
        The quantizer made ready to run on tensors. By default a value takes its grid's level, or the nearest of the
        levels; of two that are as near the upper one, unless `getRoundingMode` is half to even.}],
      "::std::unique_ptr<::mct::quantization::TensorQuantizer>", "prepare", (ins), "",
      "return ::mct::tpc::detail::prepare($_attr);">,
    InterfaceMethod<[{
        Checks what the constructor of the attribute checks; for points whose parameters a pass made.}],
      "::llvm::LogicalResult", "verifyParameters",
      (ins "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError), "", "return ::mlir::success();">,
  ];
  let extraSharedClassDeclaration = [{
    /// Replaces every value by its representative. `shape` is the tensor's, `axes` are the axes of the channels; `input`
    /// and `output` hold all elements in row-major order and may be the same buffer.
    void fakeQuantize(::llvm::ArrayRef<int64_t> shape, ::llvm::ArrayRef<int64_t> axes, const float *input,
                      float *output) const {
      ::mct::tpc::detail::fakeQuantize($_attr, shape, axes, input, output);
    }
    /// The threshold of a quantizer that has one for the whole tensor, and evenly spaced levels.
    ::std::optional<double> getGridThreshold() const { return ::mct::tpc::detail::getGridThreshold($_attr); }
  }];
}

def Tpc_QuantizationMethodAttrInterface : AttrInterface<"QuantizationMethodAttrInterface"> {
  let cppNamespace = "::mct::tpc";
  let description = [{
    A value of `method` and `act_method` of a target: a kind of quantizer, without parameters. The methods that MCT
    knows are `#tpc.method`, written as one word; any other attribute that implements this interface may stand in their
    place. It says which search of `lib/Quantization` finds parameters, or searches itself.
  }];
  let methods = [
    InterfaceMethod<"Name in reports; by default the attribute as it is printed.",
      "::std::string", "getMethodName", (ins), "", "return ::mct::tpc::detail::printAttribute($_attr);">,
    InterfaceMethod<[{
        The kind of evenly spaced levels that `lib/Quantization` searches, which `createQuantizer` takes; none for a
        method of tables, and for one that searches itself, by `selectForHistogram` and `selectForChannels`.}],
      "::std::optional<::mct::quantization::QuantizationMethod>", "getGridSearch", (ins), "",
      "return ::std::nullopt;">,
    InterfaceMethod<[{
        The kind of table that `lib/Quantization` searches, which `createTableQuantizer` takes; none for other methods.}],
      "::std::optional<::mct::quantization::QuantizationMethod>", "getTableSearch", (ins), "",
      "return ::std::nullopt;">,
    InterfaceMethod<"Whether thresholds are powers of two.",
      "bool", "hasPowerOfTwoThresholds", (ins), "", "return false;">,
    InterfaceMethod<[{
        The quantizer of a tensor with this step and zero point, which counts from the lowest code; null where the
        method has none.}],
      "::mct::tpc::QuantizerAttrInterface", "createFixed",
      (ins "double":$step, "int64_t":$zeroPoint, "unsigned":$bits), "", "return {};">,
    InterfaceMethod<[{The quantizer of what a search for a grid found, one result per parameter.}],
      "::mct::tpc::QuantizerAttrInterface", "createQuantizer",
      (ins "::llvm::ArrayRef<::mct::quantization::SelectedParameters>":$selected,
           "const ::mct::quantization::SelectionOptions &":$options), "", "return {};">,
    InterfaceMethod<[{The same for a search for a table.}],
      "::mct::tpc::QuantizerAttrInterface", "createTableQuantizer",
      (ins "const ::mct::quantization::LutParameters &":$selected,
           "const ::mct::quantization::SelectionOptions &":$options), "", "return {};">,
    InterfaceMethod<[{
        The quantizer of an activation with this histogram. The kind in `options` has no meaning. Called by several
        threads at once.}],
      "::llvm::Expected<::mct::tpc::QuantizerAttrInterface>", "selectForHistogram",
      (ins "const ::mct::quantization::Histogram &":$histogram,
           "const ::mct::quantization::SelectionOptions &":$options), "",
      "return ::mct::tpc::detail::cannotSelect($_attr, \"activations\");">,
    InterfaceMethod<[{
        The quantizer of weights; `rows` has `channels` rows of equal length, one for each parameter.}],
      "::llvm::Expected<::mct::tpc::QuantizerAttrInterface>", "selectForChannels",
      (ins "::llvm::ArrayRef<float>":$rows, "size_t":$channels,
           "const ::mct::quantization::SelectionOptions &":$options), "",
      "return ::mct::tpc::detail::cannotSelect($_attr, \"weights\");">,
  ];
}

def Tpc_TrainableAttrInterface : AttrInterface<"TrainableAttrInterface"> {
  let cppNamespace = "::mct::tpc";
  let description = [{
    How a point is trained, as `trainable` of a `tpc.quantize` says it. The computation is another interface,
    `TrainableQuantizerAttrInterface` of `lib/Training`: this one has only what the op needs to be well formed.
  }];
  let methods = [
    InterfaceMethod<[{
        Roles of the values that are learned, or follow the data, in the order of the operands behind the tensor.}],
      "::llvm::SmallVector<::mct::tpc::LearnedRole>", "getRoles", (ins)>,
    InterfaceMethod<[{
        Whether the point keeps `parameters` beside learned operands, which say what these do not.}],
      "bool", "keepsParameters", (ins), "", "return false;">,
  ];
}

def Tpc_QuantizeConfigAttrInterface : AttrInterface<"QuantizeConfigAttrInterface"> {
  let cppNamespace = "::mct::tpc";
  let description = [{
    Which tensors of one operator are quantized, and how: `config` of the point that `mct-quantize-annotate` puts behind it, which
    `mct-quantize-apply` asks. Another dialect that implements it supplies kinds of configs of its own.

    `op` is the op that has the kernel, or the only one. A quantizer is an attribute that implements
    `TrainableAttrInterface`, and is trained, or `QuantizerAttrInterface`, and stays. Null: as the scheme says.
  }];
  let methods = [
    InterfaceMethod<"Quantizers of the weights, by their generic names; those that are not named get none.",
      "::mlir::DictionaryAttr", "getWeightQuantizers", (ins "::mlir::Operation *":$op)>,
    InterfaceMethod<"Whether the weight of that name, which has a quantizer, has parameters for each of its channels.",
      "bool", "isPerChannel", (ins "::mlir::Operation *":$op, "::mlir::StringAttr":$weight)>,
    InterfaceMethod<"Quantizers of the activation function that runs with the operator; one at most.",
      "::mlir::ArrayAttr", "getActivationQuantizers", (ins "::mlir::Operation *":$op)>,
    InterfaceMethod<"Quantizers of what leaves the operator; one at most.",
      "::mlir::ArrayAttr", "getOutputQuantizers", (ins "::mlir::Operation *":$op)>,
  ];
}

#endif // TPC_DIALECT_IR_TPCINTERFACES_TD
