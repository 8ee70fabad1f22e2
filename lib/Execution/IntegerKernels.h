// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and matrix products of integers, each with the rescale behind
// it. Nothing here knows about MLIR.
//
// They are not calls of oneDNN: its sums pass through f32, which is exact up to
// 2^24 only; without VNNI it halves weights or saturates; and it cannot rescale
// in 64 bits, so that every sum would go to memory and back.
#ifndef MCT_LIB_EXECUTION_INTEGERKERNELS_H
#define MCT_LIB_EXECUTION_INTEGERKERNELS_H

#include "IntegerLoops.h"
#include "Primitives.h"
#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <vector>

namespace mct::execution {

/// What TOSA's rescale does, and a clamp behind it.
struct RescaleShape {
  /// One for all channels, or one for each; shifts are 1 to 62.
  std::vector<int32_t> multipliers;
  std::vector<int32_t> shifts;
  bool doubleRound = false;
  int32_t inputZeroPoint = 0, outputZeroPoint = 0;
  /// Bounds of the result, within those of its type.
  int32_t low = 0, high = 0;
  /// 1, 2 or 4.
  int outputBytes = 4;
};

/// A rescale in the form of the loops.
class PackedRescale {
public:
  /// Copies i32.
  explicit PackedRescale(int64_t channels);
  PackedRescale(const RescaleShape &shape, int64_t channels);
  /// `channels`: of the lanes, a multiple of 16 of them. Null: copies i32.
  PackedRescale(const RescaleShape *shape, llvm::ArrayRef<int64_t> channels);

  RescaleLoop loop() const;
  int64_t bytes() const { return int64_t(lanes.size() * sizeof(RescaleLanes)); }

private:
  RescaleLoop::Mode mode = RescaleLoop::Mode::Copy;
  RescaleShape shape;
  std::vector<RescaleLanes> lanes;
};

/// One call. Read-only while it runs.
class IntegerKernel {
public:
  virtual ~IntegerKernel() = default;
  /// `scratch`: memory of `scratchBytes()`, aligned to 64, for this call alone.
  virtual void run(llvm::ArrayRef<const void *> operands, void *result,
                   char *scratch) const = 0;
  /// Bytes that it writes to `result`.
  virtual int64_t resultBytes() const = 0;
  virtual int64_t scratchBytes() const { return 0; }
  /// Of weights and tables.
  virtual int64_t bytes() const { return 0; }
};

/// i8 by i8 weights. `weights`, `bias`: as TOSA has them, weights of a
/// transpose convolution too; one bias for all channels, or one for each.
/// `rescale`: null when the result is i32.
std::unique_ptr<IntegerKernel>
makeIntegerConvolution(const ConvolutionShape &shape,
                       llvm::ArrayRef<int8_t> weights,
                       llvm::ArrayRef<int32_t> bias, int32_t inputZeroPoint,
                       const RescaleShape *rescale);

/// i8 by i8. `constant`: the second factor, or empty when it is an operand.
std::unique_ptr<IntegerKernel>
makeIntegerMatMul(const MatMulShape &shape, llvm::ArrayRef<int8_t> constant,
                  int32_t firstZeroPoint, int32_t secondZeroPoint,
                  const RescaleShape *rescale);

/// A step of an elementwise computation, without what it refers to.
struct ChainNode {
  ChainStep step;
  /// One for all elements; without a shift it only clamps.
  RescaleShape rescale;
  std::vector<int8_t> table;
};

/// Steps on so many elements of tensors of one shape. The last one makes the
/// result, whose elements have 1, 2 or 4 bytes.
std::unique_ptr<IntegerKernel> makeIntegerChain(llvm::ArrayRef<ChainNode> nodes,
                                                int64_t elements,
                                                int outputBytes);

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_INTEGERKERNELS_H
