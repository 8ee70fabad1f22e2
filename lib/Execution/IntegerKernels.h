// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and matrix products of integers, each with the rescale after it.
// Nothing here depends on MLIR.
//
// They are not calls of oneDNN: its sums pass through f32, which is exact only
// up to 2^24; without VNNI it halves weights or saturates; and it cannot
// rescale in 64 bits, so that every sum would be written to memory and read
// again.
#ifndef MCT_LIB_EXECUTION_INTEGERKERNELS_H
#define MCT_LIB_EXECUTION_INTEGERKERNELS_H

#include "IntegerLoops.h"
#include "Primitives.h"
#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <vector>

namespace mct::execution {

/// The parameters of TOSA's rescale, and of a clamp after it.
struct RescaleShape {
  /// One value for all channels, or one for each; shifts are 1 to 62.
  std::vector<int32_t> multipliers;
  std::vector<int32_t> shifts;
  bool doubleRound = false;
  int32_t inputZeroPoint = 0, outputZeroPoint = 0;
  /// Bounds of the result, within those of its type.
  int32_t low = 0, high = 0;
  /// Size in bytes of a result: 1, 2 or 4.
  int outputBytes = 4;
};

/// A rescale in the layout that the loops read.
class PackedRescale {
public:
  /// Creates a rescale that copies i32.
  explicit PackedRescale(int64_t channels);
  PackedRescale(const RescaleShape &shape, int64_t channels);
  /// Creates a rescale for lanes of these channels, a multiple of 16; a null
  /// shape copies i32.
  PackedRescale(const RescaleShape *shape, llvm::ArrayRef<int64_t> channels);

  RescaleLoop loop() const;
  int64_t bytes() const { return int64_t(lanes.size() * sizeof(RescaleLanes)); }

private:
  RescaleLoop::Mode mode = RescaleLoop::Mode::Copy;
  RescaleShape shape;
  std::vector<RescaleLanes> lanes;
};

/// One call of a kernel. It is read-only while it runs.
class IntegerKernel {
public:
  virtual ~IntegerKernel() = default;
  /// Runs the kernel with `scratchBytes()` of memory, aligned to 64, for this
  /// call alone.
  virtual void run(llvm::ArrayRef<const void *> operands, void *result,
                   char *scratch) const = 0;
  /// Returns the number of bytes written to `result`.
  virtual int64_t resultBytes() const = 0;
  virtual int64_t scratchBytes() const { return 0; }
  /// Returns the size in bytes of weights and tables.
  virtual int64_t bytes() const { return 0; }
};

/// Creates a convolution of i8 by i8. `weights` and `bias` are in the layout of
/// TOSA, including those of a transpose convolution; there is one bias for all
/// channels, or one for each. `rescale` is null if the result is i32.
std::unique_ptr<IntegerKernel>
makeIntegerConvolution(const ConvolutionShape &shape,
                       llvm::ArrayRef<int8_t> weights,
                       llvm::ArrayRef<int32_t> bias, int32_t inputZeroPoint,
                       const RescaleShape *rescale);

/// Creates a matrix product of i8 by i8. `constant` is the second factor, or
/// empty if that is an operand.
std::unique_ptr<IntegerKernel>
makeIntegerMatMul(const MatMulShape &shape, llvm::ArrayRef<int8_t> constant,
                  int32_t firstZeroPoint, int32_t secondZeroPoint,
                  const RescaleShape *rescale);

/// A step of an elementwise computation, with the objects that it refers to.
struct ChainNode {
  ChainStep step;
  /// Rescale of all elements; without a shift it only clamps.
  RescaleShape rescale;
  std::vector<int8_t> table;
};

/// Creates a kernel of steps on `elements` elements of tensors of one shape.
/// The last step computes the result, whose elements have 1, 2 or 4 bytes.
std::unique_ptr<IntegerKernel> makeIntegerChain(llvm::ArrayRef<ChainNode> nodes,
                                                int64_t elements,
                                                int outputBytes);

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_INTEGERKERNELS_H
