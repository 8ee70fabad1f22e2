// SPDX-License-Identifier: Apache-2.0
//
// Builds the integer network beside the simulated one.
#ifndef MCT_LIB_CONVERSION_INTEGERLOWERING_H
#define MCT_LIB_CONVERSION_INTEGERLOWERING_H

#include "mct/Conversion/Encoding.h"
#include "mct/Conversion/Passes.h"
#include "mct/IR/ConstantEvaluator.h"
#include "mct/IR/Records.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Quantization/Rescale.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/UniqueVector.h"

#include <map>

namespace mct {

/// Of an op for which there is nothing.
inline constexpr llvm::StringLiteral kNoForm = "has no integer form";

struct IntegerOptions {
  IntegerRounding rounding = IntegerRounding::HalfUp;
  IntegerBoundary boundary = IntegerBoundary::Float;
  IntegerSoftmax softmax = IntegerSoftmax::Float;
  IntegerLayerNorm layerNorm = IntegerLayerNorm::Float;
  bool allowsInt4 = false, allowsInt16 = false;
};

/// Writes integer ops for the values of a function whose activation points have
/// parameters: for every point a tensor that holds what the point simulates.
/// The simulated network stays where it is until `finish`, so that whatever has
/// no integer form can be computed by it, between explicit conversions.
///
/// The function has one block and static shapes. Points in branches and loops
/// are lowered where they stand.
class IntegerLowering {
public:
  IntegerLowering(mlir::func::FuncOp function, const KernelOps &kernels,
                  const IntegerOptions &options);

  /// Integer forms of what the points make; remarks at those that have none.
  void lower();
  /// Puts them in the place of what they stand for: a dialect conversion, whose
  /// type converter makes numbers of integers for whatever stays float.
  mlir::LogicalResult finish();

private:
  struct Converter;
  friend struct ConvertPoint;
  friend struct ConvertArgMax;
  friend struct ConvertReturn;

  /// Integers that stand for a float value.
  struct Stored {
    mlir::Value value;
    Encoding encoding;
  };
  /// What is known of values whose mean is taken.
  struct Mean {
    double step = 1;
    bool hasNegative = true;
  };
  /// How f32 computes sums and products with numbers, each of which it may
  /// round: from integers of a small range, for which all results are known.
  struct History {
    /// i32, stands for exactly `step` times itself, in [low, high].
    mlir::Value base;
    double step = 1;
    int64_t low = 0, high = 0;
    /// The same in magnitude, of all that the stored types hold.
    int64_t reach = 0;
    /// One number, or one for each position along the last axis.
    struct Step {
      bool isSum;
      std::vector<float> numbers;
    };
    std::vector<Step> steps = {};

    float compute(int64_t integer, size_t channel) const;
    bool isRounded(size_t numChannels) const;
  };
  /// An i32 (or i48) tensor that stands for `scales` times itself.
  struct Accumulator {
    mlir::Value value;
    /// One for all elements, or one for each position along the last axis.
    std::vector<double> scales;
    /// No element is larger, in magnitude.
    double bound = 0;
    /// Of a mean of n values, n no power of two.
    std::optional<Mean> mean;
    /// Shape of the value that it stands for, with the elements in this order.
    llvm::SmallVector<int64_t> shape;
    /// Of a sum, which becomes a mean when 1 / n is multiplied with.
    std::optional<Mean> summands = {};
    std::optional<History> history = {};
  };

  /// A mean of n values, n no power of two, may lie halfway between two codes,
  /// and no multiplier is exactly 1 / n. One that is too large passes the
  /// middle of positive sums on the right side. Where there are negative ones,
  /// kNudge * sum + 1 does. What is not halfway does not reach it, unless the
  /// result has steps below the 16th part of the values', or steps that are no
  /// power of two of theirs.
  static constexpr int kNudge = 64;

  //===--- Points and values ----------------------------------------------===//

  void lowerArgument(tpc::QuantizeOp point);
  /// Forgets integers that were computed in a region for values outside of it.
  void leave(mlir::Region &region);
  void lowerPoint(tpc::QuantizeOp point);
  /// Integers of `encoding` for a float value, as a quantizer with it would
  /// make them; null, with `why`, where there is no integer form. They are
  /// computed by ops before the current point.
  mlir::Value lowerTo(mlir::Value value, const Encoding &encoding);
  mlir::Value createTo(mlir::Value value, const Encoding &encoding);
  /// Integers that stand for exactly this float value: it was quantized, or
  /// moved since. None otherwise.
  std::optional<Stored> getStored(mlir::Value value);
  std::optional<Stored> createStored(mlir::Value value);
  std::optional<Accumulator> getAccumulator(mlir::Value value);
  std::optional<Accumulator> createAccumulator(mlir::Value value);

  /// The float value by float ops, from its integers.
  mlir::Value dequantize(const Stored &stored);
  /// Integers of a float value by float ops.
  mlir::Value quantize(mlir::Value value, const Encoding &encoding);

  //===--- Forms ----------------------------------------------------------===//

  /// The op on integers, with `operand` in place of what it moves.
  mlir::Value move(mlir::Operation *op, mlir::Value operand,
                   const Encoding &encoding);
  mlir::Value pad(mlir::tosa::PadOp op, mlir::Value operand,
                  const Encoding &encoding);
  mlir::Value concat(mlir::tosa::ConcatOp op, const Encoding &encoding);
  mlir::Value clamp(mlir::Value value, int64_t low, int64_t high,
                    const Encoding &encoding);
  /// The same for i32, which TOSA does not clamp.
  mlir::Value limit(mlir::Value value, int64_t low, int64_t high);
  /// Rounds as the options say; `halvesUp` where that cannot be.
  mlir::Value requantize(const Stored &stored, const Encoding &encoding);
  mlir::Value requantize(const Accumulator &accumulator,
                         const Encoding &encoding);
  /// With factors and offsets that make the very codes that f32 makes; null
  /// where f32 does not round, where too many would have to be tried, or, with
  /// `isRefused`, where there are none.
  mlir::Value requantizeAsFloat(const History &history,
                                const Encoding &encoding, bool &isRefused);
  /// Null for what is no expression of one value; `isRefused`: for what is one,
  /// and still no table.
  mlir::Value lowerTable(mlir::Value value, const Encoding &encoding,
                         bool &isRefused);
  mlir::Value lowerExtreme(mlir::Operation *op, const Encoding &encoding);
  /// A ReLU with slopes in i32, any other selection of codes.
  mlir::Value lowerSelect(mlir::tosa::SelectOp op, const Encoding &encoding);
  /// i1 without floating-point numbers, null where that cannot be.
  mlir::Value lowerPredicate(mlir::Value value);
  mlir::Value lowerComparison(mlir::Operation *op);
  /// What a condition is for all codes, where that is known.
  std::optional<bool> getAlways(mlir::Value predicate, unsigned level = 0);
  /// Numbers from the zero point on, in halves of a step: odd is what lies
  /// between two codes, or beyond all. Empty where one is no number.
  static std::vector<int64_t> getHalfSteps(const ConstantTensor &numbers,
                                           const Encoding &encoding);
  /// Of a comparison: the operand that is constant, in half steps of the other.
  struct Numbers {
    unsigned operand = 0;
    Stored stored;
    llvm::SmallVector<int64_t> shape;
    std::vector<int64_t> halfSteps;
  };
  std::optional<Numbers> findNumbers(mlir::Operation *op);
  mlir::Value lowerPool(mlir::tosa::AvgPool2dOp op, const Encoding &encoding);
  mlir::Value lowerSoftmax(mlir::Value value, const Encoding &encoding);

  /// A layer norm: gain * (x - mean) / sqrt(factor * squares + epsilon) +
  /// offset, where `squares` are the squared differences from the mean, summed
  /// up over the last axis.
  struct LayerNorm {
    mlir::Value input;
    double factor = 1, epsilon = 0;
    /// One, or one for each position along the last axis.
    std::vector<double> gain = {1}, offset = {0};
  };
  /// None for what is no layer norm; `isRefused`, with why, for one that is
  /// written in a way that is not known.
  std::optional<LayerNorm> findLayerNorm(mlir::Value value, bool &isRefused);
  /// Of its normalized values alone.
  std::optional<LayerNorm> findNormalized(mlir::Value value, bool &isRefused);
  mlir::Value lowerLayerNorm(mlir::Operation *op, const LayerNorm &norm,
                             const Encoding &encoding);
  /// 2^28.5 / sqrt(value), from numbers in [1, 2^31).
  mlir::Value createInverseRoot(mlir::Value value);

  /// What is stored as sums of one term, or sums.
  std::optional<Accumulator> accumulate(mlir::Value value);
  /// The same, in i32 and the shape of the value, as an operand of `op`.
  std::optional<Accumulator> getTerm(mlir::Operation *op, mlir::Value value);
  /// Numbers in the units of `other`, or in finer ones.
  std::optional<Accumulator> getNumbers(mlir::Operation *op,
                                        const ConstantTensor &numbers,
                                        const Accumulator &other);
  /// Gives all channels the same unit, where those they have are small
  /// multiples of a power of two.
  void unify(Accumulator &term);
  /// Brings both to the same units, exactly where one unit is a multiple of the
  /// other.
  bool align(mlir::Operation *op, Accumulator &a, Accumulator &b);
  /// A sum or difference of what is not rounded yet.
  std::optional<Accumulator> accumulateTerms(mlir::Operation *op,
                                             bool subtracts);
  std::optional<Accumulator> accumulateClamp(mlir::tosa::ClampOp op);
  std::optional<Accumulator> accumulateMovement(mlir::Operation *op);
  /// Times one number, or one for each position along the last axis.
  std::optional<Accumulator> scale(mlir::Operation *op,
                                   std::optional<Accumulator> result,
                                   llvm::ArrayRef<double> factors);
  std::optional<Accumulator> accumulateLayer(const KernelOp &layer);
  std::optional<Accumulator> accumulateMatMul(mlir::tosa::MatMulOp op);
  std::optional<Accumulator> accumulateSum(mlir::Operation *op, bool subtracts);
  std::optional<Accumulator> accumulateProduct(mlir::tosa::MulOp op);
  std::optional<Accumulator> accumulateReduction(mlir::tosa::ReduceSumOp op);
  std::optional<Accumulator> accumulatePool(mlir::tosa::AvgPool2dOp op);
  std::optional<Accumulator> accumulateResize(mlir::tosa::ResizeOp op);

  //===--- Building -------------------------------------------------------===//

  mlir::Value createConstant(llvm::ArrayRef<int64_t> shape, unsigned bits,
                             llvm::ArrayRef<int64_t> values);
  mlir::Value createFloat(float value, int64_t rank);
  mlir::Value createShape(llvm::ArrayRef<int64_t> sizes);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// `from` and `to`: zero points. Null where a factor cannot be expressed.
  mlir::Value rescale(mlir::Value value, int64_t from,
                      llvm::ArrayRef<double> factors, int64_t to, unsigned bits,
                      quantization::FactorRounding rounding =
                          quantization::FactorRounding::Nearest);
  /// `bound`: of the codes, before they saturate.
  mlir::Value rescaleToEven(mlir::Value value, llvm::ArrayRef<double> factors,
                            const Encoding &encoding, double bound);
  mlir::Value storeRounded(mlir::Value codes, const Encoding &encoding,
                           double bound);
  /// Any factors, for numbers that are rounded `up` and `down` where they lie
  /// halfway, and equal elsewhere: the even one.
  mlir::Value chooseEven(mlir::Value up, mlir::Value down,
                         const Encoding &encoding, double bound);
  mlir::RankedTensorType getType(mlir::Value value, unsigned bits);
  /// i32 numbers of stored - zero point, times a factor that keeps them exact.
  mlir::Value widen(const Stored &stored, double factor = 1);

  mlir::Value fail(mlir::Operation *op, llvm::StringRef what);
  std::optional<Accumulator> failed(mlir::Operation *op, llvm::StringRef what) {
    fail(op, what);
    return std::nullopt;
  }
  void name(mlir::Value value, tpc::QuantizeOp point);
  /// Of a point that has integers; null: it has none, or is no point.
  const Stored *findPoint(mlir::Value value) const;
  /// Records what integers that are a result stand for; `value`: the numbers.
  void describeResult(unsigned number, mlir::Value value,
                      const Encoding &encoding);
  /// Results that are a softmax become what it reads.
  void cutSoftmax();
  bool isSoftmax(mlir::Value value, mlir::Value &input, int64_t &axis);

  mlir::func::FuncOp function;
  IntegerOptions options;
  mlir::OpBuilder builder;
  mlir::Location loc;
  ConstantEvaluator constants;
  llvm::DenseMap<mlir::Value, KernelOp> layers;
  /// By the values that they make: what layer norms read, without gains and
  /// offsets behind them.
  llvm::DenseMap<mlir::Value, mlir::Value> normalized;

  /// By float value: of points, and of what was moved.
  llvm::DenseMap<mlir::Value, Stored> storedValues;
  llvm::DenseMap<mlir::Value, std::optional<Accumulator>> accumulators;
  /// Encodings that were met, and integers by float value and encoding.
  llvm::UniqueVector<Encoding> encodings;
  std::map<std::pair<void *, size_t>, mlir::Value> lowered;
  llvm::SmallVector<tpc::QuantizeOp> points;
  /// By integers of points: how to make numbers of them.
  struct Meaning {
    Stored stored;
    mlir::Location loc;
  };
  llvm::DenseMap<mlir::Value, Meaning> meanings;
  llvm::SmallVector<mlir::Attribute> entries;
  llvm::DenseSet<mlir::Value> namedValues;
  unsigned depth = 0;

  /// Why halves of the current point go up although the options say otherwise.
  llvm::StringRef halvesUp;
  /// Why the last value has no integer form.
  mlir::Operation *culprit = nullptr;
  std::string why;
};

/// Computes convolutions whose sums several rescales read once for each of
/// them, where Ethos-U is faster so: one rescale is part of the convolution
/// there, of several each reads the sums from memory. The values are the same.
void repeatLayers(mlir::func::FuncOp function, IntegerProfile profile);

/// Copies arguments of i8 with fewer than 16 channels, which convolutions read,
/// by a 1x1 maximum pool over rows of 16 bytes. Ethos-U85 keeps arguments in
/// DRAM, from where such convolutions fetch a few bytes at a time and several
/// times over; the copy lies in SRAM. The values are the same.
void stageArguments(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_LIB_CONVERSION_INTEGERLOWERING_H
