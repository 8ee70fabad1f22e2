// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_IR_TPCINTERFACES_TD
#define TPC_DIALECT_IR_TPCINTERFACES_TD

include "mlir/IR/OpBase.td"

def Tpc_QuantizerAttrInterface : AttrInterface<"QuantizerAttrInterface"> {
  let cppNamespace = "::mct::tpc";
  let description = [{
    The parameters of one quantizer, as they stand on a `tpc.quantize`. Whoever simulates, lowers or reports a point
    speaks to this interface only, so that a new kind of quantizer is one attribute.

    "Channels" are the index combinations of the axes that the point names, in row-major order; a quantizer without
    channels serves the whole tensor.
  }];
  let methods = [
    InterfaceMethod<"Method of the target-platform model that this quantizer belongs to.",
      "::mct::tpc::QuantizationMethod", "getMethod", (ins)>,
    InterfaceMethod<"Width of the stored integer in bits, sign included.",
      "unsigned", "getBits", (ins)>,
    InterfaceMethod<"Number of parameters: 1 per tensor, else one per channel.",
      "size_t", "getNumChannels", (ins)>,
    InterfaceMethod<[{One affine grid per parameter; empty for a quantizer that is not affine (a lookup table).}],
      "::llvm::SmallVector<::mct::quantization::Grid>", "getGrids", (ins)>,
    InterfaceMethod<[{
        Replaces every value by its representative. `shape` is the tensor's, `axes` are the axes of the channels;
        `input` and `output` hold all elements in row-major order and may be the same buffer.}],
      "void", "fakeQuantize", (ins "::llvm::ArrayRef<int64_t>":$shape, "::llvm::ArrayRef<int64_t>":$axes,
                                   "const float *":$input, "float *":$output)>,
  ];
}

#endif // TPC_DIALECT_IR_TPCINTERFACES_TD
