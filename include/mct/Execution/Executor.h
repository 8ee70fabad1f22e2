// SPDX-License-Identifier: Apache-2.0
//
// Runs a function on tensors in this process: convolutions and matrix products
// are calls of oneDNN, or of kernels for integers; everything else is compiled
// to machine code.
#ifndef MCT_EXECUTION_EXECUTOR_H
#define MCT_EXECUTION_EXECUTOR_H

#include "mct/IR/Preprocessing.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mct::execution {

/// Returns the size in bytes of an element of a tensor in the memory of
/// compiled code: an i48 takes 8. `type` is a number or an index.
int64_t getElementBytes(mlir::Type type);

/// A tensor that is an input, an output or an observed value of a compiled
/// function.
struct TensorSpec {
  /// Name of the argument or value, or its index if it has no name.
  std::string name;
  /// Static type; it holds `Executor::unit()` samples.
  mlir::RankedTensorType type;
  /// Preprocessing of an input that the module records.
  std::optional<Preprocessing> preprocessing = std::nullopt;
};

/// A value, and the op before which it is observed.
struct ObservedBefore {
  mlir::Value value;
  mlir::Operation *op = nullptr;
};

struct CompileOptions {
  /// Symbol of the function to run.
  std::string function = "main";
  /// True if points with parameters quantize; false if they are the identity.
  bool simulateQuantization = true;
  /// Points that behave differently, by unique name: with a null attribute they
  /// are the identity, with another quantizer (`tpc::QuantizerAttrInterface`)
  /// they quantize by that one, regardless of `simulateQuantization`.
  llvm::StringMap<mlir::Attribute> quantizers;
  /// Values of the function to observe. Points among them are observed like
  /// those in `observed`.
  llvm::SmallVector<mlir::Value> observedValues;
  /// More values to observe, by name: unique names of activation points, or
  /// names of ops and arguments (`mct::getName`).
  llvm::SmallVector<std::string> observed;
  /// Also observe every activation point, in program order, after the others.
  bool observeAllPoints = false;
  /// Values of the function to observe right before an op runs, in the stage of
  /// the op; the values are computed before the op, in that stage or an earlier
  /// one. They come last.
  llvm::SmallVector<ObservedBefore> observedBefore;
  /// Ignore names in `observed` that the function does not have; otherwise they
  /// are an error.
  bool ignoreUnknownNames = false;
  /// True if a point is observed after its quantizer, false if before.
  bool observeAfterQuantization = true;
  /// Number of observed values, counted from the first one and all of f32, that
  /// may be changed at run time (`Worker::setEditor`). They divide the function
  /// into stages: such a value is computed in the stage after the last one that
  /// computes an edited value it depends on, and its users run in later stages.
  size_t numEdited = 0;
  /// Operands of ops of the function that may get other values later
  /// (`Executor::replaceConstant`): constants of f32 (or points of such) that
  /// are kernels or biases of primitives.
  llvm::SmallVector<mlir::OpOperand *> replaceable;
  /// Points (`tpc.quantize`) of the function whose quantizer may be replaced
  /// later (`Executor::replaceQuantizer`). Such a point of a constant is that
  /// of a kernel or bias, as above.
  llvm::SmallVector<mlir::Operation *> replaceablePoints;
  /// True if convolutions and matrix products become calls of oneDNN or, for
  /// integers, of our kernels, which compute the same bits. False uses the
  /// upstream lowering for every op, as a reference for tests.
  bool usePrimitives = true;
  /// Samples per unit; 0 derives it from the sizes of the activations.
  int64_t unit = 0;
  /// Keeps the types as they are, whatever their batch: a unit is one call. For
  /// parts of a network, whose arguments need not begin with the batch.
  bool keepTypes = false;
  /// Limit on the memory of the process in bytes; 0: the memory of the machine.
  /// If the chosen units need more, the function is compiled for smaller ones,
  /// and compiling fails if running with one worker needs more. `limitWorkers`
  /// keeps to the limit, too.
  int64_t maxMemory = 0;
};

/// The samples [first, first + count) of all samples of a run.
struct SampleRange {
  int64_t first = 0, count = 0;
};

/// Values of one tensor for some samples, row-major. A boolean takes a byte.
class TensorView {
public:
  TensorView(mlir::Type elementType, const void *data,
             llvm::ArrayRef<int64_t> shape, SampleRange samples)
      : type(elementType), bytes(data), sizes(shape), range(samples) {}

  mlir::Type elementType() const { return type; }
  llvm::ArrayRef<int64_t> shape() const { return sizes; }
  size_t numElements() const {
    size_t count = 1;
    for (int64_t size : sizes)
      count *= size;
    return count;
  }
  /// Returns the values; `T` has the size of an element.
  template <typename T> llvm::ArrayRef<T> values() const {
    return {static_cast<const T *>(bytes), numElements()};
  }
  /// Returns the values of a tensor of f32.
  llvm::ArrayRef<float> floats() const { return values<float>(); }
  /// Returns the range of the samples that the values belong to.
  const SampleRange &samples() const { return range; }

private:
  mlir::Type type;
  const void *bytes;
  llvm::ArrayRef<int64_t> sizes;
  SampleRange range;
};

/// Receives the values of one tensor as they are computed. Only one worker
/// calls an observer, in the order in which that worker runs its units.
class TensorObserver {
public:
  virtual ~TensorObserver();

  /// Receives the valid samples of one unit; `values` is valid during the call.
  virtual void observe(const TensorView &values) = 0;
};

/// Changes the valid samples of one unit of a tensor of f32, given its values
/// and their shape, before any user reads them. Several workers call it at
/// once.
using TensorEditor =
    std::function<void(llvm::MutableArrayRef<float>, llvm::ArrayRef<int64_t>)>;

class RunCache;
class Worker;
struct Program;
struct ReplacedParts;

/// A compiled function, which any number of workers may share.
class Executor {
public:
  ~Executor();

  /// Compiles a function of `module`, which is not changed. Every failure is
  /// one diagnostic at the op at fault. Ops that will be slow get a remark.
  ///
  /// Code that `cache` holds is not compiled again; `cache` may be null.
  ///
  /// The dialects of `registerDependencies` must be loaded in the context.
  static mlir::FailureOr<std::unique_ptr<Executor>>
  compile(mlir::ModuleOp module, const CompileOptions &options = {},
          RunCache *cache = nullptr);
  /// Compiles several functions of `module` at once, one for each element of
  /// `options`: much of the cost of compiling is shared.
  static mlir::FailureOr<std::vector<std::unique_ptr<Executor>>>
  compileAll(mlir::ModuleOp module, llvm::ArrayRef<CompileOptions> options,
             RunCache *cache = nullptr);

  /// Registers everything that `compile` needs in the context: dialects,
  /// interfaces and translations. For `getDependentDialects` of passes that
  /// compile.
  static void registerDependencies(mlir::DialectRegistry &registry);

  llvm::ArrayRef<TensorSpec> inputs() const;
  llvm::ArrayRef<TensorSpec> outputs() const;
  /// Returns the observed tensors, in the order of `CompileOptions::observed`.
  llvm::ArrayRef<TensorSpec> observed() const;

  /// Returns the number of samples per call of `Worker::run`. It depends on the
  /// model alone, so that the choice of primitives never depends on threads or
  /// batch sizes.
  int64_t unit() const;
  /// Returns whether a unit may hold fewer valid samples than `unit()`: false
  /// if the function has a fixed batch that could not be followed through its
  /// ops.
  bool allowsPartialUnits() const;

  /// Name of the op of a primitive, and the implementation that its call uses:
  /// that of oneDNN, or "integer:…".
  struct PrimitiveInfo {
    std::string op;
    std::string implementation;
  };
  llvm::ArrayRef<PrimitiveInfo> primitives() const;

  /// Memory needed to run, in bytes: `shared` for the constants, including
  /// those that oneDNN has packed, and `perWorker` for each worker with its
  /// inputs and outputs.
  struct Memory {
    int64_t shared = 0, perWorker = 0;
  };
  const Memory &memory() const;
  /// Returns the number of workers, at least 1 and at most `most`, whose values
  /// fit into the memory that the constants and the other allocations of the
  /// process leave free below `CompileOptions::maxMemory` or the memory of the
  /// machine.
  int64_t limitWorkers(int64_t most) const;

  /// Returns the number of stages, at least 1.
  unsigned numStages() const;
  /// Returns the stage that computes an observed value.
  unsigned stageOf(size_t observed) const;
  /// Returns whether the stage reads the inputs of the function.
  bool readsInputs(unsigned stage) const;
  /// Returns the size in bytes of the block that `Worker::save` writes after a
  /// stage.
  int64_t savedBytes(unsigned stage) const;
  /// Replaces the values of an operand of `CompileOptions::replaceable`, given
  /// by its index; `values` has as many elements as before and is used as it
  /// is, without quantization. Nothing is compiled again. No worker may run
  /// meanwhile; existing workers see the new values. Fails if oneDNN does.
  llvm::Error replaceConstant(size_t replaceable, llvm::ArrayRef<float> values);
  /// Replaces the quantizer of a point of `CompileOptions::replaceablePoints`,
  /// given by its index, by another one (`tpc::QuantizerAttrInterface`), or by
  /// the identity if it is null. (With the identity, sums may differ in the
  /// last bit from those of a network without the point, where one call of
  /// oneDNN may do more.) Otherwise like `replaceConstant`. Fails unless the
  /// quantizer has one parameter, or one for each channel.
  llvm::Error replaceQuantizer(size_t point, mlir::Attribute quantizer);
  /// Returns the stage in which such a point quantizes; for a constant, the
  /// first stage that reads its value.
  unsigned stageOfPoint(size_t point) const;

  /// Returns the number of compiled pieces of code, including those from the
  /// cache; equal parts of networks share one.
  size_t numCompiledParts() const;

  /// Returns how often planning the steps visited an op, a value or a buffer.
  /// For tests, which check that it is proportional to the size of the
  /// function.
  size_t numVisits() const;

  /// Returns the instruction sets of the compiled code and of oneDNN on this
  /// machine, for reports: results may differ in the last bits between
  /// instruction sets.
  static std::string instructionSet();

private:
  friend class Worker;
  friend class Replacements;
  explicit Executor(std::unique_ptr<Program> program);
  std::unique_ptr<Program> program;
};

/// Constants and quantizers that workers use in place of the executor's
/// (`Worker::setReplacements`). The executor's are used for everything that is
/// not replaced.
class Replacements {
public:
  explicit Replacements(const Executor &executor);
  ~Replacements();
  Replacements(Replacements &&);

  /// Replace like the functions of the executor. No worker that uses these
  /// replacements may run meanwhile; others may.
  llvm::Error replaceConstant(size_t replaceable, llvm::ArrayRef<float> values);
  llvm::Error replaceQuantizer(size_t point, mlir::Attribute quantizer);

private:
  friend class Worker;
  const Program &program;
  std::unique_ptr<ReplacedParts> parts;
};

/// Runs an executor, one unit at a time, on the calling thread. Several workers
/// may run at the same time; one worker may move between threads.
class Worker {
public:
  explicit Worker(const Executor &executor);
  ~Worker();
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  /// Sets the observer of the observed tensor with index `observed`; null:
  /// none.
  void setObserver(size_t observed, TensorObserver *observer);

  /// Uses the replacements (null: none) in all later runs. The caller owns
  /// them.
  void setReplacements(const Replacements *replacements);

  /// Computes one unit. `inputs` and `outputs` point to whole units of the
  /// types in `Executor::inputs()` and `outputs()`, aligned for their element
  /// type. Only the first `validSamples` are valid: observers get no others,
  /// and get `firstSample` as the index of the first one.
  ///
  /// Fails, naming the op, if there is not enough memory for the worker, if an
  /// index lies outside its tensor, and for an integer division without a
  /// result; `outputs` are undefined then.
  llvm::Error run(llvm::ArrayRef<const void *> inputs,
                  llvm::ArrayRef<void *> outputs, int64_t validSamples,
                  int64_t firstSample = 0);

  /// Sets the editor (empty: none) of the observed tensor with index
  /// `observed`, one of the first `CompileOptions::numEdited`. It runs after
  /// the observer.
  void setEditor(size_t observed, TensorEditor editor);
  /// Computes the stages [first, last] of a unit. The values of the stages
  /// before `first` are loaded from `saved`, or, if it is null, are those that
  /// this worker has just computed. Editors of saved values change them now.
  /// With `untilObserved`, steps after the last value that an observer receives
  /// are skipped; nothing can be saved then.
  llvm::Error runStages(unsigned first, unsigned last, const char *saved,
                        llvm::ArrayRef<const void *> inputs,
                        llvm::ArrayRef<void *> outputs, SampleRange samples,
                        bool untilObserved = false);
  /// Writes the values of the stages up to `stage` that later stages read:
  /// codes for the results of quantizers, values for everything else.
  void save(unsigned stage, char *to) const;

  /// Return the seconds spent in oneDNN, and in all calls of `run`, since the
  /// start. The first is only measured after `measurePrimitives()`.
  double primitiveSeconds() const;
  double totalSeconds() const;
  void measurePrimitives();

  /// Returns the number of steps that all calls ran, plus the buffers that they
  /// placed or loaded. For tests, which check that it is proportional to the
  /// stages that were run.
  size_t numVisits() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace mct::execution

#endif // MCT_EXECUTION_EXECUTOR_H
