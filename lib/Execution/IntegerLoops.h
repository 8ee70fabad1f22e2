// SPDX-License-Identifier: Apache-2.0
//
// Operands of the loops of integer kernels: plain data, because the loops are
// compiled once for each instruction set (IntegerLoops.inc).
#ifndef MCT_LIB_EXECUTION_INTEGERLOOPS_H
#define MCT_LIB_EXECUTION_INTEGERLOOPS_H

#include <cstdint>

namespace mct::execution {

/// Number of channels that are computed side by side.
constexpr int64_t kLanes = 16;

/// The rescale of 16 channels. In arrays of 64-bit numbers, those of the even
/// lanes come first, then those of the odd ones.
struct alignas(64) RescaleLanes {
  int64_t multiplier[2][8];
  /// Added before the shift: 2^(shift - 1), and 2^30 for double rounding.
  int64_t rounding[2][8];
  /// Subtracted if the value is negative: 2^31 for double rounding.
  int64_t takenBack[2][8];
  int64_t shift[2][8];
  /// Remaining shift to the right, minus 1, or to the left, if all multipliers
  /// are powers of two.
  int32_t powerShift[kLanes];
};

/// Computes (value - inputZeroPoint) * multiplier * 2^-shift + outputZeroPoint,
/// rounded half up (or twice), between two bounds.
struct RescaleLoop {
  enum class Mode { Copy, ShiftLeft, ShiftRight, Single, Double };
  Mode mode = Mode::Copy;
  int32_t inputZeroPoint = 0, outputZeroPoint = 0;
  int32_t low = 0, high = 0;
  /// Size in bytes of a result: 1, 2 or 4.
  int outputBytes = 4;
  /// An entry for every 16 channels.
  const RescaleLanes *lanes = nullptr;
};

/// A convolution of one image whose borders are stored explicitly: bytes are
/// unsigned, 128 more than the value they represent.
struct ConvolutionLoop {
  const uint8_t *image = nullptr;
  /// Distances in bytes between the windows of neighbouring output pixels.
  int64_t rowStep = 0, columnStep = 0;
  int64_t outputHeight = 0, outputWidth = 0, channels = 0;
  /// A window consists of `numRuns` runs of bytes, each of `steps` times four
  /// of them.
  const int64_t *runs = nullptr;
  int64_t numRuns = 0, steps = 0;
  /// Weights of 32 channels, then of the next 32, and finally of up to 16: for
  /// every step four weights of each.
  const int8_t *weights = nullptr;
  /// Biases of all channels, up to a multiple of 16.
  const int32_t *bias = nullptr;
  /// Addends of all sums of each output pixel, or null.
  const int32_t *ofPixels = nullptr;
  RescaleLoop rescale;
  void *output = nullptr;
};

/// Number of adjacent elements that a depthwise convolution computes together,
/// of any pixels and channels, in four vectors: the first has four of each
/// sixteen, the next one the four after them.
constexpr int64_t kBlock = 4 * kLanes;
/// Returns the position of an element of a vector in its block.
inline int64_t depthwisePlace(int64_t vector, int64_t lane) {
  return lane / 4 * 16 + vector * 4 + lane % 4;
}

/// A convolution in which every channel has a window of its own. Windows of
/// adjacent elements read adjacent elements.
struct DepthwiseLoop {
  const uint8_t *image = nullptr;
  /// Distance in bytes between the inputs of one output row and those of the
  /// next, and between rows of a window.
  int64_t rowStep = 0, windowStep = 0;
  int64_t outputHeight = 0;
  /// A row of the output consists of `numRuns` runs of `runLength` adjacent
  /// elements, which are also adjacent in the image.
  int64_t numRuns = 1, runLength = 0;
  /// True if the last block of a run ends with it and may overlap the block
  /// before; false if it is shorter.
  bool blocksOverlap = false;
  int64_t windowHeight = 1;
  /// Offsets in bytes of the columns of a window, four for each of `quads`.
  const int64_t *columns = nullptr;
  int64_t quads = 1;
  /// The blocks of a run use these in turn: for every row of the window and
  /// every four columns, for the four vectors, four weights of each element.
  int64_t numBlocks = 1;
  const int8_t *weights = nullptr;
  /// Biases of the elements in a block, in the order of the vectors.
  const int32_t *bias = nullptr;
  /// The rescale, with lanes in the same order.
  RescaleLoop rescale;
  void *output = nullptr;
};

/// A step of an elementwise computation. A register holds a block of elements.
struct ChainStep {
  /// Index of the tensor that is read, or of the register.
  int operand = -1, from = 0;
  int operandBytes = 1;
  /// Operation with a register after the clamp of `rescale`.
  enum class Combine { None, Add, Subtract };
  Combine combine = Combine::None;
  int combined = 0;
  /// Table of 256 results for elements of i8, in place of the rescale.
  const int8_t *table = nullptr;
  RescaleLoop rescale;
  /// Index of the register that is written, or -1 for the output.
  int to = -1;
};
/// Number of elements of a register.
constexpr int64_t kChainBlock = 512;

struct ChainLoop {
  const ChainStep *steps = nullptr;
  int64_t numSteps = 0;
  const void *const *operands = nullptr;
  int64_t elements = 0;
  /// The registers, contiguous.
  int32_t *registers = nullptr;
  void *output = nullptr;
  int outputBytes = 1;
};

/// The loops for one instruction set.
struct IntegerLoops {
  const char *name;
  void (*convolve)(const ConvolutionLoop &);
  void (*convolveDepthwise)(const DepthwiseLoop &);
  void (*compute)(const ChainLoop &);
  /// Converts bytes from signed to unsigned, 128 more.
  void (*flip)(const int8_t *from, int64_t count, uint8_t *to);
  /// Converts bytes of pixels that lie `step` bytes apart.
  void (*flipPixels)(const int8_t *from, int64_t step, int64_t pixels,
                     int64_t channels, uint8_t *to);
  /// Packs [inner, columns] of bytes as weights of a ConvolutionLoop; missing
  /// columns are 0. Adds the sum of each column to `sums`.
  void (*packColumns)(const int8_t *from, int64_t inner, int64_t columns,
                      int8_t *to, int32_t *sums);
};

/// Returns the best loops for this machine, or for the forced instruction set.
const IntegerLoops &integerLoops();

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_INTEGERLOOPS_H
