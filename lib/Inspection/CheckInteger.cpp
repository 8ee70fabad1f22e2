// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/ConstantTensor.h"
#include "mct/IR/QuantizedValues.h"
#include "mct/IR/Records.h"
#include "mct/IR/Shapes.h"
#include "mct/Inspection/Passes.h"
#include "mct/IntegerRanges/IntegerRanges.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/Device.h"
#include "mct/Support/Troubleshooting.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

namespace mct {
#define GEN_PASS_DEF_CHECKINTEGERPASS
#include "mct/Inspection/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

// Integers below this bound, and their sums, are exact in f32.
static constexpr int64_t kExactInFloat = int64_t(1) << 24;
// `tosa-validate` of LLVM 22 treats the number of elements of a shape operand
// as its rank.
static constexpr int64_t kMaxShapeNumbers = 6;
// Most ops that are visited between an accumulator and a value that has a
// record.
static constexpr unsigned kMaxSearch = 64;

static bool isFloat(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}
static bool isDynamic(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

/// Returns the numbers of a constant (a single one if all are equal), or none
/// if the value is not constant.
static std::optional<SmallVector<int64_t>> readNumbers(Value value) {
  SmallVector<int64_t> numbers;
  if (std::optional<ConstantTensor> tensor = ConstantTensor::get(value)) {
    for (int64_t number : tensor->decode<int64_t>())
      numbers.push_back(number);
    return numbers;
  }
  DenseIntElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  if (constant.isSplat()) {
    numbers.push_back(constant.getSplatValue<APInt>().getSExtValue());
    return numbers;
  }
  for (const APInt &number : constant.getValues<APInt>())
    numbers.push_back(number.getSExtValue());
  return numbers;
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

static LogicalResult checkShape(Operation *op, Value shape) {
  std::optional<SmallVector<int64_t>> numbers = readNumbers(shape);
  if (!numbers)
    return success();
  for (auto [i, number] : llvm::enumerate(*numbers))
    if (number < 0) {
      InFlightDiagnostic diagnostic = op->emitOpError("has ")
                                      << number << " as number " << i
                                      << " of a shape operand";
      diagnostic.attachNote(shape.getLoc())
          << "write the size that it stands for: its result is "
          << op->getResult(0).getType();
      return diagnostic;
    }
  return success();
}

static LogicalResult checkPad(tosa::PadOp op) {
  int64_t rank = cast<tosa::shapeType>(op.getPadding().getType()).getRank();
  if (rank <= kMaxShapeNumbers)
    return success();
  InFlightDiagnostic diagnostic = op.emitOpError("pads a tensor of ")
                                  << rank / 2
                                  << " axes, which tosa-validate of LLVM 22 "
                                     "refuses at level 8k";
  diagnostic.attachNote() << "let the convolution or pool behind it pad, or "
                             "write several pads of tensors with 3 axes";
  return diagnostic;
}

static LogicalResult checkResize(tosa::ResizeOp op) {
  if (op.getMode() != tosa::ResizeMode::BILINEAR || isFloat(op.getType()))
    return success();
  std::optional<SmallVector<int64_t>> offset = readNumbers(op.getOffset());
  if (!offset)
    return success();
  for (auto [i, number] : llvm::enumerate(*offset))
    if (number < 0) {
      InFlightDiagnostic diagnostic =
          op.emitOpError("interpolates integers from the negative offset ")
          << number << " on along " << (i == 0 ? "y" : "x")
          << ", which executors compute differently";
      diagnostic.attachNote()
          << "repeat the first " << (i == 0 ? "row" : "column")
          << " of its operand (slice and concat) and add the numerator of "
             "its scale to the offset";
      return diagnostic;
    }
  return success();
}

static LogicalResult checkRescale(tosa::RescaleOp op) {
  bool isSound = true;
  if (op.getRoundingMode() == tosa::RoundingMode::INEXACT_ROUND) {
    InFlightDiagnostic diagnostic =
        op.emitOpError("rounds by INEXACT_ROUND, which compilers refuse or "
                       "take for another mode");
    diagnostic.attachNote() << "write SINGLE_ROUND";
    isSound = false;
  }
  std::array<std::pair<const char *, Value>, 4> operands = {
      {{"multiplier", op.getMultiplier()},
       {"shift", op.getShift()},
       {"input_zp", op.getInputZp()},
       {"output_zp", op.getOutputZp()}}};
  for (auto [name, operand] : operands) {
    std::optional<SmallVector<int64_t>> numbers = readNumbers(operand);
    if (!numbers) {
      InFlightDiagnostic diagnostic = op.emitOpError("reads a ")
                                      << name << " that is not constant";
      diagnostic.attachNote(operand.getLoc())
          << "fold it into a tosa.const: scales that are computed need the "
             "extension 'dynamic'";
      isSound = false;
      continue;
    }
    for (auto [i, number] : llvm::enumerate(*numbers)) {
      if (operand == op.getMultiplier() && number < 0) {
        InFlightDiagnostic diagnostic =
            op.emitOpError("has the negative multiplier ")
            << number << " (number " << i << ")";
        diagnostic.attachNote()
            << "negate its operand, or its weights and bias";
        isSound = false;
        break;
      }
      if (operand == op.getShift() && (number < 2 || number > 62)) {
        InFlightDiagnostic diagnostic = op.emitOpError("has the shift ")
                                        << number << " (number " << i
                                        << "), outside of 2 to 62";
        diagnostic.attachNote()
            << (number < 2 ? "double the multiplier for each bit more"
                           : "halve the multiplier for each bit less, or "
                             "write 0");
        isSound = false;
        break;
      }
    }
  }
  return success(isSound);
}

/// The executors store 4-bit integers from -7 to 7.
static LogicalResult checkConstant(Operation *op) {
  Type type = op->getResult(0).getType();
  if (!getElementTypeOrSelf(type).isInteger(4))
    return success();
  std::optional<ConstantTensor> tensor = ConstantTensor::get(op->getResult(0));
  if (!tensor)
    return success();
  for (auto [i, byte] : llvm::enumerate(tensor->getBytes()))
    if (byte == -8) {
      InFlightDiagnostic diagnostic = op->emitOpError("holds -8 (element ")
                                      << i << ") in " << type
                                      << ", which stops executors";
      diagnostic.attachNote()
          << "quantize to -7 .. 7, or keep the tensor in i8";
      return diagnostic;
    }
  return success();
}

static LogicalResult checkOp(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([](tosa::ReshapeOp reshape) {
        return checkShape(reshape, reshape.getShape());
      })
      .Case([](tosa::TileOp tile) {
        return checkShape(tile, tile.getMultiples());
      })
      .Case([](tosa::SliceOp slice) {
        bool isSound = succeeded(checkShape(slice, slice.getStart()));
        return success(succeeded(checkShape(slice, slice.getSize())) &&
                       isSound);
      })
      .Case([](tosa::PadOp pad) {
        bool isSound = succeeded(checkShape(pad, pad.getPadding()));
        return success(succeeded(checkPad(pad)) && isSound);
      })
      .Case([](tosa::ResizeOp resize) { return checkResize(resize); })
      .Case([](tosa::RescaleOp rescale) { return checkRescale(rescale); })
      .Case([](tosa::ConstOp constant) { return checkConstant(constant); })
      .Default([](Operation *) { return success(); });
}

/// Reports unknown sizes at the op that introduces them.
static LogicalResult checkSizes(Operation *op) {
  if (auto function = dyn_cast<func::FuncOp>(op)) {
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
      if (isDynamic(type)) {
        InFlightDiagnostic diagnostic = function.emitOpError("has argument ")
                                        << i << " of dynamic shape, " << type;
        diagnostic.attachNote()
            << "set the batch, by mct-set-batch=size=1 for example";
        return diagnostic;
      }
    return success();
  }
  if (llvm::any_of(op->getOperandTypes(), isDynamic) ||
      llvm::none_of(op->getResultTypes(), isDynamic))
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError("makes a tensor of dynamic shape, ")
      << *llvm::find_if(op->getResultTypes(), isDynamic)
      << ", of operands with static ones";
  diagnostic.attachNote() << "infer its size, by tosa-infer-shapes";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

static void report(const RangeViolation &violation) {
  using Kind = RangeViolation::Kind;
  Operation *op = violation.op;
  Interval found = violation.found, allowed = violation.allowed;
  Type element = op->getNumResults() == 1
                     ? getElementTypeOrSelf(op->getResult(0).getType())
                     : Type();
  std::string where;
  if (violation.channel)
    where = llvm::formatv(" (channel {0})", *violation.channel);
  InFlightDiagnostic diagnostic = op->emitOpError("may ");
  switch (violation.kind) {
  case Kind::RescaleInput:
    diagnostic << "scale values from " << found.low << " to " << found.high
               << where << "; its shift is defined for those from "
               << allowed.low << " to " << allowed.high;
    diagnostic.attachNote() << "raise shift and multiplier, which may have up "
                               "to 31 bits, or limit its operand";
    return;
  case Kind::Result: {
    bool isSum = isa<tosa::Conv2DOp, tosa::Conv3DOp, tosa::DepthwiseConv2DOp,
                     tosa::TransposeConv2DOp, tosa::MatMulOp, tosa::AvgPool2dOp,
                     tosa::ReduceSumOp>(op);
    bool inAccumulator = isa<tosa::AvgPool2dOp, tosa::RescaleOp>(op);
    diagnostic << (isSum ? "have sums from " : "have results from ")
               << found.low << " to " << found.high << where << ", which "
               << (inAccumulator ? Type(IntegerType::get(op->getContext(), 32))
                                 : element)
               << " does not hold";
    diagnostic.attachNote()
        << (isSum ? "give its input or its weights fewer bits, or sum in "
                    "several steps with a rescale behind each"
                  : "let it read values of a coarser scale, or a smaller "
                    "range")
        << support::kTroubleshooting << "integers-may-overflow";
    return;
  }
  case Kind::Divisor:
    diagnostic << "divide by zero: its divisors are from " << found.low
               << " to " << found.high;
    diagnostic.attachNote()
        << "keep the divisor away from zero, by a maximum for example";
    return;
  case Kind::ShiftAmount:
    diagnostic << "shift by amounts from " << found.low << " to " << found.high
               << ", outside of " << allowed.low << " to " << allowed.high;
    diagnostic.attachNote() << "clamp the amount";
    return;
  case Kind::Cast:
    diagnostic << "wrap: " << element << " does not hold values from "
               << found.low << " to " << found.high << where;
    diagnostic.attachNote()
        << "use tosa.rescale, which saturates: multiplier 2^30, shift 30";
    return;
  }
}

/// Returns half a step of the values to which the accumulator is rounded.
static int64_t halfStep(Operation *op, size_t channel) {
  int64_t most = 0;
  for (Operation *user : op->getResult(0).getUsers()) {
    auto rescale = dyn_cast<tosa::RescaleOp>(user);
    if (!rescale)
      continue;
    std::optional<SmallVector<int64_t>> multipliers = readNumbers(
                                            rescale.getMultiplier()),
                                        shifts =
                                            readNumbers(rescale.getShift());
    if (!multipliers || !shifts || multipliers->empty() || shifts->empty())
      continue;
    int64_t multiplier =
                (*multipliers)[channel < multipliers->size() ? channel : 0],
            shift = (*shifts)[channel < shifts->size() ? channel : 0];
    if (multiplier > 0 && shift >= 2 && shift <= 62)
      most = std::max(
          most, llvm::divideCeilSigned(int64_t(1) << (shift - 1), multiplier));
  }
  return most;
}

namespace {
/// States whether the steps of the simulation are powers of two, so that f32
/// multiplies and adds their multiples without rounding.
enum class Steps { PowersOfTwo, Others, Unknown };

/// Finds the steps of the values of an integer network, as far as they are
/// recorded.
class StepFinder {
public:
  explicit StepFinder(func::FuncOp function) {
    // Other passes report records that cannot be read.
    ScopedDiagnosticHandler silence(function.getContext(),
                                    [](Diagnostic &) { return success(); });
    FailureOr<std::vector<RecordedValue>> found = findRecordedValues(function);
    if (succeeded(found))
      for (const RecordedValue &value : *found)
        steps.try_emplace(value.value, value.record.scale);
  }

  Steps find(Operation *accumulator) const;

private:
  /// Return the step of the accumulator's input, perhaps before it was moved or
  /// rescaled, and the step after the accumulator.
  std::optional<double> before(Value value) const;
  std::optional<double> after(Value value) const;

  DenseMap<Value, double> steps;
};
} // namespace

/// Returns the factors of a rescale, one for each channel, or none if they are
/// not constant.
static std::optional<SmallVector<double>> readFactors(tosa::RescaleOp op) {
  std::optional<SmallVector<int64_t>> multipliers =
                                          readNumbers(op.getMultiplier()),
                                      shifts = readNumbers(op.getShift());
  if (!multipliers || !shifts || multipliers->empty() || shifts->empty())
    return std::nullopt;
  SmallVector<double> factors;
  for (size_t i = 0; i != std::max(multipliers->size(), shifts->size()); ++i) {
    int64_t multiplier = (*multipliers)[i < multipliers->size() ? i : 0],
            shift = (*shifts)[i < shifts->size() ? i : 0];
    factors.push_back(std::ldexp(double(multiplier), -int(shift)));
  }
  return factors;
}

std::optional<double> StepFinder::before(Value value) const {
  // Pass rescales with a single factor on the way.
  double factor = 1;
  for (unsigned i = 0; i != kMaxSearch; ++i) {
    if (auto found = steps.find(value); found != steps.end())
      return found->second / factor;
    Operation *op = value.getDefiningOp();
    if (!op)
      return std::nullopt;
    if (auto rescale = dyn_cast<tosa::RescaleOp>(op)) {
      std::optional<SmallVector<double>> factors = readFactors(rescale);
      if (!factors || !llvm::all_equal(*factors))
        return std::nullopt;
      factor *= factors->front();
      value = rescale.getInput();
      continue;
    }
    OpOperand *moved = getMovedOperand(op);
    if (!moved)
      return std::nullopt;
    value = moved->get();
  }
  return std::nullopt;
}

std::optional<double> StepFinder::after(Value value) const {
  for (unsigned i = 0; i != kMaxSearch; ++i) {
    if (auto found = steps.find(value); found != steps.end())
      return found->second;
    if (!value.hasOneUse())
      return std::nullopt;
    Operation *user = *value.user_begin();
    OpOperand *moved = isa<tosa::ClampOp>(user) ? &user->getOpOperand(0)
                                                : getMovedOperand(user);
    if (!moved || moved->get() != value)
      return std::nullopt;
    value = user->getResult(0);
  }
  return std::nullopt;
}

Steps StepFinder::find(Operation *accumulator) const {
  // Multiply the steps of the operands.
  double step = 1;
  bool hasConstant = false;
  unsigned numFactors = isa<tosa::ReduceSumOp>(accumulator) ? 1 : 2;
  for (Value operand : accumulator->getOperands().take_front(numFactors)) {
    if (readNumbers(operand)) {
      hasConstant = true;
      continue;
    }
    std::optional<double> known = before(operand);
    if (!known)
      return Steps::Unknown;
    if (!quantization::isPowerOfTwo(*known))
      return Steps::Others;
    step *= *known;
  }
  if (!hasConstant)
    return Steps::PowersOfTwo;
  // The rescale after it compensates for the step of the constant.
  Value value = accumulator->getResult(0);
  tosa::RescaleOp rescale;
  for (unsigned i = 0; !rescale && i != kMaxSearch; ++i) {
    if (!value.hasOneUse())
      return Steps::Unknown;
    Operation *user = *value.user_begin();
    rescale = dyn_cast<tosa::RescaleOp>(user);
    // Clamps do not change the steps.
    if (!rescale && !isa<tosa::MaximumOp, tosa::MinimumOp>(user) &&
        !getMovedOperand(user))
      return Steps::Unknown;
    value = user->getResult(0);
  }
  std::optional<SmallVector<double>> factors =
      rescale ? readFactors(rescale) : std::nullopt;
  std::optional<double> result = rescale ? after(value) : std::nullopt;
  if (!factors || !result)
    return Steps::Unknown;
  for (double factor : *factors) {
    // A 31-bit multiplier is a rounded quotient.
    double constant = factor * *result / step,
           power = std::exp2(std::round(std::log2(constant)));
    if (!(std::abs(constant - power) <= 0x1p-28 * power)) {
      // A 15-bit multiplier is too coarse for a verdict, and a sum with equal
      // weights may be part of a mean.
      std::optional<SmallVector<int64_t>> weights =
          readNumbers(accumulator->getOperand(1));
      bool isMean = weights && llvm::all_equal(*weights);
      return rescale.getScale32() && !isMean ? Steps::Others : Steps::Unknown;
    }
  }
  return Steps::PowersOfTwo;
}

static void reportExactness(const Accumulator &accumulator,
                            const StepFinder &finder, StringRef pass) {
  int64_t worst = 0;
  size_t worstChannel = 0;
  for (auto [channel, magnitude] : llvm::enumerate(accumulator.magnitudes)) {
    int64_t bound = magnitude;
    if (llvm::AddOverflow(bound, halfStep(accumulator.op, channel), bound))
      bound = std::numeric_limits<int64_t>::max();
    if (bound > worst) {
      worst = bound;
      worstChannel = channel;
    }
  }
  auto report = [&](Reason reason, StringRef prefix, StringRef suffix) {
    Record record(Decision::Noted, reason);
    record << prefix << named("magnitude", worst) << suffix;
    record.add(named("channel", int64_t(worstChannel)));
    emitRecord(accumulator.op, pass, record);
  };
  if (worst >= kExactInFloat)
    return report(Reason::NotExactInFloat,
                  "a simulation in f32 may round its sums, use f64: they may "
                  "reach ",
                  " of 16777216");
  switch (finder.find(accumulator.op)) {
  case Steps::PowersOfTwo:
    return report(Reason::ExactInFloat,
                  "a simulation in f32 computes its sums exactly: they stay "
                  "within ",
                  " of 16777216");
  case Steps::Others:
    return report(
        Reason::NotExactInFloat,
        "a simulation in f32 may round its sums, as their steps are not "
        "powers of two; codes may be one off; they stay within ",
        " of 16777216");
  case Steps::Unknown:
    return report(Reason::ExactInFloat,
                  "a simulation in f32 computes its sums exactly if all its "
                  "steps are powers of two: they stay within ",
                  " of 16777216");
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Reports what prevents a module from being serialized.
static LogicalResult checkModule(ModuleOp module) {
  bool isSound = true;
  for (NamedAttribute attribute : module->getAttrs())
    if (auto environment = dyn_cast<tosa::TargetEnvAttr>(attribute.getValue()))
      if (environment.getExtensions().empty()) {
        InFlightDiagnostic diagnostic =
            module.emitError("has a 'tosa.target_env' without extensions, "
                             "which no parser reads back");
        diagnostic.attachNote() << "remove the attribute before the module is "
                                   "written; attach it where it is validated";
        isSound = false;
      }
  size_t functions = 0;
  for (Operation &op : module.getOps()) {
    if (!isa<func::FuncOp>(op) || functions++ == 0)
      continue;
    InFlightDiagnostic diagnostic =
        op.emitOpError("is one more function; a network of TOSA is exactly "
                       "one");
    diagnostic.attachNote() << "inline it, or write it to another file";
    isSound = false;
  }
  module.walk([&](Operation *op) {
    if (op == module || isa<func::FuncOp, func::ReturnOp>(op) ||
        isa_and_nonnull<tosa::TosaDialect>(op->getDialect()))
      return;
    InFlightDiagnostic diagnostic = op->emitOpError(
        "is not an op of TOSA, and tools for TOSA do not read it");
    diagnostic.attachNote() << "lower it, or remove it from the file";
    isSound = false;
  });
  return success(isSound);
}

namespace {
struct CheckIntegerPass
    : public mct::impl::CheckIntegerPassBase<CheckIntegerPass> {
  using CheckIntegerPassBase::CheckIntegerPassBase;

  void runOnOperation() override {
    // Checks that compute with sizes rely on this.
    if (failed(verifyShapes(getOperation())))
      return signalPassFailure();
    FailureOr<Device> runsOn = Device::find(device, getOperation());
    if (failed(runsOn))
      return signalPassFailure();
    bool isSound = succeeded(checkModule(getOperation()));
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (failed(checkSizes(op)))
        isSound = false;
      if (failed(checkOp(op)))
        isSound = false;
      if (failed(runsOn->verify(op))) {
        isSound = false;
      } else if (remarks && computesFloat(op) &&
                 isa_and_nonnull<tosa::TosaDialect>(op->getDialect())) {
        emitRecord(op, getArgument(),
                   Record(Decision::Noted, Reason::ComputesFloat));
      }
    });
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      IntegerRanges ranges(function);
      for (const RangeViolation &violation : ranges.getViolations()) {
        report(violation);
        isSound = false;
      }
      if (!simulation)
        continue;
      StepFinder finder(function);
      for (const Accumulator &accumulator : ranges.getAccumulators())
        reportExactness(accumulator, finder, getArgument());
    }
    if (!isSound)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
