// SPDX-License-Identifier: Apache-2.0
#include "ChannelAffine.h"
#include "ChannelSizes.h"
#include "ScaledRegion.h"
#include "ScalingPath.h"
#include "mct/IR/Records.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Transforms/ImportedPoints.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

namespace mct {
#define GEN_PASS_DEF_RESCALEPARTSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// Three of eight bits, as in `mct-split-shared-grids`.
static constexpr double kPartRangeFactor = 8;

/// Most values after a concatenation that are visited.
static constexpr size_t kMaxUserValues = 1024;

/// Channel that belongs to no part: it is filled in, or comes from another
/// tensor.
static constexpr int64_t kNoPart = -1;

namespace {
/// An operand of a concatenation.
struct Part {
  explicit Part(Value value)
      : value(value),
        channels(cast<RankedTensorType>(value.getType()).getShape().back()) {}

  Value value;
  int64_t channels;
  double magnitude = 0;
  /// Values that have to be scaled together with it; none if one of them cannot
  /// be scaled.
  std::optional<ScaledRegion> region;
  /// Earlier part whose region contains it, so that both take the same factor.
  std::optional<size_t> leader;
  /// Exponent of the factor.
  int64_t exponent = 0;
};

/// A concatenation along the last axis, and the point that quantizes it.
struct Joined {
  tpc::QuantizeOp point;
  tosa::ConcatOp concat;
  std::vector<Part> parts;

  /// Returns the smallest and the largest nonzero magnitude of the parts after
  /// scaling, or zeros if all are zero.
  std::pair<double, double> getExtremes() const;
};

/// The layers and products with constants that use the concatenated value, and
/// absorb the inverses of the factors.
struct PartUsers {
  /// Index of the part, or `kNoPart`, for each channel.
  using Positions = std::vector<int64_t>;
  struct Layer {
    KernelOp layer;
    Positions parts;
  };
  struct Product {
    OpOperand *constant;
    int64_t axis;
    Positions parts;
    std::vector<float> values;
  };
  std::vector<Layer> layers;
  std::vector<Product> products;
  /// Ops whose results are scaled by the factors.
  llvm::SetVector<Operation *> changed;
  /// True if a layer or product combines channels of several parts.
  bool mix = false;

  static std::optional<PartUsers>
  find(const Layers &layers, const Joined &joined, Operation *&obstacle);
  bool scaleExactly(ArrayRef<Part> parts) const;
  void apply(ArrayRef<Part> parts) const;

private:
  /// Adds the user of `use`, whose channels along `axis` belong to `parts`;
  /// returns false if it can neither absorb nor pass on the factors. `after`
  /// is called with the result of an op that passes them on.
  bool addUser(const Layers &known, OpOperand &use, int64_t axis,
               const Positions &parts,
               llvm::function_ref<bool(Value, int64_t, Positions)> after);
};

struct RescalePartsPass
    : public WithOpModels<mct::impl::RescalePartsPassBase<RescalePartsPass>> {
  using WithOpModels::WithOpModels;

  void getDependentDialects(DialectRegistry &registry) const override {
    RescalePartsPassBase::getDependentDialects(registry);
    for (const OpPassManager &passes : measuredBy)
      passes.getDependentDialects(registry);
  }

  void runOnOperation() override;

private:
  /// Returns the points of the concatenations whose parts are combined by some
  /// user.
  std::vector<tpc::QuantizeOp> findCandidates(const Layers &layers);
  void rescale(const Layers &layers, tpc::QuantizeOp point,
               SizesOfPoints &sizes);
  void leave(tpc::QuantizeOp point, const Record &why) {
    if (remarks)
      emitWithCause(point, getArgument(), why,
                    "'" + point.getPointName() + "' is not rescaled: ");
  }
  /// Renames an op whose result has changed; a point loses the parameters that
  /// were chosen for it.
  void rename(Operation *op, SizesOfPoints &sizes);

  ScaledNames renamed;
};
} // namespace

std::pair<double, double> Joined::getExtremes() const {
  double smallest = 0, largest = 0;
  for (const Part &part : parts) {
    double magnitude = std::ldexp(part.magnitude, int(part.exponent));
    if (!(magnitude > 0))
      continue;
    smallest = smallest > 0 ? std::min(smallest, magnitude) : magnitude;
    largest = std::max(largest, magnitude);
  }
  return {smallest, largest};
}

/// Returns the inverse of each channel's factor.
static std::vector<double> getInverses(ArrayRef<int64_t> positions,
                                       ArrayRef<Part> parts) {
  std::vector<double> inverses;
  for (int64_t part : positions)
    inverses.push_back(
        part == kNoPart ? 1.0 : std::ldexp(1.0, -int(parts[part].exponent)));
  return inverses;
}

static bool mixesParts(ArrayRef<int64_t> positions) {
  int64_t first = kNoPart;
  for (int64_t part : positions) {
    if (part == kNoPart || part == first)
      continue;
    if (first != kNoPart)
      return true;
    first = part;
  }
  return false;
}

bool PartUsers::addUser(
    const Layers &known, OpOperand &use, int64_t axis, const Positions &parts,
    llvm::function_ref<bool(Value, int64_t, Positions)> after) {
  Operation *user = use.getOwner();
  if (std::optional<KernelOp> layer = known.getConsumer(use)) {
    if (layer->inputAxis() != axis || hasImportedKernel(*layer) ||
        layer->numInputChannels() != int64_t(parts.size()))
      return false;
    layers.push_back({*layer, parts});
    mix |= mixesParts(parts);
    return true;
  }
  auto [constant, other] = getProductWithConstant(user);
  if (constant && other == &use) {
    auto type = cast<RankedTensorType>(constant->get().getType());
    std::optional<std::vector<float>> values =
        getChannelConstant(constant->get(), axis, int64_t(parts.size()));
    if (!values || user->getResult(0).getType() != use.get().getType() ||
        type.getRank() != cast<RankedTensorType>(use.get().getType()).getRank())
      return false;
    products.push_back({constant, axis, parts, std::move(*values)});
    mix |= mixesParts(parts);
    return true;
  }
  std::optional<SmallVector<OpOperand *>> operands = getScaledOperands(user);
  if (!operands || !llvm::is_contained(*operands, &use))
    return false;
  auto moving = dyn_cast<DataMovementOpInterface>(user);
  // The other operand of an op with two would need the same factors.
  if (!moving)
    return operands->size() == 1 && after(user->getResult(0), axis, parts);
  std::optional<ChannelMap> map =
      moving.mapChannels(use.getOperandNumber(), axis);
  if (!map)
    return false;
  Positions moved;
  for (int64_t channel : map->channels)
    moved.push_back(channel == ChannelMap::kNone ? kNoPart : parts[channel]);
  return after(user->getResult(0), map->axis, std::move(moved));
}

std::optional<PartUsers> PartUsers::find(const Layers &layers,
                                         const Joined &joined,
                                         Operation *&obstacle) {
  PartUsers users;
  struct Open {
    Value value;
    int64_t axis;
    Positions parts;
  };
  std::vector<Open> open;
  llvm::SmallPtrSet<Value, 8> visited;
  auto after = [&](Value value, int64_t axis, Positions parts) {
    // A value that is reached twice holds the parts in two ways.
    if (!visited.insert(value).second || visited.size() > kMaxUserValues)
      return false;
    users.changed.insert(value.getDefiningOp());
    open.push_back({value, axis, std::move(parts)});
    return true;
  };
  Positions parts;
  for (auto [index, part] : llvm::enumerate(joined.parts))
    parts.insert(parts.end(), size_t(part.channels), int64_t(index));
  tosa::ConcatOp concat = joined.concat;
  after(concat.getResult(), concat.getAxis(), std::move(parts));
  for (size_t next = 0; next != open.size(); ++next) {
    Open each = open[next];
    for (OpOperand &use : each.value.getUses()) {
      obstacle = use.getOwner();
      if (!users.addUser(layers, use, each.axis, each.parts, after))
        return std::nullopt;
    }
  }
  obstacle = nullptr;
  return users;
}

bool PartUsers::scaleExactly(ArrayRef<Part> parts) const {
  for (const Layer &user : layers) {
    std::vector<double> inverses = getInverses(user.parts, parts);
    ConstantFloats kernel = user.layer.getKernel();
    for (auto [element, value] : llvm::enumerate(kernel.values()))
      if (!scalesExactly(value,
                         inverses[user.layer.inChannelOf(int64_t(element))]))
        return false;
  }
  for (const Product &user : products)
    for (auto [value, inverse] :
         llvm::zip_equal(user.values, getInverses(user.parts, parts)))
      if (!scalesExactly(value, inverse))
        return false;
  return true;
}

void PartUsers::apply(ArrayRef<Part> parts) const {
  for (const Layer &user : layers) {
    OpBuilder builder(user.layer.getOperation());
    scaleInputs(builder, user.layer, getInverses(user.parts, parts));
  }
  for (const Product &user : products) {
    auto type = cast<RankedTensorType>(user.constant->get().getType());
    SmallVector<int64_t> shape(type.getRank(), 1);
    shape[user.axis] = int64_t(user.parts.size());
    std::vector<float> values;
    for (auto [value, inverse] :
         llvm::zip_equal(user.values, getInverses(user.parts, parts)))
      values.push_back(float(inverse * value));
    replaceConstant(*user.constant, type.clone(shape), values);
  }
}

/// Returns the concatenation along the last axis that a point quantizes, or
/// null.
static tosa::ConcatOp getConcat(tpc::QuantizeOp point) {
  auto concat = point.getInput().getDefiningOp<tosa::ConcatOp>();
  auto type = dyn_cast<RankedTensorType>(point.getInput().getType());
  if (!concat || !type || !type.hasStaticShape() ||
      !type.getElementType().isF32() ||
      int64_t(concat.getAxis()) + 1 != type.getRank())
    return {};
  return concat;
}

static Joined join(tpc::QuantizeOp point) {
  Joined joined{point, getConcat(point), {}};
  for (Value operand : joined.concat.getInput1())
    joined.parts.emplace_back(operand);
  return joined;
}

/// Determines which parts can be scaled, and which of them together. Returns
/// the op that prevents one of the others from being scaled, or null.
static Operation *findRegions(const Layers &layers, Joined &joined,
                              const PartUsers &users) {
  Operation *obstacle = nullptr;
  for (auto [index, part] : llvm::enumerate(joined.parts)) {
    for (size_t earlier = 0; earlier != index && !part.leader; ++earlier)
      if (const Part &other = joined.parts[earlier];
          other.region && other.region->contains(part.value))
        part.leader = earlier;
    if (part.leader)
      continue;
    Operation *met = nullptr;
    part.region = ScaledRegion::find(layers, part.value, joined.concat, met);
    for (Operation *after : users.changed)
      if (part.region && part.region->contains(after->getResult(0))) {
        part.region.reset();
        met = after;
      }
    if (!part.region && !obstacle)
      obstacle = met;
  }
  return obstacle;
}

/// Chooses factors that bring the scalable parts below the same power of two:
/// that of the parts that cannot be scaled or, if there are none, of the part
/// with the most channels, which then stays as it is.
static void chooseExponents(MutableArrayRef<Part> parts) {
  // Parts that take the same factor are represented by the first of them.
  SmallVector<double> magnitudes;
  for (const Part &part : parts) {
    magnitudes.push_back(part.magnitude);
    if (part.leader)
      magnitudes[*part.leader] =
          std::max(magnitudes[*part.leader], part.magnitude);
  }
  auto getOctave = [](double magnitude) {
    return int64_t(std::ceil(std::log2(magnitude)));
  };
  std::optional<int64_t> octave;
  int64_t most = 0;
  for (auto [part, magnitude] : llvm::zip_equal(parts, magnitudes))
    if (magnitude > 0 && !part.region && !part.leader)
      octave =
          std::max(octave.value_or(getOctave(magnitude)), getOctave(magnitude));
  if (!octave)
    for (auto [part, magnitude] : llvm::zip_equal(parts, magnitudes))
      if (magnitude > 0 && !part.leader && part.channels > most) {
        most = part.channels;
        octave = getOctave(magnitude);
      }
  for (auto [part, magnitude] : llvm::zip_equal(parts, magnitudes)) {
    if (part.leader) {
      part.exponent = parts[*part.leader].exponent;
      continue;
    }
    if (!(magnitude > 0) || !part.region)
      continue;
    part.exponent = *octave - getOctave(magnitude);
    if (!part.region->scalesExactly(std::ldexp(1.0, int(part.exponent))))
      part.exponent = 0;
  }
}

std::vector<tpc::QuantizeOp>
RescalePartsPass::findCandidates(const Layers &layers) {
  std::vector<tpc::QuantizeOp> found;
  getOperation().walk([&](tpc::QuantizeOp point) {
    if (!point.isActivation() || point.getParametersAttr() || !getConcat(point))
      return;
    Operation *obstacle = nullptr;
    std::optional<PartUsers> users =
        PartUsers::find(layers, join(point), obstacle);
    if (!users)
      return leave(point,
                   Record(Decision::Declined, Reason::NoLayerReads, obstacle)
                       << "no factor of its parts can be taken back behind it");
    // Parts that slices separate again do not need a common grid.
    if (!users->mix)
      return;
    Joined joined = join(point);
    obstacle = findRegions(layers, joined, *users);
    if (llvm::any_of(joined.parts,
                     [](const Part &part) { return bool(part.region); }))
      found.push_back(point);
    else
      leave(point, {Decision::Declined, Reason::PartsTakeNoFactor, obstacle});
  });
  return found;
}

void RescalePartsPass::rescale(const Layers &layers, tpc::QuantizeOp point,
                               SizesOfPoints &sizes) {
  auto known = sizes.find(point);
  if (known == sizes.end())
    return leave(point, Reason::NoChannelRanges);
  Joined joined = join(point);
  ArrayRef<double> magnitudes = known->second.magnitudes;
  for (Part &part : joined.parts) {
    for (double magnitude : magnitudes.take_front(size_t(part.channels)))
      part.magnitude = std::max(part.magnitude, magnitude);
    magnitudes = magnitudes.drop_front(size_t(part.channels));
  }
  auto [smallest, largest] = joined.getExtremes();
  if (!(largest > kPartRangeFactor * smallest))
    return;
  // Rescaling another point may have changed the users.
  Operation *obstacle = nullptr;
  std::optional<PartUsers> users = PartUsers::find(layers, joined, obstacle);
  if (!users)
    return leave(point,
                 Record(Decision::Declined, Reason::NoLayerReads, obstacle)
                     << "no factor of its parts can be taken back behind it");
  obstacle = findRegions(layers, joined, *users);
  chooseExponents(joined.parts);
  auto [small, large] = joined.getExtremes();
  if (!(large * smallest < largest * small))
    return leave(point,
                 Record(Decision::Declined, Reason::PartsTakeNoFactor, obstacle)
                     << "its parts go up to "
                     << named("smallest_magnitude", smallest, "%.3g") << " and "
                     << named("largest_magnitude", largest, "%.3g")
                     << ", and no factors bring them closer");
  if (!users->scaleExactly(joined.parts))
    return leave(point, Reason::FactorRounds);

  for (const Part &part : joined.parts)
    if (part.exponent != 0 && part.region)
      part.region->apply(std::ldexp(1.0, int(part.exponent)),
                         [&](Operation *op) { rename(op, sizes); });
  users->apply(joined.parts);
  std::string name = point.getPointName().str();
  for (Operation *op : users->changed)
    rename(op, sizes);
  emitRecord(point, getArgument(),
             Record(Decision::Applied, Reason::PartsRescaled)
                 << "'" << name << "' joins parts up to "
                 << named("smallest_magnitude", smallest, "%.3g")
                 << " and up to " << named("largest_magnitude", largest, "%.3g")
                 << ": "
                 << named("scaled", llvm::count_if(joined.parts,
                                                   [](const Part &part) {
                                                     return part.exponent != 0;
                                                   }))
                 << " of its " << std::to_string(joined.parts.size())
                 << " parts take powers of two, which "
                 << named("readers", int64_t(users->layers.size() +
                                             users->products.size()))
                 << " constants behind it take back");
}

void RescalePartsPass::rename(Operation *op, SizesOfPoints &sizes) {
  renamed.rename(op);
  if (auto point = dyn_cast<tpc::QuantizeOp>(op))
    sizes.erase(point);
}

void RescalePartsPass::runOnOperation() {
  Layers layers(getAnalysis<KernelOps>(), getOperation());
  markAnalysesPreserved<KernelOps>();
  renamed = {};
  std::vector<tpc::QuantizeOp> points = findCandidates(layers);
  if (points.empty())
    return;
  FailureOr<SizesOfPoints> sizes =
      measureChannelSizes(getOperation(), points, measuredBy);
  if (failed(sizes))
    return signalPassFailure();
  for (tpc::QuantizeOp point : points)
    rescale(layers, point, *sizes);
  renamed.renameInGroups(getOperation());
}
