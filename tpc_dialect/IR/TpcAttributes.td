// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_IR_TPCATTRIBUTES_TD
#define TPC_DIALECT_IR_TPCATTRIBUTES_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "tpc_dialect/IR/TpcDialect.td"
include "tpc_dialect/IR/TpcEnums.td"
include "tpc_dialect/IR/TpcInterfaces.td"

class Tpc_Attr<string name, string attr_mnemonic, list<Trait> traits = []> : AttrDef<Tpc_Dialect, name, traits> {
  let mnemonic = attr_mnemonic;
  let genVerifyDecl = 1;
}

/// A floating-point number, compared bit by bit as uniquing needs it.
def Tpc_RealParameter : AttrParameter<"::mct::tpc::Real", "real number"> {
  let cppAccessorType = "double";
}

def Tpc_OptionalRealParameter : OptionalParameter<"std::optional<::mct::tpc::Real>"> {
  let cppAccessorType = "std::optional<double>";
}

/// The same with an accessor that keeps the type, so that the printer can compare it with none.
def Tpc_OptionalNumberParameter : OptionalParameter<"std::optional<::mct::tpc::Real>">;

def Tpc_RealListParameter : AttrParameter<"::mct::tpc::RealList", "list of real numbers"> {
  let allocator = "$_dst = $_allocator.copyInto($_self);";
  let cppAccessorType = "::llvm::ArrayRef<double>";
  let cppStorageType = "::llvm::SmallVector<double>";
}

def Tpc_OptionalRealListParameter : AttrParameter<"::mct::tpc::RealList", "list of real numbers"> {
  let allocator = "$_dst = $_allocator.copyInto($_self);";
  let cppStorageType = "::llvm::SmallVector<double>";
  let defaultValue = "::mct::tpc::RealList()";
}

//===----------------------------------------------------------------------===//
// Offers of a platform
//===----------------------------------------------------------------------===//

def Tpc_MethodAttr
    : Tpc_Attr<"Method", "method", [DeclareAttrInterfaceMethods<Tpc_QuantizationMethodAttrInterface, [
        "getMethodName", "getGridSearch", "getTableSearch", "hasPowerOfTwoThresholds", "createFixed", "createQuantizer",
        "createTableQuantizer"]>]> {
  let summary = "A quantization method of MCT";
  let description = [{
    In `#tpc.attr_quant_config` and `#tpc.op_quant_config` it is written as one keyword.

    ```mlir
    #tpc.method<symmetric>
    ```

    Source: MCT `QuantizationMethod`.
  }];
  let parameters = (ins AttrParameter<"::mct::tpc::QuantizationMethod", "a quantization method">:$value);
  let assemblyFormat = "`<` $value `>`";
  let genVerifyDecl = 0;
  let extraClassDeclaration = [{
    /// Returns the method if `method` is one of MCT.
    static ::std::optional<::mct::tpc::QuantizationMethod> getKnown(::mlir::Attribute method);
    /// Returns whether its levels come from a table.
    bool isTable() const;
  }];
}

def Tpc_AttrQuantConfigAttr : Tpc_Attr<"AttrQuantConfig", "attr_quant_config"> {
  let summary = "Quantization of one weight tensor";
  let description = [{
    * `method`: family of allowed thresholds: one of `#tpc.method`, as a keyword, or any attribute that implements
      `QuantizationMethodAttrInterface`. `power_of_two`: t = 2^k, k integer.
    * `bits`: width in bits of the stored integer, sign included.
    * `per_channel`: one threshold per output channel instead of one per tensor.
    * `enabled`: whether the tensor is quantized at all.
    * `lut_values_bits`: width of a table's entries, 8 by default. Parameters can only be selected for 8.
    * `error_tolerance`: thresholds are the largest ones with at most this many times the least squared error, so that
      codes are small and compress well. Used for 8 bits and more.

    Rules: (A1) bits > 0; (A2) lut_values_bits > 0; (A3) error_tolerance > 1.

    ```mlir
    #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
    ```

    Source: MCT `schema/v2.py`, `AttributeQuantizationConfig`.
  }];
  let parameters = (ins
    "::mct::tpc::QuantizationMethodAttrInterface":$method,
    "int64_t":$bits,
    DefaultValuedParameter<"bool", "false">:$per_channel,
    DefaultValuedParameter<"bool", "false">:$enabled,
    OptionalParameter<"std::optional<int64_t>">:$lut_values_bits,
    OptionalParameter<"std::optional<int64_t>">:$error_tolerance);
  let assemblyFormat = [{
    `<` struct(custom<Method>($method), $bits, $per_channel, $enabled, $lut_values_bits, $error_tolerance) `>`
  }];
  let extraClassDeclaration = [{
    /// Returns the same config with a tolerance.
    ::mct::tpc::AttrQuantConfigAttr withErrorTolerance(int64_t tolerance) const;
  }];
}

def Tpc_OpQuantConfigAttr : Tpc_Attr<"OpQuantConfig", "op_quant_config"> {
  let summary = "One configuration in which an operator may run";
  let description = [{
    * `act_method` (as `method` of `#tpc.attr_quant_config`), `act_bits`: quantizer of the result. `act_enabled =
      false`: the result is not quantized.
    * `input_bits`: widths of activations that the operator can read.
    * `preserving`: the result's values are the input's, moved or selected; it needs no quantizer of its own. The result
      of an average pool is rounded to the grid of its input.
    * `signedness`: whether the result's grid is signed; `auto` follows the data.
    * `simd_size`: channels that the hardware computes at once; `mct-report-memory` rounds up to it.
    * `fixed_scale`, `fixed_zero_point`: the grid of the result in every network, which is not searched for. The zero
      point is that of signed integers if it is in their range.
    * `weights`: configuration by generic weight name (`kernel_attr`, `bias_attr`, `pos_attr`).
    * `default_weight`: configuration of every constant that `weights` does not name.

    Rules: (O1) act_bits > 0; (O2) input_bits non-empty and positive; (O3) `act_enabled` and `preserving` exclude each
    other, an error for an op with such a config; (O4) no `lut_sym_quantizer` for activations; (O5) simd_size > 0; (O6)
    `weights` maps to `#tpc.attr_quant_config`; (O7, O8) fixed scale and zero point are given together, finite,
    representable, and a power of two where the method requires it.

    ```mlir
    #tpc.op_quant_config<
      act_method = power_of_two, act_bits = 8, input_bits = [8, 16], signedness = auto,
      weights = {kernel_attr = #tpc.attr_quant_config<method = symmetric, bits = 4, per_channel = true, enabled = true>},
      default_weight = #tpc.attr_quant_config<method = power_of_two, bits = 8>>
    ```

    Source: MCT `schema/v2.py`, `OpQuantizationConfig`.
  }];
  let parameters = (ins
    "::mct::tpc::QuantizationMethodAttrInterface":$act_method,
    "int64_t":$act_bits,
    ArrayRefParameter<"int64_t">:$input_bits,
    DefaultValuedParameter<"bool", "true">:$act_enabled,
    DefaultValuedParameter<"bool", "false">:$preserving,
    DefaultValuedParameter<"::mct::tpc::Signedness", "::mct::tpc::Signedness::Auto">:$signedness,
    OptionalParameter<"::mlir::FloatAttr">:$fixed_scale,
    OptionalParameter<"std::optional<int64_t>">:$fixed_zero_point,
    OptionalParameter<"std::optional<int64_t>">:$simd_size,
    OptionalParameter<"::mlir::DictionaryAttr">:$weights,
    "::mct::tpc::AttrQuantConfigAttr":$default_weight);
  let assemblyFormat = [{
    `<` struct(custom<Method>($act_method), $act_bits, custom<BitList>($input_bits), $act_enabled, $preserving, $signedness,
               $fixed_scale, $fixed_zero_point, $simd_size, $weights, qualified($default_weight)) `>`
  }];
  let extraClassDeclaration = [{
    /// Returns the configuration of the weight with a generic name: the entry of `weights`, else `default_weight`.
    ::mct::tpc::AttrQuantConfigAttr getWeightConfig(::llvm::StringRef genericName) const;
    /// Returns the width of the widest activation that the operator can read.
    int64_t getMaxInputBits() const;
  }];
}

def Tpc_QCOptionsAttr : Tpc_Attr<"QCOptions", "qc_options"> {
  let summary = "The alternatives of one operator";
  let description = [{
    Single-precision compilation takes `base`, which may be omitted if there is only one alternative; the first one is
    not special.

    Rules: (Q1) at least one; (Q2) several need a base; (Q3) the base is one of them; (Q4) all agree on whether the
    result and each named weight are quantized; (Q5) a duplicate is a warning.

    ```mlir
    #weight = #tpc.attr_quant_config<method = power_of_two, bits = 8>
    #act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #weight>
    #act16 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8], default_weight = #weight>
    #tpc.qc_options<[#act8, #act16], base = #act8>
    ```

    Source: MCT `schema/v2.py`, `QuantizationConfigOptions`.
  }];
  let parameters = (ins
    ArrayRefParameter<"::mct::tpc::OpQuantConfigAttr">:$configs,
    OptionalParameter<"::mct::tpc::OpQuantConfigAttr">:$base);
  let assemblyFormat = "`<` custom<ConfigList>($configs) (`,` `base` `=` qualified($base)^)? `>`";
  let extraClassDeclaration = [{
    /// `base`, or the only alternative.
    ::mct::tpc::OpQuantConfigAttr getBaseConfig() const;
  }];
}

def Tpc_OperatorSetAttr : Tpc_Attr<"OperatorSet", "operator_set"> {
  let summary = "A named set of operators and their common options";
  let description = [{
    Without `options` the set exists for fusing patterns and runs with the platform's default.

    `one_by_one`: the hardware has no such operator. Its ops are matched one by one, so each has the quantizer of the set
    that it forms alone. TensorFlow Lite, for example, runs a swish as a sigmoid and a product. In JSON it is a key of
    our own, which MCT ignores.

    Rules: (OS1) the name is not empty; (OS2) a set that is matched one by one has no options.

    ```mlir
    #tpc.operator_set<"Dropout", options = #tpc.qc_options<[
      #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = false,
                           default_weight = #tpc.attr_quant_config<method = power_of_two, bits = 8>>]>>
    ```

    Source: MCT `OperatorsSet`.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, OptionalParameter<"::mct::tpc::QCOptionsAttr">:$options,
    DefaultValuedParameter<"bool", "false">:$one_by_one);
  let assemblyFormat = "`<` custom<OperatorSet>($name, $options, $one_by_one) `>`";
}

def Tpc_OperatorSetGroupAttr : Tpc_Attr<"OperatorSetGroup", "operator_set_group"> {
  let summary = "Operator sets that are interchangeable in a fusing pattern";
  let description = [{
    Rule: (G1) at least one member, none repeated.

    ```mlir
    #tpc.operator_set_group<["ReLU", "ReLU6", "Sigmoid"], name = "Activations">
    ```

    Source: MCT `OperatorSetGroup`.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$sets, OptionalParameter<"::mlir::StringAttr">:$name);
  let assemblyFormat = "`<` custom<NameList>($sets) (`,` `name` `=` $name^)? `>`";
}

def Tpc_FusingAttr : Tpc_Attr<"Fusing", "fusing"> {
  let summary = "A chain of operators that the hardware runs as one";
  let description = [{
    Each element of the chain is an operator set's name or an `#tpc.operator_set_group`. Only the last op of a fused
    chain has its result quantized. `config`: quantizer of the inner results if the hardware has one.

    Rules: (F1) at least two elements; (F2) each is a name or a group.

    ```mlir
    #tpc.fusing<["Conv", #tpc.operator_set_group<["ReLU", "ReLU6"]>]>
    ```

    Source: MCT `Fusing`.
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::Attribute">:$groups,
    OptionalParameter<"::mct::tpc::OpQuantConfigAttr">:$config,
    OptionalParameter<"::mlir::StringAttr">:$name);
  let assemblyFormat = [{
    `<` custom<Fusing>($groups, $config, $name) `>`
  }];
}

//===----------------------------------------------------------------------===//
// How operator sets are spelled in an IR
//===----------------------------------------------------------------------===//

def Tpc_PredicateAttr : Tpc_Attr<"Predicate", "predicate"> {
  let summary = "A filter over the attributes of an op";
  let description = [{
    A comparison (`name`, `value`) or a connective (`operands`). Written after `where` of `#tpc.op`. A name is an
    attribute of the op, or, with a leading `$`, a number derived from its types: `$kernel_h`, `$kernel_w`, `$in_h`,
    `$in_w`, `$in_channels`, `$out_channels`, `$rank` (of the result), `$rank_change` (rank of the result minus that of
    the input), `$unit_axes` (number of additional axes of size 1 of the result, if nothing else changes),
    `$stacked_inputs` (for a reshape of a concatenation: number of its inputs, if they become an axis of their own),
    `$const_operand` (index of the only constant operand), `$const_axes` (number of axes longer than 1 that it has),
    `$keeps_last_axis` (1 if the last axis has the same size before and after), `$bits` (of an element of the first
    operand), `$conditions` (number of operands and results of truth values), `$argument_kernel` (1 if the second
    operand is an argument), `$centred_enlargement` (for a resize: 1 if it enlarges each axis by a power of two, with
    every element in the middle of its pixel, else 0), `$whole_image` (1 if a window without padding is as large as the
    image, else 0). If types and constants do not determine a number, for example because a size is dynamic, the op does
    not have that name.

    Parentheses are nested at most 64 deep.

    A comparison with an attribute that the op does not have is false, also `ne`. Numbers of different types compare
    by value; `contains` is a substring test; values that cannot be compared make it false.

    ```mlir
    #tpc.predicate<"$kernel_h" eq 1 and (min_val ge 0.0 : f32 or "$rank" gt 2)>
    ```

    Source: MCT `LayerFilterParams` and `AttributeFilter`.
  }];
  let parameters = (ins
    EnumParameter<Tpc_PredicateKind>:$kind,
    OptionalParameter<"::mlir::StringAttr">:$name,
    OptionalParameter<"::mlir::Attribute">:$value,
    OptionalArrayRefParameter<"::mct::tpc::PredicateAttr">:$operands);
  let assemblyFormat = "`<` custom<Predicate>($kind, $name, $value, $operands) `>`";
}

def Tpc_OpPatternAttr : Tpc_Attr<"OpPattern", "op"> {
  let summary = "Ops of one name, with an optional filter";
  let description = [{
    ```mlir
    #tpc.op<"tosa.clamp" where min_val eq 0.0 : f32 and max_val eq 6.0 : f32>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$op_name, OptionalParameter<"::mct::tpc::PredicateAttr">:$where);
  let assemblyFormat = "`<` $op_name (`where` custom<Filter>($where)^)? `>`";
}

def Tpc_SubgraphAttr : Tpc_Attr<"Subgraph", "subgraph"> {
  let summary = "A named chain of ops that is one operator, such as softmax";
  let description = [{
    `mct-opt --tpc-list-subgraphs` prints the names.

    ```mlir
    #tpc.subgraph<"softmax">
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name);
  let assemblyFormat = "`<` $name `>`";
}

def Tpc_OpsOfAttr : Tpc_Attr<"OpsOf", "ops_of"> {
  let summary = "The ops that form an operator set";
  let description = [{
    `weights` maps generic weight names to operand numbers of the op (of the kernel op of a subgraph). An empty list of
    patterns means that the set has no form in this IR.

    ```mlir
    #tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">], weights = {kernel_attr = 1, bias_attr = 2}>
    ```
  }];
  let parameters = (ins
    "::mlir::StringAttr":$set,
    OptionalArrayRefParameter<"::mlir::Attribute">:$patterns,
    OptionalParameter<"::mlir::DictionaryAttr">:$weights);
  let assemblyFormat = "`<` $set `,` custom<AttributeList>($patterns) (`,` `weights` `=` $weights^)? `>`";
}

def Tpc_OpInfoAttr : Tpc_Attr<"OpInfo", "op_info"> {
  let summary = "Operands, channel axes and known range of an op or a named subgraph";
  let description = [{
    * `op_name`: an op, or `subgraph:NAME`.
    * `kernel`, `bias`: operand numbers.
    * `out_axes`, `in_axis`: axes of the kernel that run over output (ascending) and input channels.
    * `result_axis`: channel axis of the result; negative counts from the end.
    * `range`: bounds that the result can never exceed, finite f32 numbers, `?` if there is none.
    * `quantize = false`: neither result nor weights are ever quantized.

    ```mlir
    #tpc.op_info<"tosa.conv2d", kernel = 1, bias = 2, out_axes = [0], in_axis = 3, result_axis = -1>
    ```

    Source: MCT `FrameworkInfo`.
  }];
  let parameters = (ins
    "::mlir::StringAttr":$op_name,
    OptionalParameter<"std::optional<int64_t>">:$kernel,
    OptionalParameter<"std::optional<int64_t>">:$bias,
    OptionalArrayRefParameter<"int64_t">:$out_axes,
    OptionalParameter<"std::optional<int64_t>">:$in_axis,
    OptionalParameter<"std::optional<int64_t>">:$result_axis,
    Tpc_OptionalRealParameter:$range_min,
    Tpc_OptionalRealParameter:$range_max,
    DefaultValuedParameter<"bool", "true">:$quantize);
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Statistics of a point
//===----------------------------------------------------------------------===//

def Tpc_RangeAttr : Tpc_Attr<"Range", "range"> {
  let summary = "Bounds that a value can never exceed";
  let description = [{
    Lower and upper bound in the unit of the value, finite f32 numbers; `?` if there is none.

    ```mlir
    #tpc.range<0.0, ?>
    ```
  }];
  let parameters = (ins
    Tpc_OptionalRealParameter:$min,
    Tpc_OptionalRealParameter:$max);
  let assemblyFormat = "`<` custom<Bound>($min) `,` custom<Bound>($max) `>`";
  let extraClassDeclaration = [{
    /// Returns whether both bounds are known.
    bool isBounded() const { return getMin() && getMax(); }
  }];
}

def Tpc_HistogramAttr : Tpc_Attr<"Histogram", "histogram"> {
  let summary = "Counts on a zero-aligned grid of power-of-two bins";
  let description = [{
    Bin i covers [(first + i) * 2^step_exponent, (first + i + 1) * 2^step_exponent). Zeros are counted separately, by
    the statistics that own the histogram. `counts`: 1-D, i32 or i64, first and last entry not zero.

    Rules: (H1) `counts` is a vector of i32 or i64; (H2) the width of a bin is a double; (H3) so are
    the edges of all bins in units of that width. Two values in [0.25, 0.5) and one in [0.75, 1.0) are

    ```mlir
    #tpc.histogram<step_exponent = -2, first = 1, counts = dense<[2, 0, 1]> : tensor<3xi32>>
    ```
  }];
  let parameters = (ins "int64_t":$step_exponent, "int64_t":$first, "::mlir::ElementsAttr":$counts);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tpc_StatisticsAttr : Tpc_Attr<"Statistics", "statistics"> {
  let summary = "Statistics of a tensor from calibration";
  let description = [{
    * `count`: number of elements; `zeros`: number of those equal to 0.
    * `min`, `max`: exact, in the unit of the tensor's float values; finite as f32.
    * `histogram`: the distribution of the elements that are not 0.
    * `channel_mean`, `channel_mean_square` (f64), `channel_min`, `channel_max` (f32): over the last axis, dense; all or
      none.

    ```mlir
    #tpc.statistics<count = 4, zeros = 1, min = 0.0, max = 0.8,
                    histogram = #tpc.histogram<step_exponent = -2, first = 1, counts = dense<[2, 0, 1]> : tensor<3xi32>>>
    ```
  }];
  let parameters = (ins
    "int64_t":$count,
    "int64_t":$zeros,
    Tpc_RealParameter:$min,
    Tpc_RealParameter:$max,
    OptionalParameter<"::mct::tpc::HistogramAttr">:$histogram,
    OptionalParameter<"::mlir::ElementsAttr">:$channel_mean,
    OptionalParameter<"::mlir::ElementsAttr">:$channel_mean_square,
    OptionalParameter<"::mlir::ElementsAttr">:$channel_min,
    OptionalParameter<"::mlir::ElementsAttr">:$channel_max);
  let assemblyFormat = [{
    `<` struct($count, $zeros, custom<Real>($min), custom<Real>($max), qualified($histogram), $channel_mean,
               $channel_mean_square, $channel_min, $channel_max) `>`
  }];
}

def Tpc_SelectionAttr : Tpc_Attr<"Selection", "selection"> {
  let summary = "Origin of the parameters of a point, and their error";
  let description = [{
    * `error_method`: the minimized error or other origin of the parameters, which also determines the meaning of
      `error`; x is a value, y its quantized value, e = x - y.

      | word | parameters | `error` |
      |---|---|---|
      | `mse`, `mae`, `lp` | a search | mean of e^2, of \|e\|, of \|e\|^`norm` |
      | `hmse` | a search | mean of h e^2 over the mean of h, h the mean square of the input channel |
      | `kl` | a search | divergence of the distributions, in nats |
      | `no_clipping`, `percentile`, `octav` | these rules; `percentile`: of magnitudes covered | mean of e^2 |
      | `range` | cover known bounds, `covers` | none: no value was looked at |
      | `own` | the method's own selection | mean of e^2 |
      | `given` | those of another point, or multiplied with the kernel | mean of e^2 |
      | `least_squares` | those under which the weights could best be rounded together | of the layer, not the weight: mean of e^2, x what it should make, y what it makes |
      | `imported` | those of the file that the network comes from; nothing chooses others (`mct-insert-imported-points`) | none: no value was looked at |

    * `error`: one for each parameter, or one for the tensor. Over the elements of a weight; over the histogram of an
      activation, without values that `z-threshold` excluded from a search.
    * `certificate`: the proven property of the error. `exact`: no parameters of the kind have a smaller one;
      `exact_at_threshold`: no table has, at these thresholds; `bound`: none has one below error / (1 + `bound`), in any
      channel. `mct/Quantization/Selection.h` lists the candidates.

    A pass that gives the point other parameters (`QuantizeOp::setQuantizer`) updates the record, or removes it.

    Rules: (S1) errors are not negative; (S2) `bound`, a positive number, is given with that certificate only; (S3)
    `norm` is given with `lp` only, `percentile` with `percentile` only, and `covers`, two finite f32 numbers in
    ascending order, with `range` only; (S4) there are errors, except for `range` and `imported`, which have none.

    ```mlir
    #tpc.selection<error_method = mse, error = [1.5e-4, 2.25e-4], certificate = exact>
    ```
  }];
  let parameters = (ins
    AttrParameter<"::mct::tpc::ErrorMethod", "an error method">:$error_method,
    Tpc_OptionalNumberParameter:$norm,
    Tpc_OptionalNumberParameter:$percentile,
    Tpc_OptionalRealListParameter:$covers,
    Tpc_OptionalRealListParameter:$error,
    DefaultValuedParameter<"::mct::tpc::Certificate", "::mct::tpc::Certificate::None">:$certificate,
    Tpc_OptionalNumberParameter:$bound);
  let assemblyFormat = [{
    `<` struct($error_method, custom<OptionalReal>($norm), custom<OptionalReal>($percentile), custom<RealList>($covers),
               custom<RealList>($error), $certificate, custom<OptionalReal>($bound)) `>`
  }];
  let extraClassDeclaration = [{
    /// Returns the mean of the errors; none if there are none.
    std::optional<double> getMeanError() const;
  }];
}

//===----------------------------------------------------------------------===//
// Corrections of a layer
//===----------------------------------------------------------------------===//

def Tpc_CorrectionsAttr : Tpc_Attr<"Corrections", "corrections"> {
  let summary = "Changes of a layer by corrections of quantization errors";
  let description = [{
    An attribute of the point of the layer's kernel. The layer has kernel_scale * (its float kernel) and kernel_scale *
    (its float bias) + bias_offset, per output channel, so that the float network can be restored from the IR, and no
    correction is applied twice. If weights were rounded jointly, the layer has levels of their quantizer instead, and
    the float kernel is stored here.

    * `applied`: the corrections, in order: `second_moment`, `activation_bias`, `input_mean`, `quantized_network`,
      `rounded_weights`.
    * `bias_offset`: one number per output channel, in the unit of the layer's result.
    * `kernel_scale`: as many; `[1.0]` for all.
    * `samples`: number of samples on which the last correction was measured, if there were more.
    * `kernel`: the float kernel, of f32, if weights were rounded.

    A pass that gives the layer another kernel or bias (`KernelOp::setKernel`, `setBias`) updates the record, or removes
    it: the present kernel and bias then count as those of the float network. Other parameters of the point do not
    affect the record.

    Rules: (K1) `applied` is not empty and names each once; (K2) there is an offset, numbers are finite, scales
    positive; (K3) there is one scale, or one for each offset; (K4) `samples` is positive; (K5) there is a `kernel`, of
    the point's type, if and only if `applied` has `rounded_weights`; its scale is then 1.

    ```mlir
    #tpc.corrections<applied = ["second_moment", "quantized_network"], bias_offset = [0.25, -0.5], kernel_scale = [1.1, 1.0]>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::StringAttr">:$applied,
    Tpc_RealListParameter:$bias_offset,
    Tpc_RealListParameter:$kernel_scale,
    OptionalParameter<"std::optional<int64_t>">:$samples,
    OptionalParameter<"::mlir::ElementsAttr">:$kernel);
  let assemblyFormat = [{
    `<` struct(custom<NameList>($applied), custom<RealList>($bias_offset), custom<RealList>($kernel_scale), $samples,
               $kernel) `>`
  }];
  let extraClassDeclaration = [{
    /// Returns whether `applied` contains `name`.
    bool isApplied(::llvm::StringRef name) const;
    /// Returns the scale of an output channel's kernel.
    double getScaleOf(size_t channel) const {
      return getKernelScale().size() == 1 ? getKernelScale().front() : getKernelScale()[channel];
    }
  }];
}

//===----------------------------------------------------------------------===//
// Alternatives of an operator
//===----------------------------------------------------------------------===//

def Tpc_AlternativesAttr : Tpc_Attr<"Alternatives", "alternatives"> {
  let summary = "Configs of a tensor in each joint alternative of an operator";
  let description = [{
    An operator with several `#tpc.op_quant_config` takes one of them for its result and its weights together. Every
    point of the operator lists its config in each of them, in the same order.

    * `of`: name of the operator when its points were inserted. Points of a function with the same name here belong
      together, even if they have been renamed since.
    * `configs`: one per alternative: `#tpc.op_quant_config` of a result, `#tpc.attr_quant_config` of a weight. Some may
      be equal, if the alternatives differ in another tensor.
    * `chosen`: index of the alternative that the operator takes.

    Rules: (AL1) there are two or more configs, all of one kind; (AL2) `chosen` is the index of one.

    ```mlir
    #kernel8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
    #kernel4 = #tpc.attr_quant_config<method = symmetric, bits = 4, per_channel = true, enabled = true>
    #tpc.alternatives<of = "conv1", configs = [#kernel8, #kernel4], chosen = 0>
    ```

    Source: MCT `NodeQuantizationConfig` candidates.
  }];
  let parameters = (ins "::mlir::StringAttr":$of, "::mlir::ArrayAttr":$configs, "int64_t":$chosen);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    int64_t size() const { return getConfigs().size(); }
    /// Returns the same with another choice, which must be one of the configs.
    ::mct::tpc::AlternativesAttr withChosen(int64_t index) const;
  }];
}

//===----------------------------------------------------------------------===//
// Parameters of quantizers
//===----------------------------------------------------------------------===//

/// The attribute implements these methods of the interface, and those that have no default.
class Tpc_QuantizerAttr<string name, string attr_mnemonic, list<string> methods>
    : Tpc_Attr<name, attr_mnemonic, [DeclareAttrInterfaceMethods<Tpc_QuantizerAttrInterface,
        !listconcat(["getIsSigned", "verifyParameters"], methods)>]>;

class Tpc_ThresholdQuantizerAttr<string name, string attr_mnemonic, list<string> methods = []>
    : Tpc_QuantizerAttr<name, attr_mnemonic, !listconcat(["getGrids", "getRoundingMode", "withRoundingMode",
        "getThresholds", "withThresholds", "scaledBy"], methods)> {
  let parameters = (ins
    Tpc_RealListParameter:$threshold,
    "unsigned":$bits,
    DefaultValuedParameter<"bool", "true">:$is_signed,
    DefaultValuedParameter<"::mct::tpc::RoundingMode", "::mct::tpc::RoundingMode::HalfEven">:$rounding);
  let assemblyFormat = "`<` struct(custom<RealList>($threshold), $bits, $is_signed, $rounding) `>`";
}

def Tpc_PowerOfTwoAttr : Tpc_ThresholdQuantizerAttr<"PowerOfTwo", "power_of_two"> {
  let summary = "Symmetric grid whose threshold is a power of two";
  let description = [{
    Levels are step * q with step = threshold / 2^(bits - is_signed), q from -2^(bits-1) to 2^(bits-1) - 1, or from 0
    to 2^bits - 1 when unsigned. `threshold`: one, or one per channel.

    `rounding`: rounding of a value halfway between two levels. `half_even`: to the even q, as in PyTorch and in the
    searches. `half_up`: to the larger q, as a shift after adding half does, for example `tosa.rescale` with
    `SINGLE_ROUND`.

    Multiples of 1/32 from 0 to 255/32, whose halves are rounded up, are

    ```mlir
    #tpc.power_of_two<threshold = [8.0], bits = 8, is_signed = false, rounding = half_up>
    ```
  }];
}

def Tpc_SymmetricAttr : Tpc_ThresholdQuantizerAttr<"Symmetric", "symmetric", ["takesFactors"]> {
  let summary = "Symmetric grid with a free threshold";
  let description = [{
    As `#tpc.power_of_two`, for any positive threshold.

    ```mlir
    #tpc.symmetric<threshold = [0.71, 0.64], bits = 4>
    ```
  }];
}

def Tpc_UniformAttr : Tpc_QuantizerAttr<"Uniform", "uniform", [
    "getGrids", "getRoundingMode", "withRoundingMode", "takesFactors", "scaledBy"]> {
  let summary = "Asymmetric grid that contains zero";
  let description = [{
    Levels are scale * (q - zero_point), q from 0 to 2^bits - 1. One pair, or one per channel. `rounding` as for
    `#tpc.power_of_two`, where even q are counted from the zero point.

    ```mlir
    #tpc.uniform<scale = [0.02, 0.05], zero_point = [128, 3], bits = 8>
    ```
  }];
  let parameters = (ins
    Tpc_RealListParameter:$scale,
    ArrayRefParameter<"int64_t">:$zero_point,
    "unsigned":$bits,
    DefaultValuedParameter<"::mct::tpc::RoundingMode", "::mct::tpc::RoundingMode::HalfEven">:$rounding);
  let assemblyFormat = "`<` struct(custom<RealList>($scale), custom<BitList>($zero_point), $bits, $rounding) `>`";
}

def Tpc_LookupTableAttr : Tpc_QuantizerAttr<"LookupTable", "lookup_table", [
    "getLevels", "getThresholds", "withThresholds", "prepare"]> {
  let summary = "Levels from a table of integers";
  let description = [{
    The stored integer, of `bits` bits, is an index into `table`. Entry e represents the value e * threshold /
    2^(table_bits - is_signed). A value takes the entry nearest to value / (threshold + 1e-8) * 2^(table_bits -
    is_signed), clamped to the range of a `table_bits` integer; of two equally near entries it takes the lower one.

    * `method`: `lut_pot_quantizer`, whose thresholds are powers of two, or `lut_sym_quantizer`.
    * `threshold`: one, or one per channel. The table is the same for all channels.
    * `table`: integers of `table_bits` bits, ascending, without duplicates.

    Rules: (LT1) `method` is one of the two; (LT2) thresholds are positive and finite, and powers of two if the method
    requires it; (LT3) 1 <= bits <= table_bits <= 8; (LT4) 1 to 2^bits entries; (LT5) entries are ascending and in the
    range of a signed, or unsigned, `table_bits` integer.

    ```mlir
    #tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.5, 0.25], table = [-90, -20, 0, 64], bits = 2>
    ```

    Source: mct_quantizers `WeightsLUTSymmetricInferableQuantizer`, `WeightsLUTPOTInferableQuantizer`,
    `ActivationLutPOTInferableQuantizer`.
  }];
  let parameters = (ins
    AttrParameter<"::mct::tpc::QuantizationMethod", "a quantization method">:$method,
    Tpc_RealListParameter:$threshold,
    ArrayRefParameter<"int64_t">:$table,
    "unsigned":$bits,
    DefaultValuedParameter<"bool", "true">:$is_signed,
    DefaultValuedParameter<"unsigned", "8">:$table_bits);
  let assemblyFormat = [{
    `<` struct($method, custom<RealList>($threshold), custom<BitList>($table), $bits, $is_signed, $table_bits) `>`
  }];
}

#endif // TPC_DIALECT_IR_TPCATTRIBUTES_TD
