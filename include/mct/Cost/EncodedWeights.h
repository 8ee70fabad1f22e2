// SPDX-License-Identifier: Apache-2.0
//
// Size of quantized weights in the compressed form of Ethos-U, in bits.
#ifndef MCT_COST_ENCODEDWEIGHTS_H
#define MCT_COST_ENCODEDWEIGHTS_H

#include "mct/Planning/KernelOp.h"
#include "mct/Quantization/WeightCoding.h"

namespace mct {

/// Estimates the bits of a weight under a quantizer, from the nearest levels.
/// `layer` is the layer whose kernel it is; the codes of other weights, and
/// those of more than 8 bits, are not compressed. `order` is the order in which
/// the device reads kernels.
int64_t estimateEncodedBits(
    tpc::QuantizeOp point, tpc::QuantizerAttrInterface quantizer,
    llvm::ArrayRef<int64_t> axes, const std::optional<KernelOp> &layer,
    quantization::WeightOrder order = quantization::WeightOrder::EthosU55);

} // namespace mct

#endif // MCT_COST_ENCODEDWEIGHTS_H
