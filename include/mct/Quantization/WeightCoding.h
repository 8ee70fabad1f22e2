// SPDX-License-Identifier: Apache-2.0
//
// Size of the codes of a kernel in the compressed forms in which Arm's Ethos-U
// devices read weights: an adaptive Golomb-Rice code of palette indices, whose
// codes stand in an order of the device.
#ifndef MCT_QUANTIZATION_WEIGHTCODING_H
#define MCT_QUANTIZATION_WEIGHTCODING_H

#include "mct/Quantizers/Kinds.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace mct::quantization {

/// The codes of a kernel, from -255 to 255, by output channel, then by row and
/// column of the window, then by input channel.
struct KernelCodes {
  std::vector<int16_t> codes;
  int64_t outputs = 0;
  int64_t height = 1;
  int64_t width = 1;
  /// Number of input channels; each output channel of a depthwise kernel has
  /// one.
  int64_t inputs = 1;
  bool isDepthwise = false;
};

/// Returns the codes in the order in which a device of 256 multipliers reads
/// them: blocks of output channels, input channels and positions, filled up
/// with zeros.
std::vector<int16_t> orderForDevice(const KernelCodes &kernel,
                                    WeightOrder order);

/// Returns an estimate of the bits of an encoded stream. The encoder divides a
/// stream into slices with parameters of their own; the estimate is that of the
/// division with the fewest bits.
int64_t estimateEncodedBits(llvm::ArrayRef<int16_t> stream);

/// Returns an estimate of the bits of an encoded kernel.
int64_t estimateEncodedBits(const KernelCodes &kernel, WeightOrder order);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_WEIGHTCODING_H
