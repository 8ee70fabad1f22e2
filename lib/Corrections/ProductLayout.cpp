// SPDX-License-Identifier: Apache-2.0
#include "ProductLayout.h"
#include "mct/Support/RowMajor.h"

using namespace mlir;
using namespace mct;
using namespace mct::corrections;

/// Returns the first element of the row of channels with that index; the axes
/// other than `axis` are counted row-major.
static int64_t getRowStart(ArrayRef<int64_t> shape, ArrayRef<int64_t> steps,
                           int64_t axis, int64_t row) {
  int64_t start = 0;
  for (auto other = int64_t(shape.size()); other-- > 0;) {
    if (other == axis)
      continue;
    start += row % shape[other] * steps[other];
    row /= shape[other];
  }
  return start;
}

/// Returns the two axes of an image other than the batch and the channels.
static std::pair<int64_t, int64_t> getSpace(int64_t channelAxis) {
  return channelAxis == 1 ? std::pair<int64_t, int64_t>(2, 3)
                          : std::pair<int64_t, int64_t>(1, 2);
}

std::optional<ProductLayout> ProductLayout::create(const KernelOp &op) {
  ProductLayout layout;
  layout.isConvolution = op.isConvolution();
  layout.isTransposed = op.isTransposed();
  layout.isDepthwise = op.isDepthwise();
  layout.inputAxis = op.inputAxis();
  layout.resultAxis = op.resultAxis();
  layout.inputChannels = op.numInputChannels();
  auto inputType = cast<RankedTensorType>(op.getInput().get().getType());
  auto resultType = cast<RankedTensorType>(op.getResult().getType());
  int64_t taps = 1;
  if (layout.isConvolution) {
    layout.window.assign(op.getWindow().begin(), op.getWindow().end());
    layout.strides.assign(op.getStrides().begin(), op.getStrides().end());
    layout.dilations.assign(op.getDilations().begin(), op.getDilations().end());
    bool isImage = inputType.getRank() == 4 && resultType.getRank() == 4 &&
                   layout.window.size() == 2 && layout.strides.size() == 2;
    auto knowsAxis = [](int64_t axis) { return axis == 1 || axis == 3; };
    if (!isImage || !knowsAxis(layout.inputAxis) ||
        !knowsAxis(layout.resultAxis))
      return std::nullopt;
    layout.dilations.resize(2, 1);
    auto [rows, columns] = getSpace(layout.resultAxis);
    if (resultType.isDynamicDim(rows) || resultType.isDynamicDim(columns))
      return std::nullopt;
    layout.height = resultType.getDimSize(rows);
    layout.width = resultType.getDimSize(columns);
    if (op.getPadding().size() == 4) {
      layout.top = op.getPadding()[0];
      layout.left = op.getPadding()[2];
    }
    taps = layout.window[0] * layout.window[1];
  } else if (layout.resultAxis != resultType.getRank() - 1 &&
             resultType.getRank() != inputType.getRank()) {
    return std::nullopt;
  }
  layout.numGroups = layout.isDepthwise ? layout.inputChannels : 1;
  layout.numOutputs = op.numOutputChannels() / layout.numGroups;
  layout.numColumns = layout.isDepthwise ? taps : taps * layout.inputChannels;

  ArrayRef<int64_t> shape = op.getKernelShape();
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  if (layout.channels() * layout.numColumns != elements)
    return std::nullopt;
  layout.findPlaces(op);
  return layout;
}

void ProductLayout::findPlaces(const KernelOp &op) {
  ArrayRef<int64_t> shape = op.getKernelShape();
  SmallVector<int64_t> steps =
      support::getStridesAlong(shape, op.getOutAxes(), numColumns);
  if (op.getInAxis() && !isDepthwise)
    steps[*op.getInAxis()] = 1;
  // The tap of an element is the row-major index over the axes that are neither
  // input nor output channels.
  SmallVector<int64_t> taps;
  for (int64_t axis : llvm::seq<int64_t>(shape.size()))
    if (!llvm::is_contained(op.getOutAxes(), axis) && op.getInAxis() != axis)
      taps.push_back(axis);
  SmallVector<int64_t> tapSteps =
      support::getStridesAlong(shape, taps, isDepthwise ? 1 : inputChannels);
  for (int64_t axis : taps)
    steps[axis] = tapSteps[axis];
  for (auto [size, own] : llvm::zip_equal(shape, steps))
    if (size != 1) {
      sizes.push_back(size);
      places.push_back(own);
    }
}

template <typename Visit> void ProductLayout::forEachPlace(Visit visit) const {
  int64_t count = sizes.empty() ? 1 : sizes.back();
  int64_t step = sizes.empty() ? 0 : places.back(), element = 0;
  support::forEachPosition<1>(ArrayRef(sizes).drop_back(sizes.empty() ? 0 : 1),
                              {places}, [&](auto at) {
                                for (int64_t i = 0; i != count; ++i)
                                  visit(element++, at[0] + i * step);
                              });
}

std::vector<float> ProductLayout::fromKernel(ArrayRef<float> kernel) const {
  std::vector<float> weights(channels() * numColumns);
  forEachPlace([&](int64_t element, int64_t place) {
    weights[place] = kernel[element];
  });
  return weights;
}

std::vector<float> ProductLayout::toKernel(ArrayRef<float> weights) const {
  std::vector<float> kernel(channels() * numColumns);
  forEachPlace([&](int64_t element, int64_t place) {
    kernel[element] = weights[place];
  });
  return kernel;
}

int64_t ProductLayout::getNumRows(ArrayRef<int64_t> resultShape) const {
  int64_t elements = 1;
  for (int64_t size : resultShape)
    elements *= size;
  return elements / channels();
}

void ProductLayout::gatherInput(const float *input, ArrayRef<int64_t> shape,
                                int64_t row, float *to) const {
  SmallVector<int64_t> steps = support::getRowMajorStrides(shape);
  int64_t channelStep = steps[inputAxis];
  auto copyChannels = [&](const float *from, int64_t step) {
    if (step == 1 && channelStep == 1) {
      if (from)
        std::copy_n(from, inputChannels, to);
      else
        std::fill_n(to, inputChannels, 0.0f);
      return;
    }
    for (int64_t channel = 0; channel != inputChannels; ++channel)
      to[channel * step] = from ? from[channel * channelStep] : 0.0f;
  };
  if (!isConvolution)
    return copyChannels(input + getRowStart(shape, steps, inputAxis, row), 1);
  int64_t x = row % width, y = row / width % height;
  const float *image = input + row / width / height * steps[0];
  auto [rows, columns] = getSpace(inputAxis);
  // Returns the position that a tap reads along one axis, or none if it reads
  // padding.
  auto find = [&](int64_t position, int64_t tap, int64_t axis, int64_t before,
                  int64_t size) -> std::optional<int64_t> {
    int64_t at = isTransposed ? position - before - tap
                              : position * strides[axis] +
                                    tap * dilations[axis] - before;
    if (isTransposed) {
      if (at % strides[axis] != 0)
        return std::nullopt;
      at /= strides[axis];
    }
    return at >= 0 && at < size ? std::optional(at) : std::nullopt;
  };
  int64_t taps = window[0] * window[1], tap = 0;
  float *first = to;
  for (int64_t ky = 0; ky != window[0]; ++ky) {
    std::optional<int64_t> iy = find(y, ky, 0, top, shape[rows]);
    for (int64_t kx = 0; kx != window[1]; ++kx, ++tap) {
      std::optional<int64_t> ix = find(x, kx, 1, left, shape[columns]);
      const float *from =
          iy && ix ? image + *iy * steps[rows] + *ix * steps[columns] : nullptr;
      to = isDepthwise ? first + tap : first + tap * inputChannels;
      copyChannels(from, isDepthwise ? taps : 1);
    }
  }
}

void ProductLayout::gatherResult(const float *result, ArrayRef<int64_t> shape,
                                 int64_t row, float *to) const {
  SmallVector<int64_t> steps = support::getRowMajorStrides(shape);
  const float *from = result + getRowStart(shape, steps, resultAxis, row);
  for (int64_t channel = 0; channel != channels(); ++channel)
    to[channel] = from[channel * steps[resultAxis]];
}
