// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_IR_TPCINTERFACES_TD
#define TPC_DIALECT_IR_TPCINTERFACES_TD

include "mlir/IR/OpBase.td"

def Tpc_QuantizerAttrInterface : AttrInterface<"QuantizerAttrInterface"> {
  let cppNamespace = "::mct::tpc";
  let description = [{
    The parameters of one quantizer, an attribute of `tpc.quantize`. Simulation, corrections, lowerings and reports use
    only this interface, so that a new kind of quantizer is one attribute. Targets can request it if that attribute, or
    another one, implements `QuantizationMethodAttrInterface`.

    Every quantizer implements the methods without a default; a quantizer with evenly spaced levels implements
    `getGrids`, any other one `getLevels`.

    "Channels" are the index combinations of the axes that the point names, in row-major order; a quantizer without
    channels applies to the whole tensor.
  }];
  let methods = [
    InterfaceMethod<"Returns the method of the target-platform model that this quantizer belongs to.",
      "::mct::tpc::QuantizationMethodAttrInterface", "getQuantizationMethod", (ins)>,
    InterfaceMethod<"Returns the width of the stored integer in bits, sign included.",
      "unsigned", "getBits", (ins)>,
    InterfaceMethod<"Returns the number of parameters: 1 per tensor, or one per channel.",
      "size_t", "getNumChannels", (ins)>,
    InterfaceMethod<"Returns whether the stored integer is signed.",
      "bool", "getIsSigned", (ins), /*methodBody=*/"", /*defaultImplementation=*/"return true;">,
    InterfaceMethod<[{Returns one affine grid per parameter; empty for a quantizer whose levels are not evenly
        spaced.}],
      "::llvm::SmallVector<::mct::quantization::Grid>", "getGrids", (ins), "", "return {};">,
    InterfaceMethod<[{
        Returns the values that a tensor, or the channel with that index, can have after the quantizer, ascending and
        without duplicates. By default those of the grid.}],
      "::llvm::SmallVector<float>", "getLevels", (ins "size_t":$channel), "",
      "return ::mct::tpc::detail::getLevelsOfGrids($_attr.getGrids(), channel);">,
    InterfaceMethod<[{
        Returns the rounding of a value halfway between two levels; none for a quantizer that has a rule of its own.}],
      "::std::optional<::mct::quantization::Rounding>", "getRoundingMode", (ins), "", "return ::std::nullopt;">,
    InterfaceMethod<"Returns the same quantizer with another rounding; null if it has a rule of its own.",
      "::mct::tpc::QuantizerAttrInterface", "withRoundingMode", (ins "::mct::quantization::Rounding":$rounding), "",
      "return {};">,
    InterfaceMethod<[{
        Returns the thresholds, one for each parameter, in the unit of the tensor; empty for a quantizer that has
        none.}],
      "::llvm::ArrayRef<double>", "getThresholds", (ins), "", "return {};">,
    InterfaceMethod<[{
        Returns the same quantizer with other thresholds, one or one per channel; null if it has none, or does not
        accept these.}],
      "::mct::tpc::QuantizerAttrInterface", "withThresholds", (ins "::llvm::ArrayRef<double>":$thresholds), "",
      "return {};">,
    InterfaceMethod<"Returns whether `scaledBy` accepts any positive factor.",
      "bool", "takesFactors", (ins), "", "return false;">,
    InterfaceMethod<[{
        Returns the quantizer of values that are multiplied by `factors` > 0, one for all or one for each parameter;
        null if there is none.}],
      "::mct::tpc::QuantizerAttrInterface", "scaledBy", (ins "::llvm::ArrayRef<double>":$factors), "", "return {};">,
    InterfaceMethod<[{
        Returns the `!quant.uniform` type of tensors of `expressed` for this quantizer, with channels on `axes`; null if
        upstream has none: for levels that are not evenly spaced, and for channels on several axes.}],
      "::mlir::Type", "getQuantizedType", (ins "::mlir::FloatType":$expressed, "::llvm::ArrayRef<int64_t>":$axes), "",
      "return ::mct::tpc::detail::getQuantizedType($_attr, expressed, axes);">,
    InterfaceMethod<[{
        Returns the quantizer prepared to run on tensors. By default a value takes its grid's level, or the nearest of
        the levels; of two equally near levels the upper one, unless `getRoundingMode` is half to even.}],
      "::std::unique_ptr<::mct::quantization::TensorQuantizer>", "prepare", (ins), "",
      "return ::mct::tpc::detail::prepare($_attr);">,
    InterfaceMethod<[{
        Does the checks of the attribute's constructor, for points whose parameters a pass created.}],
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
    /// Returns the threshold of a quantizer that has one for the whole tensor, and evenly spaced levels; otherwise
    /// none.
    ::std::optional<double> getGridThreshold() const { return ::mct::tpc::detail::getGridThreshold($_attr); }
  }];
}

def Tpc_QuantizationMethodAttrInterface : AttrInterface<"QuantizationMethodAttrInterface"> {
  let cppNamespace = "::mct::tpc";
  let description = [{
    A value of `method` and `act_method` of a target: a kind of quantizer, without parameters. The methods of MCT are
    `#tpc.method`, written as one keyword; any other attribute that implements this interface may replace them. It
    selects the search of `lib/Quantization` that finds parameters, or searches itself.
  }];
  let methods = [
    InterfaceMethod<"Returns the name in reports; by default the printed attribute.",
      "::std::string", "getMethodName", (ins), "", "return ::mct::tpc::detail::printAttribute($_attr);">,
    InterfaceMethod<[{
        Returns the kind of evenly spaced levels that `lib/Quantization` searches, whose results `createQuantizer`
        takes; none for a method of tables, and for one that searches itself, by `selectForHistogram` and
        `selectForChannels`.}],
      "::std::optional<::mct::quantization::QuantizationMethod>", "getGridSearch", (ins), "",
      "return ::std::nullopt;">,
    InterfaceMethod<[{
        Returns the kind of table that `lib/Quantization` searches, whose results `createTableQuantizer` takes; none for
        other methods.}],
      "::std::optional<::mct::quantization::QuantizationMethod>", "getTableSearch", (ins), "",
      "return ::std::nullopt;">,
    InterfaceMethod<"Returns whether thresholds are powers of two.",
      "bool", "hasPowerOfTwoThresholds", (ins), "", "return false;">,
    InterfaceMethod<[{
        Returns the quantizer of a tensor with this step and zero point, which counts from the lowest code; null if the
        method has none.}],
      "::mct::tpc::QuantizerAttrInterface", "createFixed",
      (ins "double":$step, "int64_t":$zeroPoint, "unsigned":$bits), "", "return {};">,
    InterfaceMethod<[{Returns the quantizer for the results of a search for a grid, one per parameter.}],
      "::mct::tpc::QuantizerAttrInterface", "createQuantizer",
      (ins "::llvm::ArrayRef<::mct::quantization::SelectedParameters>":$selected,
           "const ::mct::quantization::SelectionOptions &":$options), "", "return {};">,
    InterfaceMethod<[{Returns the quantizer for the result of a search for a table.}],
      "::mct::tpc::QuantizerAttrInterface", "createTableQuantizer",
      (ins "const ::mct::quantization::LutParameters &":$selected,
           "const ::mct::quantization::SelectionOptions &":$options), "", "return {};">,
    InterfaceMethod<[{
        Returns the quantizer of an activation with this histogram. The kind in `options` is ignored. Called by several
        threads at once.}],
      "::llvm::Expected<::mct::tpc::QuantizerAttrInterface>", "selectForHistogram",
      (ins "const ::mct::quantization::Histogram &":$histogram,
           "const ::mct::quantization::SelectionOptions &":$options), "",
      "return ::mct::tpc::detail::cannotSelect($_attr, \"activations\");">,
    InterfaceMethod<[{
        Returns the quantizer of weights; `rows` has `channels` rows of equal length, one for each parameter.}],
      "::llvm::Expected<::mct::tpc::QuantizerAttrInterface>", "selectForChannels",
      (ins "::llvm::ArrayRef<float>":$rows, "size_t":$channels,
           "const ::mct::quantization::SelectionOptions &":$options), "",
      "return ::mct::tpc::detail::cannotSelect($_attr, \"weights\");">,
  ];
}

def Tpc_TrainableAttrInterface : AttrInterface<"TrainableAttrInterface"> {
  let cppNamespace = "::mct::tpc";
  let description = [{
    Training of a point, the `trainable` of a `tpc.quantize`. The computation is another interface,
    `TrainableQuantizerAttrInterface` of `lib/Training`: this one has only what is needed to verify the op.
  }];
  let methods = [
    InterfaceMethod<[{
        Returns the roles of the values that are learned, or follow the data, in the order of the operands after the
        tensor.}],
      "::llvm::SmallVector<::mct::tpc::LearnedRole>", "getRoles", (ins)>,
    InterfaceMethod<[{
        Returns whether the point keeps `parameters` in addition to learned operands, which do not replace them.}],
      "bool", "keepsParameters", (ins), "", "return false;">,
  ];
}

def Tpc_QuantizeConfigAttrInterface : AttrInterface<"QuantizeConfigAttrInterface"> {
  let cppNamespace = "::mct::tpc";
  let description = [{
    Quantizers of the tensors of one operator: the `config` of the point that `mct-quantize-annotate` inserts after it,
    which `mct-quantize-apply` uses. Other dialects can implement it for configs of their own.

    `op` is the op that has the kernel, or the only one. A quantizer is an attribute that implements
    `TrainableAttrInterface`, and is trained, or `QuantizerAttrInterface`, and is fixed. Null leaves the choice to the
    scheme.
  }];
  let methods = [
    InterfaceMethod<"Returns the quantizers of the weights, by their generic names; weights that are not listed get "
                    "none.",
      "::mlir::DictionaryAttr", "getWeightQuantizers", (ins "::mlir::Operation *":$op)>,
    InterfaceMethod<"Returns whether the weight of that name, which has a quantizer, has parameters for each of its "
                    "channels.",
      "bool", "isPerChannel", (ins "::mlir::Operation *":$op, "::mlir::StringAttr":$weight)>,
    InterfaceMethod<"Returns the quantizers of the activation function that runs with the operator; at most one.",
      "::mlir::ArrayAttr", "getActivationQuantizers", (ins "::mlir::Operation *":$op)>,
    InterfaceMethod<"Returns the quantizers of the output of the operator; at most one.",
      "::mlir::ArrayAttr", "getOutputQuantizers", (ins "::mlir::Operation *":$op)>,
  ];
}

#endif // TPC_DIALECT_IR_TPCINTERFACES_TD
