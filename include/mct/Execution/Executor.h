// SPDX-License-Identifier: Apache-2.0
//
// Runs a function on tensors in this process: convolutions and matrix products
// are calls of oneDNN, or of kernels for integers, what lies between is
// compiled to machine code.
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

/// Returns the size in bytes of an element of a tensor in memory, as compiled
/// code has it: an i48 takes 8. `type` is a number or an index.
int64_t getElementBytes(mlir::Type type);

/// One tensor that crosses the boundary of a compiled function.
struct TensorSpec {
  /// Name of the argument or value, or its index when it has no name.
  std::string name;
  /// Static type; it holds `Executor::unit()` samples.
  mlir::RankedTensorType type;
  /// Preprocessing of an input that the module records.
  std::optional<Preprocessing> preprocessing = std::nullopt;
};

/// A value, and the op in front of which it is observed.
struct ObservedBefore {
  mlir::Value value;
  mlir::Operation *op = nullptr;
};

struct CompileOptions {
  /// Symbol of the function to run.
  std::string function = "main";
  /// Points with parameters quantize (true) or are the identity (false).
  bool simulateQuantization = true;
  /// Points that do something else, by unique name: with null they are the
  /// identity, with another quantizer (`tpc::QuantizerAttrInterface`) they
  /// quantize by that one, whatever `simulateQuantization` says of the others.
  llvm::StringMap<mlir::Attribute> quantizers;
  /// Values of the function to observe. Points among them are observed like
  /// those in `observed`.
  llvm::SmallVector<mlir::Value> observedValues;
  /// More values to observe, by name: unique names of activation points, or
  /// names of ops and arguments (`mct::getName`).
  llvm::SmallVector<std::string> observed;
  /// Observe every activation point, in program order, after the others.
  bool observeAllPoints = false;
  /// Values of the function to observe when an op of it is about to run, in the
  /// stage of the op; they are made before it, in that stage or an earlier one.
  /// They come last.
  llvm::SmallVector<ObservedBefore> observedBefore;
  /// Names in `observed` that the function does not have are left out instead
  /// of being an error.
  bool ignoreUnknownNames = false;
  /// A point is observed behind (true) or before (false) its quantizer.
  bool observeAfterQuantization = true;
  /// Count of observed values, from the first on and all of f32, that may be
  /// changed at run time (`Worker::setEditor`). They cut it into stages: such a
  /// value is made in the stage behind the last one that makes such a value it
  /// depends on, and what reads it runs in later stages.
  size_t numEdited = 0;
  /// Operands of ops of the function, constants of f32 (or points of such),
  /// that may get other values later (`Executor::replaceConstant`): primitives
  /// and biases.
  llvm::SmallVector<mlir::OpOperand *> replaceable;
  /// Points (`tpc.quantize`) of the function whose quantizer may become another
  /// one later (`Executor::replaceQuantizer`). Such a point of a constant is
  /// one of a kernel or bias, as above.
  llvm::SmallVector<mlir::Operation *> replaceablePoints;
  /// Convolutions and matrix products become calls of oneDNN, and of integers
  /// calls of our kernels, which compute the same bits. False takes the
  /// upstream lowering for every op: the reference of the tests.
  bool usePrimitives = true;
  /// Samples per unit; 0 chooses it from the sizes of the activations.
  int64_t unit = 0;
  /// Types stay as they are, whatever their batch: a unit is one call. For
  /// parts of a network, whose arguments need not begin with the batch.
  bool keepTypes = false;
  /// Bytes that the process may have; 0: what the machine has. Compiling takes
  /// smaller units where the chosen ones need more, and fails when running
  /// needs more with one worker. `numWorkers` keeps to it, too.
  int64_t maxMemory = 0;
};

/// Samples [first, first + count) of all that a network is run on.
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
  /// Returns the samples that the values belong to.
  const SampleRange &samples() const { return range; }

private:
  mlir::Type type;
  const void *bytes;
  llvm::ArrayRef<int64_t> sizes;
  SampleRange range;
};

/// Receives the values of one tensor as they are computed. One worker at a time
/// calls it, in the order in which that worker runs its units.
class TensorObserver {
public:
  virtual ~TensorObserver();

  /// Receives the valid samples of one unit; `values` is valid during the call.
  virtual void observe(const TensorView &values) = 0;
};

/// Changes the valid samples of one unit of a tensor of f32, which has the
/// shape, before anything else reads them. Several workers call it at once.
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
  /// `cache` (null: none): code that it has is not compiled again.
  ///
  /// The dialects of `registerDependencies` must be loaded in the context.
  static mlir::FailureOr<std::unique_ptr<Executor>>
  compile(mlir::ModuleOp module, const CompileOptions &options = {},
          RunCache *cache = nullptr);
  /// Compiles several functions of `module` at once, one for each element of
  /// `options`: much of what compiling costs is the same for one and for all.
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

  /// Returns the samples per call of Worker::run. They depend on the model
  /// alone, so that the choice of primitives never depends on threads or batch
  /// sizes.
  int64_t unit() const;
  /// Returns whether a unit may hold fewer valid samples than `unit()`: false
  /// when the function has a fixed batch that could not be followed through its
  /// ops.
  bool allowsPartialUnits() const;

  /// Implementation, of oneDNN or "integer:…", that the call of a primitive
  /// uses, and the name of its op.
  struct PrimitiveInfo {
    std::string op;
    std::string implementation;
  };
  llvm::ArrayRef<PrimitiveInfo> primitives() const;

  /// Sizes in bytes that running takes: of the constants, with those that
  /// oneDNN has packed, and of each worker with its inputs and outputs.
  struct Memory {
    int64_t shared = 0, perWorker = 0;
  };
  const Memory &memory() const;
  /// Returns the number of workers, at least 1 and at most `most`, whose values
  /// fit into what `CompileOptions::maxMemory`, or the memory of the machine,
  /// leaves beside the constants and all else that the process has by now.
  int64_t limitWorkers(int64_t most) const;

  /// Returns the number of stages, at least 1.
  unsigned numStages() const;
  /// Returns the stage that makes an observed value.
  unsigned stageOf(size_t observed) const;
  /// Returns whether the stage reads the inputs of the function.
  bool readsInputs(unsigned stage) const;
  /// Returns the size in bytes of what `Worker::save` writes behind a stage.
  int64_t savedBytes(unsigned stage) const;
  /// Gives an operand of `CompileOptions::replaceable`, by its index, other
  /// values: as many as it has, as they are read (nothing quantizes them).
  /// Nothing is compiled again. No worker runs meanwhile; those that there are
  /// see the new values. Fails where oneDNN does.
  llvm::Error replaceConstant(size_t replaceable, llvm::ArrayRef<float> values);
  /// Gives a point of `CompileOptions::replaceablePoints`, by its index,
  /// another quantizer (`tpc::QuantizerAttrInterface`), or none (null): then it
  /// is the identity (sums may differ in the last bit from those of a network
  /// without the point, where one call of oneDNN may do more). Otherwise as
  /// replaceConstant. Fails where the quantizer has not one parameter, or one
  /// for each channel.
  llvm::Error replaceQuantizer(size_t point, mlir::Attribute quantizer);
  /// Returns the stage in which such a point quantizes; for a constant, the
  /// first that reads its value.
  unsigned stageOfPoint(size_t point) const;

  /// Returns the number of pieces of code that were compiled, those in the
  /// cache included; equal parts of networks share one.
  size_t numCompiledParts() const;

  /// Returns how often planning the steps looked at an op, a value or a buffer:
  /// in proportion to the function, for tests.
  size_t numVisits() const;

  /// Returns the instruction sets of the compiled code and oneDNN on this
  /// machine, for reports: results may differ in the last bits between
  /// instruction sets.
  static std::string instructionSet();

private:
  friend class Worker;
  friend class Replacements;
  explicit Executor(std::unique_ptr<Program> program);
  std::unique_ptr<Program> program;
};

/// Other constants and quantizers than an executor has, for the workers that
/// are told to take them (`Worker::setReplacements`). What is not replaced is
/// the executor's.
class Replacements {
public:
  explicit Replacements(const Executor &executor);
  ~Replacements();
  Replacements(Replacements &&);

  /// Replace like the functions of the executor. No worker that takes the
  /// replacements runs meanwhile; others may.
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

  /// Lets `observer` (null: none) receive the observed tensor with that index.
  void setObserver(size_t observed, TensorObserver *observer);

  /// Uses the replacements (null: none) in all later runs. The caller owns
  /// them.
  void setReplacements(const Replacements *replacements);

  /// Computes one unit. `inputs` and `outputs` point to whole units of the
  /// types in `Executor::inputs()` and `outputs()`, aligned for their element
  /// type. Only the first `validSamples` are real: observers see no others, and
  /// are told that the first of them is `firstSample`.
  ///
  /// Fails, with the name of the op, when there is no memory for the worker,
  /// when an index lies outside of its tensor, and for an integer division that
  /// has no result; `outputs` are undefined then.
  llvm::Error run(llvm::ArrayRef<const void *> inputs,
                  llvm::ArrayRef<void *> outputs, int64_t validSamples,
                  int64_t firstSample = 0);

  /// Lets `editor` (empty: none) change the observed tensor with that index,
  /// one of the first `CompileOptions::numEdited`, after its observer.
  void setEditor(size_t observed, TensorEditor editor);
  /// Computes the stages [first, last] of a unit. What those before `first`
  /// have made was made by this worker just before, or is loaded from `saved`
  /// (null: not). Editors of values that were saved change them now.
  /// `untilObserved`: what comes behind the last value that an observer
  /// receives is left out; nothing can be saved then.
  llvm::Error runStages(unsigned first, unsigned last, const char *saved,
                        llvm::ArrayRef<const void *> inputs,
                        llvm::ArrayRef<void *> outputs, SampleRange samples,
                        bool untilObserved = false);
  /// Writes what the stages behind `stage` read of those up to it: codes for
  /// what a quantizer has made, the values of everything else.
  void save(unsigned stage, char *to) const;

  /// Return the seconds spent in oneDNN, and in all calls of run, since the
  /// start. The first is only measured after `measurePrimitives()`.
  double primitiveSeconds() const;
  double totalSeconds() const;
  void measurePrimitives();

  /// Returns the number of steps that all calls ran, and of buffers that they
  /// placed or loaded: in proportion to the stages that were run, for tests.
  size_t numVisits() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace mct::execution

#endif // MCT_EXECUTION_EXECUTOR_H
