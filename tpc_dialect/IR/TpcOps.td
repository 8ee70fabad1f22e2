// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_IR_TPCOPS_TD
#define TPC_DIALECT_IR_TPCOPS_TD

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tpc_dialect/IR/TpcTrainingAttributes.td"

class Tpc_Op<string op_mnemonic, list<Trait> traits = []> : Op<Tpc_Dialect, op_mnemonic, traits>;

def Tpc_PlatformOp : Tpc_Op<"platform", [Symbol]> {
  let summary = "Capabilities of a chip";
  let description = [{
    Operator sets with their options, the options of everything else (`default`), and the chains that are fused.

    ```mlir
    tpc.platform @my_npu type("my_npu") version 1, 0
      default(#qco_default)
      operator_sets [#tpc.operator_set<"Conv", options = #qco_linear>, #tpc.operator_set<"ReLU">]
      fusing [#tpc.fusing<["Conv", "ReLU"]>]
    ```

    A `?` in `version` is an unknown number. The name is that of the platform in MCT; all characters are allowed.

    Rules: (P1) the default is one config; (P2) set names are unique; (P3) fusing patterns name defined sets
    that are not matched one by one; (P4) names of fusing patterns are unique; (P5) a pattern that repeats another and
    (P6) an activation width that no set accepts are warnings. Source: MCT `TargetPlatformCapabilities`.
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    OptionalAttr<StrAttr>:$platform_type,
    OptionalAttr<I64Attr>:$minor_version,
    OptionalAttr<I64Attr>:$patch_version,
    UnitAttr:$add_metadata,
    UnitAttr:$simd_padding,
    UnitAttr:$insert_preserving_quantizers,
    Tpc_QCOptionsAttr:$default_options,
    TypedArrayAttrBase<Tpc_OperatorSetAttr, "operator sets">:$operator_sets,
    DefaultValuedOptionalAttr<TypedArrayAttrBase<Tpc_FusingAttr, "fusing patterns">, "{}">:$fusing);
  let assemblyFormat = [{
    $sym_name (`type` `(` $platform_type^ `)`)? (`version` custom<Version>($minor_version, $patch_version)^)?
    (`metadata` $add_metadata^)? (`simd_padding` $simd_padding^)?
    (`insert_preserving_quantizers` $insert_preserving_quantizers^)?
    `default` `(` qualified($default_options) `)` `operator_sets` custom<AttributeLines>($operator_sets)
    (`fusing` custom<AttributeLines>($fusing)^)? attr-dict-with-keyword
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the operator set of that name, or null.
    ::mct::tpc::OperatorSetAttr lookupOperatorSet(::llvm::StringRef name);
    /// Returns the options of the set of that name: its own, or else the platform's default (also for an undefined
    /// name).
    ::mct::tpc::QCOptionsAttr getOptionsOf(::llvm::StringRef name);
  }];
}

def Tpc_DeriveOp : Tpc_Op<"derive", [Symbol]> {
  let summary = "A chip described by its differences from another one";
  let description = [{
    `tpc-attach-target` and `mct-translate` turn it into the `tpc.platform` that it describes. `from` names a stock
    target, or a file in a path relative to this one. Omitted clauses are those of the base. Its bindings and frameworks
    are used if this file has none.

    * `default`: options of the operators that are in no set, and of the sets without options.
    * `linear`: options of those of `Conv`, `DepthwiseConv2D`, `ConvTranspose` and `FullyConnected` that the base has.
    * `operator_sets`: sets of the base that get other options, or none; they are applied after `linear`.
    * `new_operator_sets`: sets that the base does not have.
    * `fusing`: all fusing patterns.

    ```mlir
    tpc.derive @my_npu from "imx500" type("my_npu") version 1, 0
      default(#act8)
      linear(#conv4)
      operator_sets [#tpc.operator_set<"MaxPool">]
      new_operator_sets [#tpc.operator_set<"Gelu", options = #act16>]
    ```

    Rules: (D1) the base can be read and does not derive from this op; (D2) it defines every set of `operator_sets`,
    none of `new_operator_sets`, and a set for `linear`; the result obeys the rules of `tpc.platform`.
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    StrAttr:$base,
    OptionalAttr<StrAttr>:$platform_type,
    OptionalAttr<I64Attr>:$minor_version,
    OptionalAttr<I64Attr>:$patch_version,
    OptionalAttr<BoolAttr>:$add_metadata,
    OptionalAttr<BoolAttr>:$simd_padding,
    OptionalAttr<Tpc_QCOptionsAttr>:$default_options,
    OptionalAttr<Tpc_QCOptionsAttr>:$linear_options,
    OptionalAttr<TypedArrayAttrBase<Tpc_OperatorSetAttr, "operator sets">>:$operator_sets,
    OptionalAttr<TypedArrayAttrBase<Tpc_OperatorSetAttr, "operator sets">>:$new_operator_sets,
    OptionalAttr<TypedArrayAttrBase<Tpc_FusingAttr, "fusing patterns">>:$fusing);
  let assemblyFormat = [{
    $sym_name `from` $base (`type` `(` $platform_type^ `)`)?
    (`version` custom<Version>($minor_version, $patch_version)^)? (`metadata` `=` $add_metadata^)?
    (`simd_padding` `=` $simd_padding^)? (`default` `(` qualified($default_options)^ `)`)?
    (`linear` `(` qualified($linear_options)^ `)`)? (`operator_sets` custom<AttributeLines>($operator_sets)^)?
    (`new_operator_sets` custom<AttributeLines>($new_operator_sets)^)? (`fusing` custom<AttributeLines>($fusing)^)?
    attr-dict-with-keyword
  }];
}

def Tpc_BindingOp : Tpc_Op<"binding", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Ops that form the operator sets of a platform in an IR";
  let description = [{
    ```mlir
    tpc.binding @my_npu_on_tosa for @my_npu [
      #tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">], weights = {kernel_attr = 1, bias_attr = 2}>,
      #tpc.ops_of<"Softmax", [#tpc.subgraph<"softmax">]>
    ]
    ```

    Without `for` it is a stock binding, which only describes an IR: it applies to every platform that has no binding,
    and entries for sets that the platform does not define are ignored.

    Rules: (B1) the platform exists; (B2) it defines every bound set (neither for a stock binding); (B3) each set is
    bound once; (B4) a set that is not bound is a warning; (B5) a pattern in two sets needs equal options; (B6) weights
    name operands that exist, and every weight of the set's configs; (B7) filters name attributes that exist; (B9)
    subgraph names are known.
    Source: MCT `OperationsToLayers`.
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    OptionalAttr<FlatSymbolRefAttr>:$platform,
    TypedArrayAttrBase<Tpc_OpsOfAttr, "bindings of operator sets">:$entries);
  let assemblyFormat = "$sym_name (`for` $platform^)? custom<AttributeLines>($entries) attr-dict-with-keyword";
  let hasVerifier = 1;
}

def Tpc_FrameworkOp : Tpc_Op<"framework", [Symbol]> {
  let summary = "Operands, channel axes and known ranges of the ops of an IR";
  let description = [{
    ```mlir
    tpc.framework @tosa [
      #tpc.op_info<"tosa.conv2d", kernel = 1, bias = 2, out_axes = [0], in_axis = 3, result_axis = -1>,
      #tpc.op_info<"tosa.sigmoid", range = [0.0, 1.0]>
    ]
    ```

    One entry per op name. Source: MCT `FrameworkInfo`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypedArrayAttrBase<Tpc_OpInfoAttr, "op descriptions">:$entries);
  let assemblyFormat = "$sym_name custom<AttributeLines>($entries) attr-dict-with-keyword";
  let hasVerifier = 1;
}

def Tpc_QuantizeOp : Tpc_Op<"quantize", [Pure, AllTypesMatch<["input", "output"]>]> {
  let summary = "A quantization point: a tensor that is, or will be, quantized";
  let description = [{
    The identity without `parameters`; with them every element is replaced by its representative on the grid.

    * `point_name`: the op that produces the value (the last of a fused group). `name`, or `name/weight` for a weight,
      identifies the point in statistics files, overrides and reports, and is unique in a function.
    * `activation`, or `weight` with the generic name of the weight (`kernel_attr`); `axes` are then the axes over
      which its channels run, ascending, none for one parameter per tensor.
    * `config`: the target's requirement: `#tpc.op_quant_config` for an activation, `#tpc.attr_quant_config` for a
      weight. An attribute of `QuantizeConfigAttrInterface`, such as `#tpc.quantize_config`, requests points that do not
      exist yet: the point marks the operator that produces the value, and is the identity (`mct-quantize-annotate`).
    * `candidates`: the alternatives that the target allows, if there are several: `#tpc.alternatives`, by which the
      points of one operator change together (`mct-choose-candidates`). Files of earlier versions have a plain list of
      the distinct configs, which does not relate the configs of different points.
    * `group`: names of the fused ops whose result this is.
    * `range`: bounds that the value can never exceed; from `tpc.framework`.
    * `statistics`: from calibration. `parameters`: the chosen quantizer. `selection`: its origin and its error.
    * `corrections`: on a weight, those of the layer that has this kernel.
    * `trainable`: the training of the point. In a function that a training run executes it also has `learned` values,
      which its quantizer learns or observes, one for each role of `trainable`; elsewhere it has none, and its
      `parameters` apply.

    ```mlir
    %2 = tpc.quantize %1 as "relu1" activation config(#act8) group(["conv1", "relu1"])
           statistics(#tpc.statistics<count = 4096, zeros = 12, min = 0.0, max = 3.5>)
           parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, is_signed = false>)
           selection(#tpc.selection<error_method = mse, error = [1.9e-5], certificate = exact>) : tensor<1x8x8x16xf32>
    %w = tpc.quantize %k as "conv1" weight "kernel_attr" axes [0] config(#kernel8)
           candidates(#tpc.alternatives<of = "conv1", configs = [#kernel8, #kernel4], chosen = 0>) : tensor<16x3x3x3xf32>
    ```

    In bytecode the attributes are one dictionary, so that later ones do not change the form (files without a version
    of the dialect have them in a fixed order).

    Rules: (C1) `config` is the chosen one of the alternatives; (C2) the points of a function whose alternatives belong
    to one operator have equally many and choose the same; (C3) a point that marks an operator has neither `parameters`
    nor `trainable`; (S5) a selection requires parameters, and has one error or one for each of them; (T1) there are
    learned values for all roles of `trainable`, or none; (T2) a threshold, an end of a range or a scale has the rank of
    the tensor, and size 1 except on the channel axes, where it has size 1 on all of them or that of the tensor; a
    fraction has size 1; values learned for every element have the type of the tensor; (T3) roundings and perturbations
    are learned to the evenly spaced levels of `parameters`.

    ```mlir
    %3 = tpc.quantize %1 as "relu1" activation
           trainable(#tpc.learned_threshold<bits = 4, is_signed = false>) learned(%t : tensor<1x1x1x1xf32>)
           : tensor<1x8x8x16xf32>
    ```

    The op has no folder: canonicalization and CSE keep points separate, because names are unique.
  }];
  let arguments = (ins
    AnyRankedTensor:$input,
    Variadic<AnyRankedTensor>:$learned,
    StrAttr:$point_name,
    OptionalAttr<StrAttr>:$weight,
    OptionalAttr<DenseI64ArrayAttr>:$axes,
    OptionalAttr<AnyAttr>:$config,
    OptionalAttr<AnyAttrOf<[ArrayAttr, Tpc_AlternativesAttr]>>:$candidates,
    OptionalAttr<StrArrayAttr>:$group,
    OptionalAttr<Tpc_RangeAttr>:$range,
    OptionalAttr<Tpc_StatisticsAttr>:$statistics,
    OptionalAttr<Tpc_QuantizerAttrInterface>:$parameters,
    OptionalAttr<Tpc_SelectionAttr>:$selection,
    OptionalAttr<Tpc_CorrectionsAttr>:$corrections,
    OptionalAttr<Tpc_TrainableAttrInterface>:$trainable);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = [{
    $input `as` $point_name (`weight` $weight^):(`activation`)? (`axes` $axes^)? (`config` `(` $config^ `)`)?
    (`candidates` `(` $candidates^ `)`)? (`group` `(` $group^ `)`)? (`range` `(` qualified($range)^ `)`)?
    (`statistics` `(` qualified($statistics)^ `)`)? (`parameters` `(` $parameters^ `)`)?
    (`selection` `(` qualified($selection)^ `)`)?
    (`corrections` `(` qualified($corrections)^ `)`)? (`trainable` `(` $trainable^ `)`)?
    (`learned` `(` $learned^ `:` type($learned) `)`)? attr-dict `:` type($output)
  }];
  let builders = [
    // Builds a point without learned values; passes set its other attributes.
    OpBuilder<(ins "::mlir::Value":$input, "::mlir::StringAttr":$pointName, CArg<"::mlir::StringAttr", "{}">:$weight,
                   CArg<"::mlir::DenseI64ArrayAttr", "{}">:$axes, CArg<"::mlir::Attribute", "{}">:$config,
                   CArg<"::mct::tpc::QuantizerAttrInterface", "{}">:$parameters)>
  ];
  let hasVerifier = 1;
  let useCustomPropertiesEncoding = 1;
  let extraClassDeclaration = [{
    bool isActivation() { return !getWeightAttr(); }
    bool isWeight() { return static_cast<bool>(getWeightAttr()); }
    /// Returns whether the parameters are those of the file that the network was imported from, which nothing estimates
    /// again.
    bool hasImportedParameters();
    /// Returns the unique name of the point: `conv1`, or `conv1/kernel_attr` for a weight.
    std::string getUniqueName();
    /// Gives the point other parameters. Their `selection` is replaced by that of the new
    /// ones, or removed.
    void setQuantizer(::mct::tpc::QuantizerAttrInterface parameters, ::mct::tpc::SelectionAttr selection = {});
    /// Removes the parameters of the point.
    void removeQuantizer();
    /// Returns the configuration of an activation point, or null.
    ::mct::tpc::OpQuantConfigAttr getActivationConfig();
    /// Returns the quantizers requested for the operator that an activation point marks, or null.
    ::mct::tpc::QuantizeConfigAttrInterface getOperatorConfig();
    /// Returns the configuration of a weight point, or null.
    ::mct::tpc::AttrQuantConfigAttr getWeightConfig();
    /// Returns the alternatives of the point's operator, or null; also for a list of an earlier version.
    ::mct::tpc::AlternativesAttr getAlternatives();
    /// Returns the axes of the channels; empty for one parameter per tensor.
    ::llvm::ArrayRef<int64_t> getChannelAxes() { return getAxes().value_or(::llvm::ArrayRef<int64_t>()); }
  }];
}

def Tpc_BiasOp : Tpc_Op<"bias", [Pure, ConstantLike]> {
  let summary = "A constant bias, with the moments of each channel from a folded batch norm";
  let description = [{
    A constant like `tosa.const`, for the bias of a layer into which a batch norm was folded. Every output channel of
    that layer had the mean `mean` (beta) and the standard deviation `deviation` (|gamma|) over the training data, in
    the unit of the output. Passes that look for constants treat it as one. A pass that computes a new bias creates an
    ordinary constant, so that outdated moments do not remain.

    ```mlir
    %b = tpc.bias values(dense<[0.5, -1.0]> : tensor<2xf32>) mean(dense<[0.0, 0.25]> : tensor<2xf32>)
           deviation(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
    ```

    Rules: (M1) `values` has the type of the result, f32; (M2) `mean` and `deviation` are f32 vectors of one size, which
    is 1 or, for several values, their number; (M3) a deviation is not negative.

    Source: MCT keeps both as `NodePriorInfo` (`std_output`, `mean_output`) of the folded layer.
  }];
  let arguments = (ins ElementsAttr:$values, ElementsAttr:$mean, ElementsAttr:$deviation);
  let results = (outs AnyStaticShapeTensor:$output);
  let assemblyFormat = [{
    `values` `(` $values `)` `mean` `(` $mean `)` `deviation` `(` $deviation `)` attr-dict `:` type($output)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns mean and deviation, one of each per channel; none if their data are missing.
    std::optional<std::pair<::llvm::SmallVector<float>, ::llvm::SmallVector<float>>> getMoments();
  }];
}

#endif // TPC_DIALECT_IR_TPCOPS_TD
