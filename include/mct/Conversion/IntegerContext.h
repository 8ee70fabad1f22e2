// SPDX-License-Identifier: Apache-2.0
//
// Integer forms of the values of a simulated network: the requests that ops
// answer, and the context in which they do so.
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
  /// The op at fault; null if no op defines the value.
  mlir::Operation *cause;

  llvm::StringRef getText() const;
};

/// An integer form, or the reason why there is none.
template <typename T> class IntegerOr {
public:
  template <typename U,
            typename = std::enable_if_t<std::is_convertible_v<U, T>>>
  IntegerOr(U &&value) : state(T(std::forward<U>(value))) {}
  IntegerOr(IntegerFailure failure) : state(failure) {}
  IntegerOr(IntegerReason reason, mlir::Operation *cause)
      : state(IntegerFailure{reason, cause}) {}

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

/// Sums of stored codes along axes.
struct SumsOfCodes {
  StoredIntegers codes;
  /// Numbers of the axes, the last one first.
  llvm::SmallVector<int64_t> axes;
  mlir::Value sums;
};

/// Values whose mean is taken.
struct Summands {
  double step = 1;
  bool hasNegative = true;
  /// Number of summed values; 1 if the step includes it.
  double count = 1;
  /// Set if the values are stored codes and all sums have the same number of
  /// them.
  std::optional<SumsOfCodes> origin = {};
};

/// Sums and products with numbers that f32 computes one after the other, and
/// may round each time, from integers of a range that is small enough to try
/// all of them.
struct FloatHistory {
  /// An i32 value in [low, high] that represents exactly `step` times itself.
  mlir::Value base;
  double step = 1;
  int64_t low = 0, high = 0;
  /// Largest magnitude of all integers in the range of the stored types.
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

  /// Returns the result of f32 arithmetic for an integer.
  float compute(int64_t integer, size_t channel) const;
  /// Returns whether f32 rounds any result.
  bool isRounded(size_t numChannels) const;
};

/// An i32 (or i48) tensor that represents `scales` times itself.
struct IntegerAccumulator {
  mlir::Value value;
  /// One scale for all elements, or one for each position along the last axis.
  std::vector<double> scales;
  /// Bound on the magnitude of all elements.
  double bound = 0;
  /// Set for a mean of n values if n is not a power of two.
  std::optional<Summands> mean;
  /// Shape of the represented value, with the elements in this order.
  llvm::SmallVector<int64_t> shape;
  /// Set for a sum, which becomes a mean if it is multiplied by 1 / n.
  std::optional<Summands> summands = {};
  std::optional<FloatHistory> history = {};
  /// Set for sums of a fully connected layer.
  bool isFullyConnected = false;
  /// Set for a mean of a pool. If its grid is not that of its values, files
  /// store it as a layer, whose sums all kernels round once.
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

/// Integer forms of the values of a function, and the objects to create them
/// with. The simulated network stays unchanged; integer ops are inserted beside
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
  /// Returns the integers of a point; null if there are none, or if `value` is
  /// not a point.
  const StoredIntegers *findPoint(mlir::Value value) const;
  /// Forgets integers that were computed in a region for values outside it.
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
  /// Encodings used so far, and codes by float value and encoding.
  llvm::UniqueVector<Encoding> encodings;
  std::map<std::pair<void *, size_t>, mlir::Value> codes;
};

/// Deviations from the options in the codes of one point.
struct IntegerDeviations {
  /// Reason why halves are rounded up although the options request otherwise;
  /// empty if there is no deviation.
  llvm::StringRef roundHalfUpReason;
};

/// A request for one point, which ops pass on to the ops that define their
/// operands. Results are remembered in the forms.
class IntegerContext {
public:
  /// Creates a request for a point, whose deviations are written to
  /// `deviations`.
  IntegerContext(IntegerForms &forms, IntegerDeviations &deviations)
      : IntegerContext(forms, deviations, 0) {}

  const IntegerOptions &getOptions() const { return forms.options; }
  IntegerBuilder &getBuilder() { return forms.builder; }
  ConstantEvaluator &getConstants() { return forms.constants; }
  /// Returns the input of the layer norm that ends with this value, which may
  /// be before, between or after its gains and offsets; null if there is none.
  mlir::Value getLayerNormInput(mlir::Value value) const {
    return forms.layerNormInputs.lookup(value);
  }

  /// Returns integers that represent this float value exactly. They are
  /// computed directly after it.
  IntegerOr<StoredIntegers> getStored(mlir::Value value);
  /// Returns sums that represent the value before it is rounded to a grid.
  IntegerOr<IntegerAccumulator> getAccumulator(mlir::Value value);
  /// Returns the codes of the value for a quantizer with this encoding,
  /// computed by ops at the builder's insertion point.
  IntegerOr<mlir::Value> getCodes(mlir::Value value, const Encoding &encoding);
  /// Returns the codes of the value's accumulator.
  IntegerOr<mlir::Value> roundAccumulator(mlir::Value value,
                                          const Encoding &encoding);

  /// Records the reason why halves are rounded up in the codes of the point.
  void noteRoundHalfUp(llvm::StringRef reason) {
    deviations.roundHalfUpReason = reason;
  }

private:
  IntegerContext(IntegerForms &forms, IntegerDeviations &deviations,
                 unsigned depth)
      : forms(forms), deviations(deviations), depth(depth) {}

  /// Returns the same request, one op further away from the point.
  IntegerContext getDeeper() const { return {forms, deviations, depth + 1}; }
  bool isTooDeep() const;
  IntegerOr<StoredIntegers> createStored(mlir::Value value);
  IntegerOr<IntegerAccumulator> createAccumulator(mlir::Value value);
  IntegerOr<mlir::Value> createCodes(mlir::Value value,
                                     const Encoding &encoding);

  IntegerForms &forms;
  IntegerDeviations &deviations;
  /// Number of ops between the point and the requested value.
  const unsigned depth;
};

/// Returns the integers of another encoding, rounded as the options request.
IntegerOr<mlir::Value> requantize(IntegerContext &context,
                                  const StoredIntegers &stored,
                                  const Encoding &encoding);
IntegerOr<mlir::Value> requantize(IntegerContext &context,
                                  const IntegerAccumulator &accumulator,
                                  const Encoding &encoding);

/// Attaches the integer models of the ops of TOSA, and of `tpc.quantize`,
/// whenever those dialects are loaded.
void registerIntegerModels(mlir::DialectRegistry &registry);

} // namespace mct

#include "mct/Conversion/IntegerOp.h.inc"

#endif // MCT_CONVERSION_INTEGERCONTEXT_H
