// SPDX-License-Identifier: Apache-2.0
#include "ImportedRecord.h"
#include "mct/IR/ConstantEvaluator.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Quantization/Selection.h"
#include "mct/Transforms/ImportedPoints.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>
#include <limits>

namespace mct {
#define GEN_PASS_DEF_INSERTIMPORTEDPOINTSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

namespace {
/// A constant of the file and its record.
struct ImportedConstant {
  ImportedRecord record;
  tosa::ConstOp op;
};

/// A use of a constant, perhaps after ops that move its elements.
struct Reading {
  OpOperand *operand;
  ConstantTensor values;
  /// Channel of each element in the file; unused if there is one quantizer for
  /// all.
  ConstantTensor channels;
};

class Inserter {
public:
  Inserter(func::FuncOp function, const KernelOps &kernels)
      : function(function), kernels(kernels) {}

  LogicalResult run();

private:
  LogicalResult readRecords();
  LogicalResult matchResults();
  void replaceArguments();
  void removeSignature();
  void moveUp(tpc::QuantizeOp point);
  void findReadings(ImportedConstant &constant, SmallVector<Reading> &readings);
  LogicalResult place(const ImportedConstant &constant, const Reading &reading);
  void namePoints();
  StringRef getGenericName(OpOperand &operand) const;

  func::FuncOp function;
  const KernelOps &kernels;
  llvm::MapVector<unsigned, ImportedRecord> records;
  /// Index of each result by its key.
  llvm::StringMap<unsigned> results;
  SmallVector<tpc::QuantizeOp> points;
  SmallVector<ImportedConstant> constants;
};
} // namespace

tpc::SelectionAttr mct::describeImported(MLIRContext *context) {
  return tpc::SelectionAttr::get(context, tpc::ErrorMethod::Imported,
                                 /*norm=*/std::nullopt,
                                 /*percentile=*/std::nullopt, /*covers=*/{},
                                 /*error=*/{}, tpc::Certificate::None,
                                 /*bound=*/std::nullopt);
}

static tpc::QuantizeOp createPoint(OpBuilder &builder, Location loc,
                                   Value input, StringAttr weight,
                                   ArrayRef<int64_t> axes,
                                   tpc::QuantizerAttrInterface parameters) {
  auto point = tpc::QuantizeOp::create(
      builder, loc, input, builder.getStringAttr(""), weight,
      axes.empty() ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(axes));
  point.setQuantizer(parameters, describeImported(builder.getContext()));
  return point;
}

LogicalResult Inserter::readRecords() {
  for (unsigned i = 0; i != function.getNumArguments(); ++i) {
    Attribute attribute = function.getArgAttr(i, kImportedAttrName);
    if (!attribute)
      continue;
    BlockArgument argument = function.getArgument(i);
    auto emitAt = [&] { return emitError(argument.getLoc()); };
    FailureOr<ImportedRecord> record =
        readImportedRecord(attribute, argument.getType(), emitAt);
    if (failed(record))
      return failure();
    if (record->numInexact != 0)
      emitWarning(argument.getLoc())
          << record->numInexact << " of " << record->values.size()
          << " codes need more than the 24 bits of f32; the nearest numbers "
             "are taken";
    records[i] = std::move(*record);
  }
  return success();
}

/// Checks that every point has the result that it quantizes, and every such
/// result a point.
LogicalResult Inserter::matchResults() {
  for (unsigned i = 0; i != function.getNumResults(); ++i) {
    Attribute attribute = function.getResultAttr(i, kImportedAttrName);
    if (!attribute)
      continue;
    auto key = dyn_cast<StringAttr>(attribute);
    if (!key || !results.insert({key.getValue(), i}).second)
      return function.emitOpError("has the record ")
             << attribute << " at result " << i
             << ", not the key of a point of its own";
  }
  size_t numPoints = 0;
  for (auto &[number, record] : records) {
    if (!record.point)
      continue;
    ++numPoints;
    BlockArgument argument = function.getArgument(number);
    auto found = results.find(record.point.getValue());
    if (found == results.end())
      return emitError(argument.getLoc())
             << "'tpc.imported' names the point " << record.point
             << ", which no result is";
    Type type = function.getFunctionType().getResult(found->second);
    if (type != argument.getType())
      return emitError(argument.getLoc())
             << "is read as " << argument.getType()
             << ", but what the point quantizes is " << type;
  }
  if (numPoints != results.size())
    return function.emitOpError("has ")
           << results.size() << " results that are points, and " << numPoints
           << " arguments";
  return success();
}

void Inserter::replaceArguments() {
  Block &block = function.getBody().front();
  Operation *terminator = block.getTerminator();
  OpBuilder builder(function.getContext());
  for (auto &[number, record] : records) {
    BlockArgument argument = function.getArgument(number);
    if (record.point) {
      Value input =
          terminator->getOperand(results.lookup(record.point.getValue()));
      if (Operation *producer = input.getDefiningOp())
        builder.setInsertionPointAfter(producer);
      else
        builder.setInsertionPointToStart(&block);
      auto point =
          createPoint(builder, argument.getLoc(), input,
                      /*weight=*/StringAttr(), /*axes=*/{}, record.parameters);
      argument.replaceAllUsesWith(point.getOutput());
      points.push_back(point);
      continue;
    }
    builder.setInsertionPointToStart(&block);
    StringAttr name = getName(argument.getLoc());
    Value constant = createConstant(
        builder, argument.getLoc(), cast<RankedTensorType>(argument.getType()),
        record.values, name ? name.getValue() : "imported");
    argument.replaceAllUsesWith(constant);
    constants.push_back(
        {std::move(record), constant.getDefiningOp<tosa::ConstOp>()});
  }
}

void Inserter::removeSignature() {
  BitVector arguments(function.getNumArguments()),
      values(function.getNumResults());
  for (auto &[number, record] : records)
    arguments.set(number);
  for (const auto &result : results)
    values.set(result.second);
  Operation *terminator = function.getBody().front().getTerminator();
  terminator->eraseOperands(values);
  (void)function.eraseResults(values);
  (void)function.eraseArguments(arguments);
}

/// Moves a point before views of a value that it alone uses, since the source
/// model quantizes the value there.
void Inserter::moveUp(tpc::QuantizeOp point) {
  while (Operation *view = point.getInput().getDefiningOp()) {
    if (!isa<tosa::ReshapeOp, tosa::TransposeOp, tosa::IdentityOp>(view) ||
        !view->hasOneUse())
      return;
    Value source = view->getOperand(0), shown = view->getResult(0);
    if (tpc::getConstantOp(source))
      return;
    point.getOutput().replaceAllUsesWith(shown);
    point.getInputMutable().set(source);
    point.getOutput().setType(cast<RankedTensorType>(source.getType()));
    view->setOperand(0, point.getOutput());
    point->moveBefore(view);
  }
}

/// Returns true if the ops that compute a value show that it cannot be
/// negative.
static bool isNonNegative(Value value, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  // Chains of ops that keep the sign are short.
  if (!op || depth > 16)
    return false;
  auto areAll = [&](OperandRange operands) {
    return llvm::all_of(operands, [&](Value operand) {
      return isNonNegative(operand, depth + 1);
    });
  };
  if (auto point = dyn_cast<tpc::QuantizeOp>(op))
    return isNonNegative(point.getInput(), depth + 1) ||
           llvm::all_of(point.getParametersAttr().getGrids(),
                        [](const quantization::Grid &grid) {
                          return grid.qmin >= grid.zeroPoint;
                        });
  if (auto clamp = dyn_cast<tosa::ClampOp>(op)) {
    auto lowest = dyn_cast<FloatAttr>(clamp.getMinValAttr());
    return lowest && lowest.getValueAsDouble() >= 0;
  }
  if (isa<tosa::SigmoidOp, tosa::ExpOp, tosa::AbsOp>(op))
    return true;
  if (isa<tosa::MaximumOp>(op))
    return isNonNegative(op->getOperand(0), depth + 1) ||
           isNonNegative(op->getOperand(1), depth + 1);
  if (isa<tosa::ConcatOp>(op))
    return areAll(op->getOperands());
  if (isa<tosa::AddOp, tosa::MulOp>(op))
    return areAll(op->getOperands().take_front(2));
  if (isa<tosa::ReciprocalOp, tosa::ReduceSumOp, tosa::ReduceMaxOp>(op) ||
      getMovedOperand(op))
    return isNonNegative(op->getOperand(0), depth + 1);
  std::optional<ConstantFloats> constant = ConstantFloats::get(value);
  return constant &&
         llvm::all_of(constant->values(), [](float each) { return each >= 0; });
}

/// Restores a ReLU before a point with unsigned codes: tools that quantize a
/// network remove it, as the codes clip negative values. Without its points,
/// the network is then the one that was quantized.
static void restoreRelu(tpc::QuantizeOp point) {
  SmallVector<quantization::Grid> grids = point.getParametersAttr().getGrids();
  Value value = point.getInput();
  if (grids.empty() || grids.front().qmin < grids.front().zeroPoint ||
      !value.getDefiningOp() || isNonNegative(value))
    return;
  const quantization::Grid &grid = grids.front();
  double highest = grid.step * double(grid.qmax - grid.zeroPoint);
  float bound = std::abs(highest - 6) <= grid.step / 2
                    ? 6.0f
                    : std::numeric_limits<float>::max();
  OpBuilder builder(point);
  StringAttr name = getName(value.getLoc());
  Location loc = name ? Location(NameLoc::get(builder.getStringAttr(
                            Twine(name.getValue()) + kRestoredReluSuffix)))
                      : value.getLoc();
  auto clamp = tosa::ClampOp::create(builder, loc, value.getType(), value,
                                     builder.getF32FloatAttr(0),
                                     builder.getF32FloatAttr(bound));
  point.getInputMutable().set(clamp.getResult());
}

/// Follows a constant through ops that only move its elements.
void Inserter::findReadings(ImportedConstant &constant,
                            SmallVector<Reading> &readings) {
  Value start = constant.op.getResult();
  auto type = cast<RankedTensorType>(start.getType());
  ConstantEvaluator values, channels;
  std::vector<size_t> numbers =
      numberChannels(type.getShape(), constant.record.axes);
  channels.provide(
      start, ConstantTensor::create(
                 type, std::vector<float>(numbers.begin(), numbers.end())));
  SmallVector<Value> open = {start};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    std::optional<ConstantTensor> elements = values.evaluate(value),
                                  origins = channels.evaluate(value);
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      OpOperand *moved = getMovedOperand(user, [](Movement movement) {
        return movement == Movement::Permute || movement == Movement::Select;
      });
      if (moved == &use && values.evaluate(user->getResult(0)) &&
          channels.evaluate(user->getResult(0)))
        open.push_back(user->getResult(0));
      else
        readings.push_back({&use, *elements, *origins});
    }
  }
}

/// Returns the parameters of some of the channels, in this order, or null if
/// the quantizer cannot be taken apart.
static tpc::QuantizerAttrInterface
selectChannels(tpc::QuantizerAttrInterface parameters,
               ArrayRef<size_t> channels) {
  ArrayRef<double> thresholds = parameters.getThresholds();
  if (!thresholds.empty())
    return parameters.withThresholds(llvm::map_to_vector(
        channels, [&](size_t channel) { return thresholds[channel]; }));
  SmallVector<quantization::Grid> grids = parameters.getGrids();
  std::optional<quantization::Rounding> rounding = parameters.getRoundingMode();
  if (grids.empty() || !rounding)
    return nullptr;
  quantization::SelectionOptions options;
  options.bits = parameters.getBits();
  SmallVector<quantization::SelectedParameters> selected;
  for (size_t channel : channels) {
    quantization::SelectedParameters &each = selected.emplace_back();
    each.step = grids[channel].step;
    each.zeroPoint = grids[channel].zeroPoint - grids[channel].qmin;
  }
  tpc::QuantizerAttrInterface made =
      parameters.getQuantizationMethod().createQuantizer(selected, options);
  return made ? made.withRoundingMode(*rounding) : nullptr;
}

/// Returns the axes along which the channel numbers change.
static SmallVector<int64_t> findAxes(ArrayRef<int64_t> shape,
                                     ArrayRef<float> channels) {
  SmallVector<int64_t> axes;
  int64_t inner = channels.size();
  for (auto [axis, size] : llvm::enumerate(shape)) {
    inner /= size;
    for (size_t i = 0; i != channels.size(); ++i)
      if ((i / inner) % size != 0 && channels[i] != channels[i - inner]) {
        axes.push_back(axis);
        break;
      }
  }
  return axes;
}

/// Returns the channel in the file for each combination of indices along
/// `axes`.
static SmallVector<size_t> gatherNumbers(ArrayRef<int64_t> shape,
                                         ArrayRef<int64_t> axes,
                                         ArrayRef<float> channels) {
  size_t count = 1;
  for (int64_t axis : axes)
    count *= shape[axis];
  SmallVector<size_t> result(count);
  std::vector<size_t> places = numberChannels(shape, axes);
  for (auto [place, channel] : llvm::zip_equal(places, channels))
    result[place] = size_t(channel);
  return result;
}

StringRef Inserter::getGenericName(OpOperand &operand) const {
  tpc::OpInfoAttr info =
      kernels.getInfo(operand.getOwner()->getName().getStringRef());
  auto number = int64_t(operand.getOperandNumber());
  if (info && info.getKernel() == number)
    return tpc::kKernelWeight;
  if (info && info.getBias() == number)
    return tpc::kBiasWeight;
  return tpc::kPositionalWeight;
}

/// Inserts the constant and its point before an op that uses it.
LogicalResult Inserter::place(const ImportedConstant &constant,
                              const Reading &reading) {
  Operation *user = reading.operand->getOwner();
  OpBuilder builder(user);
  RankedTensorType type = reading.values.getType();
  Location loc = tosa::ConstOp(constant.op).getLoc();
  StringAttr name = getName(loc);
  Value value = tosa::ConstOp::create(
      builder, loc, type,
      reading.values.toAttribute(name ? name.getValue() : "imported"));
  if (!constant.record.parameters) {
    reading.operand->set(value);
    return success();
  }
  tpc::QuantizerAttrInterface parameters = constant.record.parameters;
  StringRef genericName = getGenericName(*reading.operand);
  SmallVector<int64_t> axes;
  if (parameters.getNumChannels() > 1) {
    std::vector<float> channels = reading.channels.decode<float>();
    if (channels.size() == 1)
      channels.resize(type.getNumElements(), channels.front());
    axes = findAxes(type.getShape(), channels);
    tpc::OpInfoAttr info = kernels.getInfo(user->getName().getStringRef());
    // A depthwise kernel has output channels along two axes.
    if (genericName == tpc::kKernelWeight && !axes.empty() &&
        llvm::all_of(axes, [&](int64_t axis) {
          return llvm::is_contained(info.getOutAxes(), axis);
        }))
      axes.assign(info.getOutAxes().begin(), info.getOutAxes().end());
    parameters = selectChannels(parameters,
                                gatherNumbers(type.getShape(), axes, channels));
    if (!parameters)
      return emitError(loc)
             << "has parameters for each channel that cannot be rearranged "
                "with the weights: "
             << constant.record.parameters;
  }
  auto point =
      createPoint(builder, loc, value, builder.getStringAttr(genericName), axes,
                  parameters);
  reading.operand->set(point.getOutput());
  points.push_back(point);
  return success();
}

/// Names activation points after the values that they quantize, and weights
/// after the layer that uses them.
void Inserter::namePoints() {
  MLIRContext *context = function.getContext();
  assignNames(function);
  llvm::StringSet<> taken;
  for (tpc::QuantizeOp point : points) {
    StringAttr name;
    if (point.isActivation()) {
      name = getName(tpc::lookThroughPoints(point.getInput()));
    } else {
      Operation *user = *point->getUsers().begin();
      std::optional<KernelOp> kernel = kernels.get(user);
      if (kernel && kernel->getKernelPoint() == point)
        name = getName(kernel->getResult());
      else
        name = getName(user->getLoc());
    }
    if (!name)
      name = getName(point.getLoc());
    std::string pointName = name ? name.str() : std::string("imported");
    for (unsigned number = 1;; ++number) {
      point.setPointNameAttr(StringAttr::get(context, pointName));
      if (taken.insert(point.getUniqueName()).second)
        break;
      pointName = ((name ? name.getValue() : StringRef("imported")) + "_" +
                   Twine(number))
                      .str();
    }
  }
}

LogicalResult Inserter::run() {
  if (failed(readRecords()) || failed(matchResults()))
    return failure();
  if (records.empty())
    return success();
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitOpError("has several blocks, in which points cannot be "
                                "put back");
  replaceArguments();
  removeSignature();
  Block &block = function.getBody().front();
  if (!sortTopologically(&block))
    return function.emitOpError("has points that depend on themselves");
  for (tpc::QuantizeOp point : points)
    moveUp(point);
  // Erase points that repeat the quantizer of another point, for example after
  // a reshape.
  llvm::erase_if(points, [](tpc::QuantizeOp point) {
    auto before = point.getInput().getDefiningOp<tpc::QuantizeOp>();
    if (!before || before.getParametersAttr() != point.getParametersAttr())
      return false;
    point.getOutput().replaceAllUsesWith(before.getOutput());
    point.erase();
    return true;
  });
  for (ImportedConstant &constant : constants) {
    SmallVector<Reading> readings;
    findReadings(constant, readings);
    for (const Reading &reading : readings)
      if (failed(place(constant, reading)))
        return failure();
  }
  for (tpc::QuantizeOp point : points)
    if (point.isActivation())
      restoreRelu(point);
  // Erase ops that moved constants and are no longer used.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op) && !isa<tpc::QuantizeOp>(op))
      op.erase();
  namePoints();
  return success();
}

namespace {
struct InsertImportedPointsPass
    : public WithOpModels<EntryFunctionPass<
          mct::impl::InsertImportedPointsPassBase<InsertImportedPointsPass>>> {
  using WithOpModels::WithOpModels;

  LogicalResult runOn(func::FuncOp entry) override {
    return Inserter(entry, getAnalysis<KernelOps>()).run();
  }
};
} // namespace
