// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and matrix products of integers.
#include "IntegerLowering.h"
#include "mct/Interfaces/OpInterfaces.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mct;
using quantization::Grid;

namespace {
/// A kernel as integers around zero.
struct KernelCodes {
  std::vector<int64_t> values;
  /// One, or one for each output channel.
  std::vector<double> scales;
  int64_t smallest = 0, largest = 0;
};
} // namespace

/// Codes of the kernel; an error text for one that has none.
static std::variant<KernelCodes, std::string> getCodes(const KernelOp &layer) {
  tpc::QuantizeOp point = layer.getKernelPoint();
  if (!point || !point.getParametersAttr())
    return "has a kernel that is not quantized";
  tpc::QuantizerAttrInterface quantizer = point.getParametersAttr();
  SmallVector<Grid> grids = getKernelGrids(quantizer);
  KernelCodes codes;
  if (grids.empty())
    return "has a kernel whose levels are not 8-bit integers";
  // An axis of one position makes no difference.
  auto getLong = [&](ArrayRef<int64_t> axes) {
    SmallVector<int64_t> result(axes);
    llvm::erase_if(result, [&](int64_t axis) {
      return layer.getKernelShape()[axis] == 1;
    });
    return result;
  };
  if (grids.size() > 1 &&
      getLong(point.getChannelAxes()) != getLong(layer.getOutAxes()))
    return "has a kernel with scales along other axes than its output "
           "channels";
  for (const Grid &grid : grids) {
    if (grid.zeroPoint != 0)
      return "has a kernel with zero points";
    if (grid.qmin < -128 || grid.qmax > 127)
      return "has a kernel with levels beyond 8 signed bits";
    codes.scales.push_back(double(float(grid.step)));
  }
  ConstantFloats kernel = layer.getKernel();
  std::vector<float> levels(kernel.values().size());
  quantizer.fakeQuantize(kernel.shape(), point.getChannelAxes(),
                         kernel.values().data(), levels.data());
  codes.values.reserve(levels.size());
  for (auto [i, level] : llvm::enumerate(levels)) {
    double scale = codes.scales.size() == 1
                       ? codes.scales.front()
                       : codes.scales[layer.outChannelOf(int64_t(i))];
    codes.values.push_back(std::llround(double(level) / scale));
    codes.smallest = std::min(codes.smallest, codes.values.back());
    codes.largest = std::max(codes.largest, codes.values.back());
  }
  return codes;
}

std::optional<IntegerLowering::Accumulator>
IntegerLowering::accumulateLayer(const KernelOp &layer) {
  Operation *op = layer.getOperation();
  std::optional<Stored> input = getStored(layer.getInput().get());
  if (!input)
    return failed(op, "reads an input that is not quantized");
  if (!isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp,
           tosa::MatMulOp>(op))
    return failed(op, kNoForm);
  std::variant<KernelCodes, std::string> read = getCodes(layer);
  if (std::string *text = std::get_if<std::string>(&read))
    return failed(op, *text);
  auto &codes = std::get<KernelCodes>(read);
  std::optional<std::vector<float>> bias = layer.getBias();
  if (!bias)
    return failed(op, "has a bias that is not one constant per channel");
  bool isWide = input->encoding.storageBits == 16;
  int64_t numOutputs = layer.numOutputChannels();

  // Scales, biases and the largest sum.
  Accumulator result;
  std::vector<double> sums(numOutputs, 0);
  double reach = std::max(
      std::abs(double(input->encoding.low) - double(input->encoding.zeroPoint)),
      std::abs(double(input->encoding.high) -
               double(input->encoding.zeroPoint)));
  for (auto [i, code] : llvm::enumerate(codes.values))
    sums[layer.outChannelOf(int64_t(i))] += std::abs(double(code)) * reach;
  for (double scale : codes.scales)
    result.scales.push_back(scale * input->encoding.scale);
  std::vector<int64_t> biasCodes(numOutputs);
  double limit = isWide ? 0x1p47 : 0x1p31;
  for (int64_t channel = 0; channel < numOutputs; ++channel) {
    double scale = result.scales.size() == 1 ? result.scales.front()
                                             : result.scales[channel];
    double exact = std::nearbyint(double((*bias)[channel]) / scale);
    sums[channel] += std::abs(exact);
    if (!(sums[channel] < limit))
      return failed(op, "has sums that do not fit into its accumulator");
    biasCodes[channel] = int64_t(exact);
    result.bound = std::max(result.bound, sums[channel]);
  }
  if (llvm::all_equal(result.scales))
    result.scales.resize(1);

  // Four bits where the target has them; -8 is no weight of TOSA's i4.
  unsigned bits = 8;
  if (options.allowsInt4 && !isWide &&
      layer.getKernelPoint().getParametersAttr().getBits() <= 4 &&
      codes.largest <= 7 && codes.smallest >= -8) {
    if (codes.smallest >= -7)
      bits = 4;
    else
      emitRecord(op, "mct-lower-to-integer",
                 Record(Decision::Declined, Reason::KernelStaysInt8));
  }
  unsigned inputBits = input->encoding.storageBits, sumBits = isWide ? 48 : 32;
  Value zero = createConstant(1, inputBits, input->encoding.zeroPoint);
  Value weightZero = createConstant(1, bits, 0);
  auto accumulatorType = builder.getIntegerType(sumBits);
  Value biasValue = createConstant(numOutputs, sumBits, biasCodes);

  if (auto matMul = dyn_cast<tosa::MatMulOp>(op)) {
    // [1, N, K] x [1, K, M] as a convolution of a kernel of one position.
    ArrayRef<int64_t> from =
        cast<RankedTensorType>(layer.getInput().get().getType()).getShape();
    int64_t rows = from[0] * from[1], inner = from[2];
    std::vector<int64_t> turned(codes.values.size());
    for (int64_t k = 0; k < inner; ++k)
      for (int64_t m = 0; m < numOutputs; ++m)
        turned[m * inner + k] = codes.values[k * numOutputs + m];
    Value flat = reshape(input->value, {1, rows, 1, inner});
    Value kernel = createConstant({numOutputs, 1, 1, inner}, bits, turned);
    auto type =
        RankedTensorType::get({1, rows, 1, numOutputs}, accumulatorType);
    result.value = tosa::Conv2DOp::create(
        builder, loc, type, flat, kernel, biasValue, zero, weightZero,
        builder.getDenseI64ArrayAttr({0, 0, 0, 0}),
        builder.getDenseI64ArrayAttr({1, 1}),
        builder.getDenseI64ArrayAttr({1, 1}), TypeAttr::get(accumulatorType));
    result.shape = SmallVector<int64_t>(
        cast<RankedTensorType>(layer.getResult().getType()).getShape());
    return result;
  }
  // The op itself on other types. Its operands: input, kernel, bias and the two
  // zero points.
  Value kernel = createConstant(layer.getKernelShape(), bits, codes.values);
  Operation *copy = builder.clone(*op);
  copy->setLoc(loc);
  copy->setOperands({input->value, kernel, biasValue, zero, weightZero});
  copy->setAttr("acc_type", TypeAttr::get(accumulatorType));
  copy->getResult(0).setType(getType(op->getResult(0), sumBits));
  result.value = copy->getResult(0);
  return result;
}

std::optional<IntegerLowering::Accumulator>
IntegerLowering::accumulateMatMul(tosa::MatMulOp op) {
  std::optional<Stored> a = getStored(op.getA()), b = getStored(op.getB());
  if (!a || !b)
    return failed(op, "reads an input that is not quantized");
  if (a->encoding.storageBits != 8 || b->encoding.storageBits != 8)
    return failed(op, "multiplies values of more than 8 bits");
  Accumulator result;
  auto type = cast<RankedTensorType>(op.getA().getType());
  result.bound = a->encoding.getReach() * b->encoding.getReach() *
                 double(type.getDimSize(2));
  if (!(result.bound < 0x1p31))
    return failed(op, "has sums that do not fit into its accumulator");
  result.scales = {a->encoding.scale * b->encoding.scale};
  result.value = tosa::MatMulOp::create(
      builder, loc, getType(op.getResult(), 32), a->value, b->value,
      createConstant(1, 8, a->encoding.zeroPoint),
      createConstant(1, 8, b->encoding.zeroPoint));
  return result;
}
