// SPDX-License-Identifier: Apache-2.0
#include "IntegerKernels.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

using namespace mct::execution;

static int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Number of bytes that loops may read after the last one.
static constexpr int64_t kSlack = 64;

//===----------------------------------------------------------------------===//
// Rescale
//===----------------------------------------------------------------------===//

/// Returns `count` channels in order, with the last one repeated up to whole
/// vectors.
static std::vector<int64_t> channelsInOrder(int64_t channels) {
  std::vector<int64_t> order(roundUp(channels, kLanes), channels - 1);
  std::iota(order.begin(), order.begin() + channels, 0);
  return order;
}

PackedRescale::PackedRescale(int64_t channels)
    : PackedRescale(nullptr, channelsInOrder(channels)) {}

PackedRescale::PackedRescale(const RescaleShape &shape, int64_t channels)
    : PackedRescale(&shape, channelsInOrder(channels)) {}

PackedRescale::PackedRescale(const RescaleShape *given,
                             llvm::ArrayRef<int64_t> channels)
    : lanes(channels.size() / kLanes) {
  shape.low = std::numeric_limits<int32_t>::min();
  shape.high = std::numeric_limits<int32_t>::max();
  if (!given)
    return;
  shape = *given;
  auto isPowerOfTwo = [](int32_t multiplier) {
    return multiplier > 0 && (multiplier & (multiplier - 1)) == 0;
  };
  mode =
      shape.doubleRound ? RescaleLoop::Mode::Double : RescaleLoop::Mode::Single;
  auto rightShift = [&](size_t i) {
    return shape.shifts[i] - __builtin_ctz(shape.multipliers[i]);
  };
  bool onlyRight = true, onlyLeft = true, roundsTwice = false;
  for (size_t i = 0; i != shape.shifts.size(); ++i) {
    bool isPower = isPowerOfTwo(shape.multipliers[i]);
    onlyRight &= isPower && rightShift(i) >= 1 && rightShift(i) <= 32;
    onlyLeft &= isPower && rightShift(i) <= 0;
    roundsTwice |= shape.doubleRound && shape.shifts[i] > 31;
  }
  if (!roundsTwice)
    mode = onlyRight  ? RescaleLoop::Mode::ShiftRight
           : onlyLeft ? RescaleLoop::Mode::ShiftLeft
                      : RescaleLoop::Mode::Single;
  for (auto [position, channel] : llvm::enumerate(channels)) {
    size_t i = shape.shifts.size() == 1 ? 0 : size_t(channel);
    RescaleLanes &group = lanes[position / kLanes];
    auto lane = int64_t(position % kLanes);
    int64_t odd = lane % 2, at = lane / 2;
    int64_t twice = shape.doubleRound && shape.shifts[i] > 31 ? 1 << 30 : 0;
    group.multiplier[odd][at] = shape.multipliers[i];
    group.rounding[odd][at] = (int64_t(1) << (shape.shifts[i] - 1)) + twice;
    group.takenBack[odd][at] = 2 * twice;
    group.shift[odd][at] = shape.shifts[i];
    group.powerShift[lane] =
        mode == RescaleLoop::Mode::ShiftRight  ? rightShift(i) - 1
        : mode == RescaleLoop::Mode::ShiftLeft ? -rightShift(i)
                                               : 0;
  }
}

RescaleLoop PackedRescale::loop() const {
  RescaleLoop loop;
  loop.mode = mode;
  loop.inputZeroPoint = shape.inputZeroPoint;
  loop.outputZeroPoint = shape.outputZeroPoint;
  loop.low = shape.low;
  loop.high = shape.high;
  loop.outputBytes = shape.outputBytes;
  loop.lanes = lanes.data();
  return loop;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {

/// Sums wrap around, as i32 does.
int32_t wrap(int64_t sum) { return int32_t(uint32_t(uint64_t(sum))); }

/// An image with the border that a window reads, and with zeros between its
/// pixels.
struct Border {
  int64_t height = 0, width = 0, channels = 0;
  /// Sizes of the image.
  int64_t inputHeight = 0, inputWidth = 0;
  int64_t top = 0, left = 0;
  /// Distances between neighbouring pixels of the image.
  int64_t stepHeight = 1, stepWidth = 1;
  /// Channels of the image, and the number of repetitions of each in the
  /// border.
  int64_t inputChannels = 0, repeats = 1;
  /// Number of phases in which columns are stored: those with the same index
  /// modulo `phases` are adjacent, one phase after the other.
  int64_t phases = 1;
  uint8_t fill = 0;

  int64_t phaseWidth() const { return (width + phases - 1) / phases; }
  int64_t rowBytes() const { return phases * phaseWidth() * channels; }
  int64_t bytes() const { return height * rowBytes(); }
  /// Returns the position of a column in a row.
  int64_t columnAt(int64_t column) const {
    return (column % phases * phaseWidth() + column / phases) * channels;
  }
  void write(const IntegerLoops &loops, const int8_t *image, uint8_t *to) const;
};

void Border::write(const IntegerLoops &loops, const int8_t *image,
                   uint8_t *to) const {
  int64_t inputBytes = inputHeight * inputWidth * inputChannels;
  if (inputBytes == bytes() && phases == 1 && top == 0 && left == 0)
    return loops.flip(image, inputBytes, to);
  if (phases == 1 && stepHeight == 1 && stepWidth == 1 && repeats == 1 &&
      top >= 0 && left >= 0 && top + inputHeight <= height &&
      left + inputWidth <= width) {
    // Fill only the border around the image.
    int64_t between = (width - inputWidth) * channels;
    int64_t before = (top * width + left) * channels;
    uint8_t *end = to + bytes();
    std::memset(to, fill, before);
    to += before;
    int64_t rowLength = inputWidth * inputChannels;
    for (int64_t y = 0; y != inputHeight; ++y, image += rowLength) {
      loops.flip(image, rowLength, to);
      to += rowLength;
      std::memset(to, fill, y + 1 == inputHeight ? end - to : between);
      to += between;
    }
    return;
  }
  std::memset(to, fill, bytes());
  int64_t inputRow = inputWidth * inputChannels;
  for (int64_t y = 0; y != inputHeight; ++y, image += inputRow) {
    int64_t row = top + y * stepHeight;
    if (row < 0 || row >= height)
      continue;
    uint8_t *line = to + row * rowBytes();
    if (left >= 0 && stepWidth == 1 && repeats == 1) {
      int64_t count = std::min(inputWidth, width - left);
      for (int64_t x = 0; x < std::min(phases, count); ++x)
        loops.flipPixels(image + x * channels, phases * channels,
                         (count - x + phases - 1) / phases, channels,
                         line + columnAt(left + x));
      continue;
    }
    for (int64_t x = 0; x != inputWidth; ++x) {
      int64_t column = left + x * stepWidth;
      if (column < 0 || column >= width)
        continue;
      const int8_t *pixel = image + x * inputChannels;
      uint8_t *pixelTo = line + columnAt(column);
      if (repeats == 1)
        loops.flip(pixel, channels, pixelTo);
      else
        for (int64_t c = 0; c != channels; ++c)
          pixelTo[c] = uint8_t(pixel[c / repeats]) ^ 128;
    }
  }
}

/// The image of a convolution with its padding.
Border padded(const ConvolutionShape &shape, int32_t inputZeroPoint) {
  Border border;
  border.channels = border.inputChannels = shape.inputChannels;
  border.inputHeight = shape.inputHeight;
  border.inputWidth = shape.inputWidth;
  border.fill = uint8_t(inputZeroPoint) ^ 128;
  border.top = shape.padTop;
  border.left = shape.padLeft;
  border.height = shape.padTop + shape.inputHeight + shape.padBottom;
  border.width = shape.padLeft + shape.inputWidth + shape.padRight;
  return border;
}

/// Runs a loop on every image of a batch, which is written to `image` with its
/// borders.
template <typename Loop>
void runImages(const ConvolutionShape &shape, const Border &border,
               const void *operand, void *result, Loop &loop, uint8_t *image,
               void (*compute)(const Loop &)) {
  int64_t inputBytes =
      shape.inputHeight * shape.inputWidth * shape.inputChannels;
  int64_t outputBytes = shape.outputHeight * shape.outputWidth *
                        shape.outputChannels * loop.rescale.outputBytes;
  for (int64_t n = 0; n != shape.batch; ++n) {
    border.write(integerLoops(),
                 static_cast<const int8_t *>(operand) + n * inputBytes, image);
    loop.output = static_cast<char *>(result) + n * outputBytes;
    compute(loop);
  }
}

/// Weights [rows][inner] of `numRuns` runs for the convolution loops, and the
/// correction of the bias for bytes that are not counted from 0.
class PackedWeights {
public:
  /// `weight(channel, run, byte)`.
  template <typename Weight>
  PackedWeights(int64_t channels, int64_t numRuns, int64_t runBytes,
                int32_t offset, llvm::ArrayRef<int32_t> givenBias,
                Weight weight)
      : steps((runBytes + 3) / 4) {
    int64_t padded = roundUp(channels, kLanes);
    values.resize(padded * numRuns * steps * 4);
    bias.resize(padded);
    int8_t *to = values.data();
    std::vector<int64_t> sums(padded);
    for (int64_t channel = 0; channel < channels;) {
      int64_t groups = channels - channel > kLanes ? 2 : 1;
      for (int64_t run = 0; run != numRuns; ++run)
        for (int64_t step = 0; step != steps; ++step)
          for (int64_t lane = 0; lane != groups * kLanes; ++lane)
            for (int64_t byte = 4 * step; byte != 4 * step + 4; ++byte, ++to)
              if (channel + lane < channels && byte < runBytes) {
                *to = weight(channel + lane, run, byte);
                sums[channel + lane] += *to;
              }
      channel += groups * kLanes;
    }
    for (int64_t channel = 0; channel != channels; ++channel)
      bias[channel] = wrap(
          (givenBias.empty() ? 0
                             : givenBias[givenBias.size() == 1 ? 0 : channel]) -
          offset * sums[channel]);
  }

  int64_t bytes() const {
    return int64_t(values.size() + bias.size() * sizeof(int32_t));
  }

  int64_t steps;
  std::vector<int8_t> values;
  std::vector<int32_t> bias;
};

PackedRescale pack(const RescaleShape *rescale, int64_t channels) {
  return rescale ? PackedRescale(*rescale, channels) : PackedRescale(channels);
}

class IntegerConvolution final : public IntegerKernel {
public:
  IntegerConvolution(const ConvolutionShape &shape,
                     llvm::ArrayRef<int8_t> weights,
                     llvm::ArrayRef<int32_t> bias, int32_t inputZeroPoint,
                     const RescaleShape *rescale)
      : shape(shape), border(computeBorder(shape, inputZeroPoint)),
        rescale(pack(rescale, shape.outputChannels)) {
    bool transpose = shape.kind == ConvolutionShape::Kind::Transpose;
    int64_t kernelWidth = shape.kernelWidth;
    int64_t dilationHeight = transpose ? 1 : shape.dilationHeight;
    int64_t dilationWidth = transpose ? 1 : shape.dilationWidth;
    int64_t channels = shape.inputChannels;
    // Pixels side by side are one run of bytes.
    bool isRow = dilationWidth == 1;
    int64_t runBytes = isRow ? kernelWidth * channels : channels;
    int64_t runsPerRow = isRow ? 1 : kernelWidth;
    for (int64_t y = 0; y != shape.kernelHeight; ++y)
      for (int64_t x = 0; x != runsPerRow; ++x)
        runs.push_back((y * dilationHeight * border.width + x * dilationWidth) *
                       channels);
    packed = std::make_unique<PackedWeights>(
        shape.outputChannels, int64_t(runs.size()), runBytes,
        128 + inputZeroPoint, bias,
        [&](int64_t channel, int64_t run, int64_t byte) {
          int64_t y = run / runsPerRow, x = run % runsPerRow + byte / channels;
          if (transpose) {
            y = shape.kernelHeight - 1 - y;
            x = kernelWidth - 1 - x;
          }
          return weights[((channel * shape.kernelHeight + y) * kernelWidth +
                          x) *
                             channels +
                         byte % channels];
        });
  }

  int64_t resultBytes() const override {
    return shape.batch * shape.outputHeight * shape.outputWidth *
           shape.outputChannels * rescale.loop().outputBytes;
  }
  int64_t scratchBytes() const override { return border.bytes() + kSlack; }
  int64_t bytes() const override { return packed->bytes() + rescale.bytes(); }

  void run(llvm::ArrayRef<const void *> operands, void *result,
           char *scratch) const override {
    const IntegerLoops &loops = integerLoops();
    bool transpose = shape.kind == ConvolutionShape::Kind::Transpose;
    auto *image = reinterpret_cast<uint8_t *>(scratch);
    ConvolutionLoop loop;
    loop.image = image;
    loop.columnStep = (transpose ? 1 : shape.strideWidth) * shape.inputChannels;
    loop.rowStep = (transpose ? 1 : shape.strideHeight) * border.width *
                   shape.inputChannels;
    loop.outputHeight = shape.outputHeight;
    loop.outputWidth = shape.outputWidth;
    loop.channels = shape.outputChannels;
    loop.runs = runs.data();
    loop.numRuns = int64_t(runs.size());
    loop.steps = packed->steps;
    loop.weights = packed->values.data();
    loop.bias = packed->bias.data();
    loop.rescale = rescale.loop();
    runImages(shape, border, operands[0], result, loop, image, loops.convolve);
  }

private:
  static Border computeBorder(const ConvolutionShape &shape,
                              int32_t inputZeroPoint) {
    Border border = padded(shape, inputZeroPoint);
    if (shape.kind != ConvolutionShape::Kind::Transpose)
      return border;
    // A transposed convolution is a convolution of spread pixels with the
    // reversed kernel.
    border.stepHeight = shape.strideHeight;
    border.stepWidth = shape.strideWidth;
    border.top = shape.kernelHeight - 1 - shape.padTop;
    border.left = shape.kernelWidth - 1 - shape.padLeft;
    border.height = shape.outputHeight + shape.kernelHeight - 1;
    border.width = shape.outputWidth + shape.kernelWidth - 1;
    return border;
  }

  ConvolutionShape shape;
  Border border;
  PackedRescale rescale;
  std::vector<int64_t> runs;
  std::unique_ptr<PackedWeights> packed;
};

class IntegerDepthwise final : public IntegerKernel {
public:
  IntegerDepthwise(const ConvolutionShape &shape,
                   llvm::ArrayRef<int8_t> weights, llvm::ArrayRef<int32_t> bias,
                   int32_t inputZeroPoint, const RescaleShape *rescale)
      : shape(shape), border(computeBorder(shape, inputZeroPoint)),
        quads((shape.kernelWidth + 3) / 4) {
    int64_t channels = shape.outputChannels;
    // If few different blocks repeat, a run is a row of pixels; otherwise it is
    // the channels of one pixel.
    constexpr int64_t kMaxBlocks = 64;
    runLength = shape.outputWidth * channels;
    int64_t numBlocks = std::lcm(channels, kBlock) / kBlock;
    if (numBlocks > kMaxBlocks) {
      blocksOverlap = true;
      runLength = channels;
      numBlocks = roundUp(channels, kBlock) / kBlock;
    }
    std::vector<int64_t> lanes(numBlocks * kBlock);
    for (auto [position, channel] : llvm::enumerate(lanes)) {
      auto block = int64_t(position) / kBlock;
      int64_t start = block * kBlock;
      if (blocksOverlap)
        start = std::min(start, runLength - kBlock);
      int64_t vector = int64_t(position) % kBlock / kLanes;
      channel = (start + depthwisePlace(vector, int64_t(position) % kLanes)) %
                channels;
    }
    this->rescale = PackedRescale(rescale, lanes);

    std::vector<int32_t> biases(channels);
    for (int64_t channel = 0; channel != channels; ++channel) {
      int64_t sum = 0;
      for (int64_t tap = 0; tap != shape.kernelHeight * shape.kernelWidth;
           ++tap)
        sum += weights[tap * channels + channel];
      biases[channel] = wrap(bias[bias.size() == 1 ? 0 : channel] -
                             (128 + inputZeroPoint) * sum);
    }
    for (int64_t channel : lanes)
      sums.push_back(biases[channel]);
    int64_t rowsOfQuads = shape.kernelHeight * quads;
    packed.resize(numBlocks * rowsOfQuads * kBlock * 4);
    for (auto [position, channel] : llvm::enumerate(lanes))
      for (int64_t y = 0; y != shape.kernelHeight; ++y)
        for (int64_t x = 0; x != shape.kernelWidth; ++x) {
          auto block = int64_t(position) / kBlock;
          int64_t place = (block * rowsOfQuads + y * quads + x / 4) * kBlock +
                          int64_t(position) % kBlock;
          packed[place * 4 + x % 4] =
              weights[(y * shape.kernelWidth + x) * channels + channel];
        }
    // Columns beyond the kernel have weights of 0.
    for (int64_t x = 0; x != 4 * quads; ++x)
      columns.push_back(border.columnAt(std::min(x, shape.kernelWidth - 1) *
                                        shape.dilationWidth));
  }

  int64_t resultBytes() const override {
    return shape.batch * shape.outputHeight * shape.outputWidth *
           shape.outputChannels * rescale.loop().outputBytes;
  }
  int64_t scratchBytes() const override { return border.bytes() + kSlack; }
  int64_t bytes() const override {
    return int64_t(packed.size() + sums.size() * sizeof(int32_t)) +
           rescale.bytes();
  }

  void run(llvm::ArrayRef<const void *> operands, void *result,
           char *scratch) const override {
    const IntegerLoops &loops = integerLoops();
    auto *image = reinterpret_cast<uint8_t *>(scratch);
    DepthwiseLoop loop;
    loop.image = image;
    loop.rowStep = shape.strideHeight * border.rowBytes();
    loop.windowStep = shape.dilationHeight * border.rowBytes();
    loop.outputHeight = shape.outputHeight;
    loop.numRuns = blocksOverlap ? shape.outputWidth : 1;
    loop.runLength = runLength;
    loop.blocksOverlap = blocksOverlap;
    loop.windowHeight = shape.kernelHeight;
    loop.columns = columns.data();
    loop.quads = quads;
    loop.numBlocks = int64_t(sums.size()) / kBlock;
    loop.weights = packed.data();
    loop.bias = sums.data();
    loop.rescale = rescale.loop();
    runImages(shape, border, operands[0], result, loop, image,
              loops.convolveDepthwise);
  }

private:
  static Border computeBorder(const ConvolutionShape &shape,
                              int32_t inputZeroPoint) {
    Border border = padded(shape, inputZeroPoint);
    border.channels = shape.outputChannels;
    border.repeats = shape.outputChannels / shape.inputChannels;
    // Neighbouring windows read neighbouring values.
    border.phases = shape.strideWidth;
    return border;
  }

  ConvolutionShape shape;
  Border border;
  int64_t quads, runLength = 0;
  bool blocksOverlap = false;
  PackedRescale rescale{kLanes};
  std::vector<int64_t> columns;
  std::vector<int8_t> packed;
  std::vector<int32_t> sums;
};

} // namespace

std::unique_ptr<IntegerKernel> mct::execution::makeIntegerConvolution(
    const ConvolutionShape &shape, llvm::ArrayRef<int8_t> weights,
    llvm::ArrayRef<int32_t> bias, int32_t inputZeroPoint,
    const RescaleShape *rescale) {
  if (shape.kind == ConvolutionShape::Kind::Depthwise)
    return std::make_unique<IntegerDepthwise>(shape, weights, bias,
                                              inputZeroPoint, rescale);
  return std::make_unique<IntegerConvolution>(shape, weights, bias,
                                              inputZeroPoint, rescale);
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

namespace {

/// Rows of the first factor as pixels of a pointwise convolution.
class IntegerMatMul final : public IntegerKernel {
public:
  IntegerMatMul(const MatMulShape &shape, llvm::ArrayRef<int8_t> constant,
                int32_t firstZeroPoint, int32_t secondZeroPoint,
                const RescaleShape *rescale)
      : shape(shape), isConstant(!constant.empty()),
        firstZeroPoint(firstZeroPoint), secondZeroPoint(secondZeroPoint),
        rescale(pack(rescale, shape.columns)) {
    if (!isConstant)
      return;
    packed.resize(shape.batch * weightBytes());
    sums.resize(shape.batch * paddedColumns());
    for (int64_t n = 0; n != shape.batch; ++n)
      packFactor(constant.data() + n * shape.inner * shape.columns,
                 packed.data() + n * weightBytes(),
                 sums.data() + n * paddedColumns());
  }

  int64_t resultBytes() const override {
    return shape.batch * shape.rows * shape.columns *
           rescale.loop().outputBytes;
  }
  int64_t scratchBytes() const override {
    return rowBytes() + pixelBytes() +
           (isConstant ? 0 : weightBytes() + paddedColumns() * 4);
  }
  int64_t bytes() const override {
    return int64_t(packed.size() + sums.size() * sizeof(int32_t)) +
           rescale.bytes();
  }

  void run(llvm::ArrayRef<const void *> operands, void *result,
           char *scratch) const override {
    const IntegerLoops &loops = integerLoops();
    auto *rows = reinterpret_cast<uint8_t *>(scratch);
    auto *ofPixels = reinterpret_cast<int32_t *>(scratch + rowBytes());
    auto *ownWeights =
        reinterpret_cast<int8_t *>(scratch + rowBytes() + pixelBytes());
    auto *ownSums = reinterpret_cast<int32_t *>(ownWeights + weightBytes());
    const int64_t run = 0;
    ConvolutionLoop loop;
    loop.image = rows;
    loop.columnStep = shape.inner;
    loop.outputHeight = 1;
    loop.outputWidth = shape.rows;
    loop.channels = shape.columns;
    loop.runs = &run;
    loop.numRuns = 1;
    loop.steps = (shape.inner + 3) / 4;
    loop.rescale = rescale.loop();
    for (int64_t n = 0; n != shape.batch; ++n) {
      const int8_t *first = static_cast<const int8_t *>(operands[0]) +
                            n * shape.rows * shape.inner;
      loops.flip(first, shape.rows * shape.inner, rows);
      if (secondZeroPoint != 0) {
        // -b * sum(x - a); the stored bytes of x are 128 larger.
        for (int64_t row = 0; row != shape.rows; ++row) {
          int64_t sum = 0;
          for (int64_t i = 0; i != shape.inner; ++i)
            sum += first[row * shape.inner + i];
          ofPixels[row] =
              wrap(-secondZeroPoint * (sum - firstZeroPoint * shape.inner));
        }
        loop.ofPixels = ofPixels;
      }
      if (isConstant) {
        loop.weights = packed.data() + n * weightBytes();
        loop.bias = sums.data() + n * paddedColumns();
      } else {
        packFactor(static_cast<const int8_t *>(operands[1]) +
                       n * shape.inner * shape.columns,
                   ownWeights, ownSums);
        loop.weights = ownWeights;
        loop.bias = ownSums;
      }
      loop.output = static_cast<char *>(result) +
                    n * shape.rows * shape.columns * loop.rescale.outputBytes;
      loops.convolve(loop);
    }
  }

private:
  int64_t paddedColumns() const { return roundUp(shape.columns, kLanes); }
  int64_t weightBytes() const {
    return paddedColumns() * roundUp(shape.inner, 4);
  }
  int64_t rowBytes() const {
    return roundUp(shape.rows * shape.inner + kSlack, 64);
  }
  int64_t pixelBytes() const { return roundUp(shape.rows * 4, 64); }

  void packFactor(const int8_t *from, int8_t *weights, int32_t *bias) const {
    std::fill_n(bias, paddedColumns(), 0);
    integerLoops().packColumns(from, shape.inner, shape.columns, weights, bias);
    for (int64_t column = 0; column != shape.columns; ++column)
      bias[column] = wrap(-int64_t(128 + firstZeroPoint) * bias[column]);
  }

  MatMulShape shape;
  bool isConstant;
  int64_t firstZeroPoint, secondZeroPoint;
  PackedRescale rescale;
  std::vector<int8_t> packed;
  std::vector<int32_t> sums;
};

} // namespace

std::unique_ptr<IntegerKernel> mct::execution::makeIntegerMatMul(
    const MatMulShape &shape, llvm::ArrayRef<int8_t> constant,
    int32_t firstZeroPoint, int32_t secondZeroPoint,
    const RescaleShape *rescale) {
  return std::make_unique<IntegerMatMul>(shape, constant, firstZeroPoint,
                                         secondZeroPoint, rescale);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

namespace {

class IntegerChain final : public IntegerKernel {
public:
  IntegerChain(llvm::ArrayRef<ChainNode> nodes, int64_t elements,
               int outputBytes)
      : elements(elements), outputBytes(outputBytes) {
    rescales.reserve(nodes.size());
    for (const ChainNode &node : nodes) {
      ChainStep &step = steps.emplace_back(node.step);
      const RescaleShape &shape = node.rescale;
      PackedRescale &packed = rescales.emplace_back(
          shape.shifts.empty() ? PackedRescale(1) : PackedRescale(shape, 1));
      step.rescale = packed.loop();
      step.rescale.low = shape.low;
      step.rescale.high = shape.high;
      if (!node.table.empty()) {
        tables.push_back(node.table);
        step.table = tables.back().data();
      }
      registers = std::max(registers, step.to + 1);
    }
  }

  int64_t resultBytes() const override { return elements * outputBytes; }
  int64_t scratchBytes() const override {
    return registers * kChainBlock * int64_t(sizeof(int32_t));
  }
  int64_t bytes() const override {
    int64_t bytes = 0;
    for (const PackedRescale &rescale : rescales)
      bytes += rescale.bytes();
    for (const std::vector<int8_t> &table : tables)
      bytes += int64_t(table.size());
    return bytes;
  }

  void run(llvm::ArrayRef<const void *> operands, void *result,
           char *scratch) const override {
    ChainLoop loop;
    loop.steps = steps.data();
    loop.numSteps = int64_t(steps.size());
    loop.operands = operands.data();
    loop.elements = elements;
    loop.registers = reinterpret_cast<int32_t *>(scratch);
    loop.output = result;
    loop.outputBytes = outputBytes;
    integerLoops().compute(loop);
  }

private:
  int64_t elements;
  int outputBytes;
  int registers = 0;
  std::vector<ChainStep> steps;
  std::vector<PackedRescale> rescales;
  /// Their elements stay where they are.
  std::vector<std::vector<int8_t>> tables;
};

} // namespace

std::unique_ptr<IntegerKernel>
mct::execution::makeIntegerChain(llvm::ArrayRef<ChainNode> nodes,
                                 int64_t elements, int outputBytes) {
  return std::make_unique<IntegerChain>(nodes, elements, outputBytes);
}
