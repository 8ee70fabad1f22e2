// SPDX-License-Identifier: Apache-2.0
//
// The ratios of scales that the kernels of LiteRT and of XNNPACK accept.
#include "TfliteGraph.h"
#include <limits>

namespace mct::tflite {

static constexpr double kAny = std::numeric_limits<double>::infinity();

namespace {
/// Step of the integers that an operator computes: the scale of an operand, the
/// larger one of two operands, or the product of both.
enum class Unit { Operand, Larger, Product };

/// Limits of an operator that were measured with LiteRT 2.3: beyond them it
/// ends the process, refuses the file, or wraps integers around. In addition,
/// what an operator computes has to fit in 32 bits in steps of its result.
struct ScaleLimits {
  llvm::StringLiteral code;
  Unit unit;
  /// Bounds of the unit in steps of a result of 8 and of 16 bits.
  double steps8 = kAny, steps16 = kAny;
  /// Smallest scale of an operand of 8 bits, and largest one of 16 bits.
  double smallest8 = 0, largest16 = kAny;
};
} // namespace

static constexpr ScaleLimits kLimits[] = {
    // Sums are packed into 16 bits, or multiplied by less than 1 after a shift.
    {"ADD", Unit::Larger, 0x1p6, 0x1p14},
    {"SUB", Unit::Larger, 0x1p19, 0x1p14},
    // XNNPACK leaves it to a kernel that packs products into 16 bits.
    {"MUL", Unit::Product, 0x1p8},
    {"BATCH_MATMUL", Unit::Product},
    // XNNPACK refuses the file.
    {"CONV_2D", Unit::Product, 0x1p8},
    {"DEPTHWISE_CONV_2D", Unit::Product, 0x1p8},
    {"FULLY_CONNECTED", Unit::Product, 0x1p8},
    {"TRANSPOSE_CONV", Unit::Product, 0x1p8},
    {"HARD_SWISH", Unit::Operand, 0x1p7},
    {"LEAKY_RELU", Unit::Operand},
    {"MEAN", Unit::Operand},
    {"PRELU", Unit::Operand},
    {"QUANTIZE", Unit::Operand},
    {"SOFTMAX", Unit::Operand, kAny, kAny, 0x1p-27, 0x1p2},
    {"LOGISTIC", Unit::Operand, kAny, kAny, 0, 0x1p2},
    {"TANH", Unit::Operand, kAny, kAny, 0, 0x1p2},
};

static const ScaleLimits *findLimits(llvm::StringRef code) {
  const auto *found = llvm::find_if(
      kLimits, [&](const ScaleLimits &each) { return each.code == code; });
  return found == std::end(kLimits) ? nullptr : found;
}

/// Returns the largest scale of each operand that has codes, in order.
static llvm::SmallVector<double> findScales(const Model &model,
                                            llvm::ArrayRef<int64_t> inputs) {
  llvm::SmallVector<double> scales;
  for (int64_t input : inputs)
    if (input >= 0 && !model.tensors[input].scales.empty())
      scales.push_back(*llvm::max_element(model.tensors[input].scales));
  return scales;
}

double GraphBuilder::findScaleBound(const Form &form,
                                    llvm::ArrayRef<int64_t> inputs,
                                    unsigned storageBits) const {
  const ScaleLimits *limits = findLimits(form.code);
  llvm::SmallVector<double> scales = findScales(model, inputs);
  if (!limits || scales.size() < (limits->unit == Unit::Operand ? 1 : 2))
    return 0;
  const double codes = storageBits == 16 ? 0x1p15 : 0x1p8;
  double unit = scales[0], reach = codes;
  if (limits->unit == Unit::Larger) {
    unit = std::max(scales[0], scales[1]);
  } else if (limits->unit == Unit::Product) {
    unit = scales[0] * scales[1];
    reach *= codes;
    if (form.code == "BATCH_MATMUL")
      reach *= double(model.tensors[inputs[0]].shape.back());
  }
  if (form.reach != 0)
    reach = form.reach;
  // Kernels shift integers of 32 bits by the exponent of the ratio plus one.
  return std::max(unit / (storageBits == 16 ? limits->steps16 : limits->steps8),
                  unit * reach / 0x1p30);
}

bool GraphBuilder::canScale(const Form &form, llvm::ArrayRef<int64_t> inputs,
                            const Encoding &result) {
  const ScaleLimits *limits = findLimits(form.code);
  if (!limits)
    return true;
  for (double scale : findScales(model, inputs))
    if (result.storageBits == 16 ? scale > limits->largest16
                                 : scale < limits->smallest8) {
      decline("has an operand with a scale that kernels of LiteRT cannot take");
      return false;
    }
  // A coarser grid in between would lose the steps of the finer operand.
  const double bound = findScaleBound(form, inputs, result.storageBits);
  if (limits->unit == Unit::Larger && result.scale <= bound &&
      !llvm::all_equal(findScales(model, inputs))) {
    decline("has a result with a far smaller scale than that of an operand");
    return false;
  }
  return true;
}

} // namespace mct::tflite
