// SPDX-License-Identifier: Apache-2.0
//
// Descriptions of the devices that run quantized networks.
#ifndef TPC_DIALECT_IR_TPCDEVICES_TD
#define TPC_DIALECT_IR_TPCDEVICES_TD

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "tpc_dialect/IR/TpcAttributes.td"

class Tpc_DeviceOp_<string op_mnemonic, list<Trait> traits = []> : Op<Tpc_Dialect, op_mnemonic, traits>;

/// An op in the body of `tpc.device`.
class Tpc_DeviceFactOp<string op_mnemonic> : Tpc_DeviceOp_<op_mnemonic, [HasParent<"DeviceOp">]>;

def Tpc_DeviceOp : Tpc_DeviceOp_<"device", [Symbol, NoTerminator, NoRegionArguments, SingleBlock]> {
  let summary = "Limits and costs of a device that runs networks";
  let description = [{
    A platform describes how values are quantized. A device describes what runs the result, and the forms of ops that it
    cannot run: passes that lower a network check it against the device, and choose forms that are cheap there.

    ```mlir
    tpc.device @my_npu title("My NPU") for ["my_npu"] integer_only {
      tpc.refuse ["tosa.intdiv"] reason("divides integers") remedy("multiply by a reciprocal")
      tpc.refuse ["tosa.matmul"] where(#tpc.predicate<"$bits" eq 16>)
        reason("multiplies matrices of 16 bits") remedy("rescale the factors to 8 bits before")
    }
    ```

    * `title`: the name in messages; the symbol by default.
    * `configurations`: names of the vendor's configurations to which its costs apply; each is another name of the
      device.
    * `for`: types of the platforms (`type` of `tpc.platform`) whose networks the device runs unless another device is
      given to a pass.
    * `integer_only`: the device cannot compute floating-point numbers.

    The body holds `tpc.refuse`, `tpc.repeated_layers`, `tpc.staged_arguments`, `tpc.strided_layers`, `tpc.column_sums`,
    `tpc.compressed_weights`, `tpc.cost_table`, `tpc.onnx_operators` and `tpc.onnx_limits`, each at most once except the
    first.

    Rules: (V1) a fact other than `tpc.refuse` occurs once; (V2) a refusal names ops, or has a filter; (V3) names in
    filters that begin with `$` exist; (V4) costs, sizes and widths are positive and finite.
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    OptionalAttr<StrAttr>:$title,
    DefaultValuedOptionalAttr<StrArrayAttr, "{}">:$configurations,
    DefaultValuedOptionalAttr<StrArrayAttr, "{}">:$platforms,
    UnitAttr:$integer_only);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`title` `(` $title^ `)`)? (`configurations` $configurations^)? (`for` $platforms^)? (`integer_only` $integer_only^)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the name in messages.
    ::llvm::StringRef getDisplayName() { return getTitle().value_or(getSymName()); }
    /// Returns the only fact of a kind, or null.
    template <typename FactOp> FactOp getFact() {
      auto facts = getBody().getOps<FactOp>();
      return facts.empty() ? FactOp() : *facts.begin();
    }
  }];
}

def Tpc_RefuseOp : Tpc_DeviceFactOp<"refuse"> {
  let summary = "A form of ops that a device cannot run";
  let description = [{
    Refuses the ops with these names, or all ops of TOSA if none are named, for which a filter is true. `reason`
    continues "the op", as in "divides integers"; `remedy` gives an alternative.

    ```mlir
    tpc.refuse ["tosa.logical_left_shift"] where(#tpc.predicate<"$bits" lt 32>)
      reason("shifts values of less than 32 bits") remedy("cast them to i32 before")
    ```
  }];
  let arguments = (ins
    DefaultValuedOptionalAttr<StrArrayAttr, "{}">:$ops,
    OptionalAttr<Tpc_PredicateAttr>:$filter,
    StrAttr:$reason,
    StrAttr:$remedy);
  let assemblyFormat = [{
    ($ops^)? (`where` `(` qualified($filter)^ `)`)? `reason` `(` $reason `)` `remedy` `(` $remedy `)` attr-dict
  }];
  let hasVerifier = 1;
}

def Tpc_RepeatedLayersOp : Tpc_DeviceFactOp<"repeated_layers"> {
  let summary = "Cost of computing a layer again";
  let description = [{
    If several rescales read the sums of a layer, each reads them from memory, or the layer is computed again for each
    of them, which keeps the sums inside the device. The costs are cycles: at least `result` for each result of a layer,
    `product` for each product, `weight` for each weight, and `sum` for each sum that a rescale reads from memory.

    ```mlir
    tpc.repeated_layers result 0.65 product 0.0043 weight 1.4 sum 2.0
    ```
  }];
  let arguments = (ins F64Attr:$result, F64Attr:$product, F64Attr:$weight, F64Attr:$sum);
  let assemblyFormat = [{
    `result` $result `product` $product `weight` $weight `sum` $sum attr-dict
  }];
  let hasVerifier = 1;
}

def Tpc_StagedArgumentsOp : Tpc_DeviceFactOp<"staged_arguments"> {
  let summary = "Arguments that are copied before a convolution reads them";
  let description = [{
    The memory of the arguments transfers `burst` bytes at once. Arguments of at least `smallest` bytes with fewer
    channels than that are copied into the device first, in rows of a burst, if its own `memory`, in bytes, can hold
    them together with the results of the convolutions, and these together with the results computed from them.

    ```mlir
    tpc.staged_arguments burst 16 smallest 1024 memory 393216
    ```
  }];
  let arguments = (ins I64Attr:$burst, I64Attr:$smallest, I64Attr:$memory);
  let assemblyFormat = "`burst` $burst `smallest` $smallest `memory` $memory attr-dict";
  let hasVerifier = 1;
}

def Tpc_StridedLayersOp : Tpc_DeviceFactOp<"strided_layers"> {
  let summary = "Convolutions that read some rows and columns of an image";
  let description = [{
    A 1x1 convolution with strides reads rows and columns up to the last one that it needs; TOSA requires an image
    without those after it. Images of `fewest` (1) to `channels` channels, and of at least `smallest` bytes (1), are
    read faster as a whole, by a larger kernel whose other weights are 0.

    ```mlir
    tpc.strided_layers channels 20 fewest 12 smallest 12288
    ```
  }];
  let arguments = (ins I64Attr:$channels, DefaultValuedOptionalAttr<I64Attr, "1">:$fewest,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$smallest);
  let assemblyFormat = "`channels` $channels (`fewest` $fewest^)? (`smallest` $smallest^)? attr-dict";
  let hasVerifier = 1;
}

def Tpc_ColumnSumsOp : Tpc_DeviceFactOp<"column_sums"> {
  let summary = "Sums over the positions of an image";
  let description = [{
    Codes of an image of at least three times `channels` channels, and of up to `positions` positions, are summed faster
    by a depthwise convolution with kernels of ones than by a sum along an axis. It reads the positions as a column with
    `channels` channels, or with half as many if these divide those of the image.

    ```mlir
    tpc.column_sums channels 16 positions 64
    ```
  }];
  let arguments = (ins I64Attr:$channels, I64Attr:$positions);
  let assemblyFormat = "`channels` $channels `positions` $positions attr-dict";
  let hasVerifier = 1;
}

/// Stored as its word, so that text and bytecode are those of a string.
def Tpc_WeightOrderAttr
    : StringBasedAttr<CPred<"::llvm::isa<::mlir::StringAttr>($_self) && ::mct::quantization::symbolizeWeightOrder("
                            "::llvm::cast<::mlir::StringAttr>($_self).getValue())">,
                      "order of weights, ethos-u55 or ethos-u85"> {
  let returnType = "::mct::quantization::WeightOrder";
  let convertFromStorage = "*::mct::quantization::symbolizeWeightOrder($_self.getValue())";
  let constBuilderCall = "$_builder.getStringAttr(::mct::quantization::stringifyWeightOrder($0))";
}

def Tpc_CompressedWeightsOp : Tpc_DeviceFactOp<"compressed_weights"> {
  let summary = "Cost of reading compressed weights";
  let description = [{
    The device reads kernels in compressed form, each byte of which takes `byte` cycles, while it computes. Together
    with the costs of `tpc.repeated_layers`, this determines which layers wait for their weights. `order` names the
    order in which codes are stored and padded: that of `ethos-u55` (default) or of `ethos-u85`.

    ```mlir
    tpc.compressed_weights byte 0.3 order "ethos-u85"
    ```
  }];
  let arguments = (ins
    F64Attr:$byte,
    DefaultValuedAttr<Tpc_WeightOrderAttr, "::mct::quantization::WeightOrder::EthosU55">:$order);
  let assemblyFormat = "`byte` $byte (`order` $order^)? attr-dict";
  let hasVerifier = 1;
}

def Tpc_CostTableOp : Tpc_DeviceFactOp<"cost_table"> {
  let summary = "Measured costs of layers";
  let description = [{
    A JSON document `mct-costs` with the cycles and bytes of layers on the device, by their computation;
    `mct.cost.write_table` writes one. The path is relative to the folder of the file that describes the device.

    ```mlir
    tpc.cost_table "resnet8.costs.json"
    ```
  }];
  let arguments = (ins StrAttr:$path);
  let assemblyFormat = "$path attr-dict";
  let hasVerifier = 1;
}

def Tpc_OnnxOperatorsOp : Tpc_DeviceFactOp<"onnx_operators"> {
  let summary = "ONNX operators of a device";
  let description = [{
    * `missing`: operators that the device does not support.
    * `wide`: operators that read values of 16 bits; the others read 8.
    * `behind_layers`: operators that are computed together with the layer that produces their input (`Conv`,
      `ConvTranspose`, `Gemm`, `MatMul`), and `behind_sums` with an addition or subtraction: no point is needed between.

    ```mlir
    tpc.onnx_operators missing ["Erf"] wide ["Add", "Mul"] behind_layers ["Relu"] behind_sums ["Relu"]
    ```
  }];
  let arguments = (ins
    DefaultValuedOptionalAttr<StrArrayAttr, "{}">:$missing,
    DefaultValuedOptionalAttr<StrArrayAttr, "{}">:$wide,
    DefaultValuedOptionalAttr<StrArrayAttr, "{}">:$behind_layers,
    DefaultValuedOptionalAttr<StrArrayAttr, "{}">:$behind_sums);
  let assemblyFormat = [{
    (`missing` $missing^)? (`wide` $wide^)? (`behind_layers` $behind_layers^)? (`behind_sums` $behind_sums^)? attr-dict
  }];
}

def Tpc_OnnxLimitsOp : Tpc_DeviceFactOp<"onnx_limits"> {
  let summary = "Limits of a device that runs ONNX files";
  let description = [{
    The device reads files whose points are ops of `mct_quantizers`; it computes no floating-point numbers between them.

    * `batch`: samples that it processes at once.
    * `bytes`: memory for weights, biases and activations.
    * `signed`, `unsigned`: widths of activations, in bits. `power_of_two`: their thresholds are powers of two.
    * `weights`: widths of weights, in bits. `symmetric`: they have no zero points. `tables_with_zero`: a table of
      weights that uses all codes must have an entry 0.

    ```mlir
    tpc.onnx_limits batch 1 bytes 8388608 signed [8, 16] unsigned [8] power_of_two weights [2, 4, 8] symmetric
    ```
  }];
  let arguments = (ins
    I64Attr:$batch,
    I64Attr:$bytes,
    DenseI64ArrayAttr:$signed_widths,
    DenseI64ArrayAttr:$unsigned_widths,
    UnitAttr:$power_of_two,
    DenseI64ArrayAttr:$weight_widths,
    UnitAttr:$symmetric,
    UnitAttr:$tables_with_zero);
  let assemblyFormat = [{
    `batch` $batch `bytes` $bytes `signed` $signed_widths `unsigned` $unsigned_widths (`power_of_two` $power_of_two^)?
    `weights` $weight_widths (`symmetric` $symmetric^)? (`tables_with_zero` $tables_with_zero^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the widths of a device in words: "weights of my NPU have 4 or 8 bits".
    std::string describeWeights();
    /// Returns the same of activations: "activations of my NPU have 8 bits unsigned, 8 or 16 signed".
    std::string describeActivations();
    /// Returns the name of the device in messages.
    ::llvm::StringRef getDeviceName();
  }];
}

#endif // TPC_DIALECT_IR_TPCDEVICES_TD
