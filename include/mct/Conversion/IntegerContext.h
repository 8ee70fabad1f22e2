// SPDX-License-Identifier: Apache-2.0
//
// Integer forms of the values of a simulated network: what ops are asked for,
// and what they ask with.
#ifndef MCT_CONVERSION_INTEGERCONTEXT_H
#define MCT_CONVERSION_INTEGERCONTEXT_H

#include "mct/Conversion/IntegerBuilder.h"
#include "mct/Conversion/Passes.h"
#include "mct/IR/ConstantEvaluator.h"
#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/UniqueVector.h"
#include <map>
#include <variant>

namespace mct {

//===----------------------------------------------------------------------===//
// Reasons
//===----------------------------------------------------------------------===//

/// Reasons why a value has no integer form; IntegerReasons.def lists them.
enum class IntegerReason {
#define MCT_INTEGER_REASON(Name, Text) Name,
#include "mct/Conversion/IntegerReasons.def"
#undef MCT_INTEGER_REASON
};

struct IntegerFailure {
  IntegerReason reason;
  /// The op to blame; null if no op makes the value.
  mlir::Operation *culprit;

  llvm::StringRef getText() const;
};

/// An integer form, or the reason why there is none.
template <typename T> class IntegerOr {
public:
  template <typename U,
            typename = std::enable_if_t<std::is_convertible_v<U, T>>>
  IntegerOr(U &&value) : state(T(std::forward<U>(value))) {}
  IntegerOr(IntegerFailure failure) : state(failure) {}
  IntegerOr(IntegerReason reason, mlir::Operation *culprit)
      : state(IntegerFailure{reason, culprit}) {}

  explicit operator bool() const { return std::holds_alternative<T>(state); }
  T &operator*() { return std::get<T>(state); }
  const T &operator*() const { return std::get<T>(state); }
  T *operator->() { return &std::get<T>(state); }
  const T *operator->() const { return &std::get<T>(state); }
  const IntegerFailure &getFailure() const {
    return std::get<IntegerFailure>(state);
  }

private:
  std::variant<T, IntegerFailure> state;
};

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// The sums of stored codes along axes.
struct SumsOfCodes {
  StoredIntegers codes;
  /// Numbers of the axes, the last one first.
  llvm::SmallVector<int64_t> axes;
  mlir::Value sums;
};

/// Describes values whose mean is taken.
struct Summands {
  double step = 1;
  bool hasNegative = true;
  /// Count of the summed values; 1 where the step contains it.
  double count = 1;
  /// Set where the values are stored codes and have one count in all sums.
  std::optional<SumsOfCodes> origin = {};
};

/// The products and sums with numbers that f32 computes one after the other,
/// and may round each time, from integers of a range small enough to try all.
struct FloatHistory {
  /// i32, stands for exactly `step` times itself, in [low, high].
  mlir::Value base;
  double step = 1;
  int64_t low = 0, high = 0;
  /// Largest magnitude of all integers that the stored types hold.
  int64_t reach = 0;
  /// A sum or product with one number, or with one for each position along the
  /// last axis.
  struct Step {
    bool isSum;
    std::vector<float> numbers;

    float getNumber(size_t channel) const {
      return numbers[numbers.size() == 1 ? 0 : channel];
    }
  };
  std::vector<Step> steps = {};

  /// Returns what f32 makes of an integer.
  float compute(int64_t integer, size_t channel) const;
  /// Returns true if f32 rounds any result.
  bool isRounded(size_t numChannels) const;
};

/// An i32 (or i48) tensor that stands for `scales` times itself.
struct IntegerAccumulator {
  mlir::Value value;
  /// One for all elements, or one for each position along the last axis.
  std::vector<double> scales;
  /// No element is larger in magnitude.
  double bound = 0;
  /// Set for a mean of n values, n no power of two.
  std::optional<Summands> mean;
  /// Shape of the value that it stands for, with the elements in this order.
  llvm::SmallVector<int64_t> shape;
  /// Set for a sum, which becomes a mean when 1 / n is multiplied with.
  std::optional<Summands> summands = {};
  std::optional<FloatHistory> history = {};
  /// Set for sums of a fully connected layer.
  bool isFullyConnected = false;
  /// Set for a mean of a pool. On another grid than that of its values files
  /// have it as a layer, whose sums all kernels round once.
  bool isPool = false;

  double getScale(size_t channel) const {
    return scales[scales.size() == 1 ? 0 : channel];
  }
};

//===----------------------------------------------------------------------===//
// Context
//===----------------------------------------------------------------------===//

struct IntegerOptions {
  IntegerRounding rounding = IntegerRounding::HalfUp;
  IntegerBoundary boundary = IntegerBoundary::Float;
  IntegerSoftmax softmax = IntegerSoftmax::Float;
  IntegerLayerNorm layerNorm = IntegerLayerNorm::Float;
  bool allowsInt4 = false, allowsInt16 = false;
};

/// Integer forms that ops of a function have given, and what they are made
/// with. The simulated network stays as it is; integer ops are written beside
/// it. The function has one block and static shapes.
class IntegerForms {
public:
  IntegerForms(mlir::func::FuncOp function, const KernelOps &kernels,
               const IntegerOptions &options);

  const IntegerOptions &getOptions() const { return options; }
  IntegerBuilder &getBuilder() { return builder; }
  ConstantEvaluator &getConstants() { return constants; }

  /// Records the integers of a point.
  void setStored(mlir::Value value, const StoredIntegers &stored);
  /// Returns the integers of a point; null if it has none, or is no point.
  const StoredIntegers *findPoint(mlir::Value value) const;
  /// Forgets integers that were computed in a region for values outside of it.
  void leave(mlir::Region &region);

private:
  friend class IntegerContext;

  IntegerOptions options;
  IntegerBuilder builder;
  ConstantEvaluator constants;
  llvm::DenseMap<mlir::Value, KernelOp> layers;
  llvm::DenseMap<mlir::Value, mlir::Value> layerNormInputs;

  llvm::DenseMap<mlir::Value, IntegerOr<StoredIntegers>> storedValues;
  llvm::DenseMap<mlir::Value, IntegerOr<IntegerAccumulator>> accumulators;
  /// Encodings that were met, and codes by float value and encoding.
  llvm::UniqueVector<Encoding> encodings;
  std::map<std::pair<void *, size_t>, mlir::Value> codes;
};

/// Deviations from the options in the codes of one point.
struct IntegerDeviations {
  /// Says why halves go up although the options say otherwise; empty: they do
  /// not.
  llvm::StringRef roundHalfUpReason;
};

/// A question about one point, as each op that is asked passes it to the ops of
/// its operands. Answers are remembered in the forms.
class IntegerContext {
public:
  /// Asks on behalf of a point, whose deviations are written to `deviations`.
  IntegerContext(IntegerForms &forms, IntegerDeviations &deviations)
      : IntegerContext(forms, deviations, 0) {}

  const IntegerOptions &getOptions() const { return forms.options; }
  IntegerBuilder &getBuilder() { return forms.builder; }
  ConstantEvaluator &getConstants() { return forms.constants; }
  /// Returns the input of the layer norm that ends with this value, without
  /// gains and offsets behind it, or with some; null if none does.
  mlir::Value getLayerNormInput(mlir::Value value) const {
    return forms.layerNormInputs.lookup(value);
  }

  /// Returns integers that stand for exactly this float value. They are
  /// computed directly behind it.
  IntegerOr<StoredIntegers> getStored(mlir::Value value);
  /// Returns sums that stand for the value before it is rounded to a grid.
  IntegerOr<IntegerAccumulator> getAccumulator(mlir::Value value);
  /// Returns the codes that a quantizer of this encoding makes of the value,
  /// computed by ops at the builder's insertion point.
  IntegerOr<mlir::Value> getCodes(mlir::Value value, const Encoding &encoding);
  /// Returns the codes of the value's accumulator.
  IntegerOr<mlir::Value> roundAccumulator(mlir::Value value,
                                          const Encoding &encoding);

  /// Notes why halves go up in the codes of the point.
  void noteRoundHalfUp(llvm::StringRef reason) {
    deviations.roundHalfUpReason = reason;
  }

private:
  IntegerContext(IntegerForms &forms, IntegerDeviations &deviations,
                 unsigned depth)
      : forms(forms), deviations(deviations), depth(depth) {}

  /// Returns the same question, asked from one op farther away.
  IntegerContext getDeeper() const { return {forms, deviations, depth + 1}; }
  bool isTooDeep() const;
  IntegerOr<StoredIntegers> createStored(mlir::Value value);
  IntegerOr<IntegerAccumulator> createAccumulator(mlir::Value value);
  IntegerOr<mlir::Value> createCodes(mlir::Value value,
                                     const Encoding &encoding);

  IntegerForms &forms;
  IntegerDeviations &deviations;
  /// Number of ops between the point and the value that is asked for.
  const unsigned depth;
};

/// Returns the integers of another encoding, rounded as the options say.
IntegerOr<mlir::Value> requantize(IntegerContext &context,
                                  const StoredIntegers &stored,
                                  const Encoding &encoding);
IntegerOr<mlir::Value> requantize(IntegerContext &context,
                                  const IntegerAccumulator &accumulator,
                                  const Encoding &encoding);

/// Attaches the integer forms of the ops of TOSA, and of `tpc.quantize`,
/// wherever those dialects are loaded.
void registerIntegerModels(mlir::DialectRegistry &registry);

} // namespace mct

#include "mct/Conversion/IntegerOp.h.inc"

#endif // MCT_CONVERSION_INTEGERCONTEXT_H
