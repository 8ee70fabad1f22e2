// SPDX-License-Identifier: Apache-2.0
//
// Bits that quantized weights take in the compressed form in which Ethos-U
// reads them.
#ifndef MCT_COST_ENCODEDWEIGHTS_H
#define MCT_COST_ENCODEDWEIGHTS_H

#include "mct/Planning/KernelOp.h"
#include "mct/Quantization/WeightCoding.h"

namespace mct {

/// Estimates the bits of a weight under a quantizer, from the nearest levels.
/// `layer`: the layer whose kernel it is; the codes of other weights, and those
/// of more than 8 bits, are not compressed. `order`: that of the device.
int64_t estimateEncodedBits(
    tpc::QuantizeOp point, tpc::QuantizerAttrInterface quantizer,
    llvm::ArrayRef<int64_t> axes, const std::optional<KernelOp> &layer,
    quantization::WeightOrder order = quantization::WeightOrder::EthosU55);

} // namespace mct

#endif // MCT_COST_ENCODEDWEIGHTS_H
