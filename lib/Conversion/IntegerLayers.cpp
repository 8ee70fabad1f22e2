// SPDX-License-Identifier: Apache-2.0
//
// Integer forms of convolutions, and of matrix products with a constant kernel.
#include "IntegerModels.h"
#include "mct/Planning/IntegerLayer.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include <cmath>

using namespace mlir;
using namespace mct;
using quantization::Grid;

/// Returns why TOSA cannot compute a layer on i8, or none if it can.
static std::optional<IntegerReason> checkKernel(const IntegerLayer &layer) {
  for (const Grid &grid : layer.getKernelGrids()) {
    if (grid.zeroPoint != 0)
      return IntegerReason::KernelZeroPoints;
    if (grid.qmin < -128 || grid.qmax > 127)
      return IntegerReason::WideKernel;
  }
  return std::nullopt;
}

static IntegerReason getKernelReason(Reason reason) {
  if (reason == Reason::KernelNotQuantized)
    return IntegerReason::KernelNotQuantized;
  return reason == Reason::NotPerChannel ? IntegerReason::KernelAxes
                                         : IntegerReason::KernelLevels;
}

/// Returns the number of bits in which the kernel is stored: four if the target
/// allows it and no weight is -8, which TOSA's i4 excludes.
static unsigned chooseKernelBits(const KernelOp &layer,
                                 const IntegerLayer &integers,
                                 bool allowsInt4) {
  ArrayRef<int64_t> codes = integers.getKernelCodes();
  auto [smallest, largest] = std::minmax_element(codes.begin(), codes.end());
  if (!allowsInt4 || codes.empty() ||
      layer.getKernelPoint().getParametersAttr().getBits() > 4 ||
      *largest > 7 || *smallest < -8)
    return 8;
  if (*smallest >= -7)
    return 4;
  emitRecord(layer.getOperation(), "mct-lower-to-integer",
             Record(Decision::Declined, Reason::KernelStaysInt8));
  return 8;
}

/// Returns [1, N, K] x [1, K, M] as a convolution with a 1x1 kernel.
static Value multiplyMatrices(IntegerBuilder &b, const KernelOp &layer,
                              const StoredIntegers &input,
                              ArrayRef<int64_t> codes, unsigned bits,
                              Value bias, Value zero, Value weightZero) {
  ArrayRef<int64_t> from =
      cast<RankedTensorType>(layer.getInput().get().getType()).getShape();
  int64_t rows = from[0] * from[1], inner = from[2];
  int64_t outputs = layer.numOutputChannels();
  std::vector<int64_t> turned(codes.size());
  for (int64_t k = 0; k < inner; ++k)
    for (int64_t m = 0; m < outputs; ++m)
      turned[m * inner + k] = codes[k * outputs + m];
  Value flat = b.reshape(input.value, {1, rows, 1, inner});
  Value kernel = b.createConstant({outputs, 1, 1, inner}, bits, turned);
  Type sums = getElementTypeOrSelf(bias);
  return tosa::Conv2DOp::create(
      b, RankedTensorType::get({1, rows, 1, outputs}, sums), flat, kernel, bias,
      zero, weightZero, b.getDenseI64ArrayAttr({0, 0, 0, 0}),
      b.getDenseI64ArrayAttr({1, 1}), b.getDenseI64ArrayAttr({1, 1}),
      TypeAttr::get(sums));
}

IntegerOr<IntegerAccumulator> mct::accumulateLayer(IntegerContext &context,
                                                   const KernelOp &layer) {
  Operation *op = layer.getOperation();
  IntegerOr<StoredIntegers> input = context.getStored(layer.getInput().get());
  if (!input)
    return {IntegerReason::InputNotQuantized, op};
  if (!isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp,
           tosa::MatMulOp>(op))
    return {IntegerReason::NoForm, op};
  std::variant<IntegerLayer, Reason> read =
      IntegerLayer::get(layer, input->encoding.getGrid());
  if (Reason *reason = std::get_if<Reason>(&read))
    return {getKernelReason(*reason), op};
  const auto &integers = std::get<IntegerLayer>(read);
  if (std::optional<IntegerReason> reason = checkKernel(integers))
    return {*reason, op};
  std::optional<std::vector<float>> bias = layer.getBias();
  if (!bias)
    return {IntegerReason::BiasNotConstant, op};

  IntegerAccumulator result;
  result.isFullyConnected = isFullyConnected(layer);
  bool isWide = input->encoding.storageBits == 16;
  int64_t outputs = layer.numOutputChannels();
  std::vector<int64_t> biasCodes(outputs);
  double limit = isWide ? 0x1p47 : 0x1p31;
  for (int64_t channel = 0; channel < outputs; ++channel) {
    double code = integers.getBiasCode(channel, (*bias)[channel]);
    double sum = integers.getReach(channel) + std::abs(code);
    if (!(sum < limit))
      return {IntegerReason::NarrowAccumulator, op};
    biasCodes[channel] = int64_t(code);
    result.bound = std::max(result.bound, sum);
    result.scales.push_back(integers.getStep(channel));
  }
  if (llvm::all_equal(result.scales))
    result.scales.resize(1);

  IntegerBuilder &b = context.getBuilder();
  unsigned bits = chooseKernelBits(layer, integers,
                                   context.getOptions().allowsInt4 && !isWide);
  unsigned inputBits = input->encoding.storageBits, sumBits = isWide ? 48 : 32;
  Value zero = b.createConstant(1, inputBits, input->encoding.zeroPoint);
  Value weightZero = b.createConstant(1, bits, 0);
  Value biasValue = b.createConstant(outputs, sumBits, biasCodes);
  ArrayRef<int64_t> codes = integers.getKernelCodes();
  if (isa<tosa::MatMulOp>(op)) {
    result.value = multiplyMatrices(b, layer, *input, codes, bits, biasValue,
                                    zero, weightZero);
    result.shape = SmallVector<int64_t>(
        cast<RankedTensorType>(layer.getResult().getType()).getShape());
    return result;
  }
  // Clone the op with other types; its operands are input, kernel, bias and the
  // two zero points.
  Value kernel = b.createConstant(layer.getKernelShape(), bits, codes);
  Operation *copy = b.clone(*op);
  copy->setLoc(b.getLoc());
  copy->setOperands({input->value, kernel, biasValue, zero, weightZero});
  copy->setAttr("acc_type", TypeAttr::get(b.getIntegerType(sumBits)));
  copy->getResult(0).setType(b.getType(op->getResult(0), sumBits));
  result.value = copy->getResult(0);
  return result;
}
