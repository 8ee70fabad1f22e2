// SPDX-License-Identifier: Apache-2.0
//
// Turns a function into the steps of a program.
#ifndef MCT_LIB_EXECUTION_SCHEDULE_H
#define MCT_LIB_EXECUTION_SCHEDULE_H

#include "MemoryPlan.h"
#include "Parts.h"
#include "Sites.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace mct::execution {

/// Returns the size in bytes of a tensor in memory.
int64_t byteSizeOf(mlir::Type type);
/// Returns whether compiled code and constants hold the elements in the same
/// form.
bool isStoredInBytes(mlir::RankedTensorType type);
/// Returns everything that an op reads, inside of its regions too.
llvm::SetVector<mlir::Value> readsOf(mlir::Operation *op);
/// Returns whether the result of an op is the memory of its operand with
/// another shape.
bool isView(mlir::Operation *op);
/// Returns whether an op has results, and none is a tensor.
bool hasOnlyScalars(mlir::Operation *op);

/// The function's ops in their order become steps: calls of primitives, of
/// compiled parts and of observers. Values are immutable, so what a step may
/// overwrite follows from the last step that reads a buffer, and from nothing
/// else.
///
/// The function has one block, static shapes and no attribute that matters; it
/// is ours to change.
class Scheduler {
public:
  /// `observed`: the values that observers see, by their numbers, each when the
  /// op in `readers` is about to read it, or, where that is null, when it is
  /// made; `numEdited`, `replaceable` and `replaceablePoints` as in
  /// CompileOptions, in this function; `hosts`: the ops of `Program::hosts`.
  Scheduler(mlir::func::FuncOp function, Program &program, PartSet &parts,
            bool simulate, llvm::ArrayRef<mlir::Value> observed,
            llvm::ArrayRef<mlir::Operation *> readers, size_t numEdited,
            llvm::ArrayRef<mlir::OpOperand *> replaceable,
            llvm::ArrayRef<tpc::QuantizeOp> replaceablePoints,
            llvm::ArrayRef<mlir::Operation *> hosts);

  /// Finds primitives (if `usePrimitives`) and parts.
  mlir::LogicalResult schedule(bool usePrimitives);

  /// When the parts are linalg: decides what is updated in place, and where the
  /// values lie.
  mlir::LogicalResult placeValues();

private:
  struct Planned {
    Step step;
    /// Indices of the buffers that the step reads and writes.
    llvm::SmallVector<unsigned, 4> reads, writes;
    /// Set for parts: the index in the part set, and whether it overwrites an
    /// operand.
    size_t part = 0;
    bool isUpdate = false;
  };

  /// Returns the observed values that may change.
  llvm::ArrayRef<mlir::Value> edited() const {
    return llvm::ArrayRef(observed).take_front(numEdited);
  }
  mlir::LogicalResult describePoints();
  void separateReplaceable();
  mlir::LogicalResult findReplaceable();
  void sortByStage();
  mlir::LogicalResult observe(mlir::Value value);
  /// Returns the first and last step that touches each buffer.
  std::vector<BufferLife> findLives();
  /// Returns the operand whose buffer a planned step may overwrite, or none.
  std::optional<unsigned>
  findUpdatedOperand(size_t number, llvm::ArrayRef<BufferLife> lives) const;
  /// Lets steps overwrite operands that nothing reads later; returns the buffer
  /// whose memory each buffer takes.
  std::vector<unsigned> updateInPlace(std::vector<BufferLife> &lives);
  /// Makes results in the caller's memory where nothing else wants to be.
  void writeResultsInPlace();
  /// Places the buffers of a worker in its block.
  mlir::LogicalResult placeBlocks(llvm::ArrayRef<BufferLife> lives,
                                  llvm::ArrayRef<unsigned> place);
  /// Cuts the steps, which are in their order, and finds what crosses each cut.
  void divideIntoStages();
  void markConstants();
  void markNeeded();
  void formGroups();
  mlir::LogicalResult scheduleOp(mlir::Operation *op);
  mlir::LogicalResult schedulePart(mlir::Operation *root);
  void scheduleObserver(size_t number, unsigned buffer);
  void scheduleObservers(mlir::Value value);
  std::optional<ConstantTensor> quantizeConstant(tpc::QuantizeOp point,
                                                 const ConstantTensor &input);
  bool hasSingleReader(tpc::QuantizeOp point);
  Planned &add(Step::Kind kind, size_t index, mlir::Operation *op);

  /// Returns whether a part has a copy of the constant, or scalar, that `value`
  /// is.
  bool isCloned(mlir::Value value, mlir::Operation *user) const;
  unsigned newBuffer(mlir::Value value, ProgramBuffer::Place place,
                     int64_t index = 0);
  /// Returns the buffer of a value that is computed already or constant.
  mlir::FailureOr<unsigned> bufferOf(mlir::Value value);
  mlir::FailureOr<unsigned> addConstant(mlir::Value value,
                                        llvm::ArrayRef<char> data);
  bool canMerge(mlir::Operation *producer, mlir::Operation *user) const;

  /// Adds to the number of things looked at, `Program::numVisits`.
  void visit(size_t count = 1) { program.numVisits += count; }

  mlir::func::FuncOp function;
  Program &program;
  PartSet &parts;
  bool simulate;
  llvm::SmallVector<mlir::Value> observed;
  llvm::SmallVector<mlir::Operation *> readers;
  size_t numEdited;
  /// Indices in `observed`, by value.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<size_t, 1>> observers;
  /// The values of `edited`.
  llvm::DenseSet<mlir::Value> changing;
  llvm::SmallVector<mlir::OpOperand *> replaceable;
  llvm::SmallVector<tpc::QuantizeOp> replaceablePoints;
  /// Indices of the ops that the program around us computes.
  llvm::DenseMap<mlir::Operation *, size_t> hosts;
  /// Results of these ops for constants, by the same indices.
  llvm::DenseMap<size_t, std::vector<float>> hostConstants;
  /// The point whose computation failed, and its error.
  tpc::QuantizeOp failedPoint;
  std::string hostError;
  /// Indices of the replaceable points that quantize computed values.
  llvm::DenseMap<mlir::Operation *, size_t> pointNumbers;
  /// The values that `replaceable` reads, which nothing else reads.
  llvm::DenseSet<mlir::Value> replaceableValues;
  /// The stage that is being scheduled.
  unsigned stage = 0;
  llvm::DenseMap<mlir::Operation *, unsigned> stageOf;
  ConstantEvaluator constants;
  std::optional<SiteFinder> sites;

  /// Values that are the same in every run.
  llvm::DenseSet<mlir::Value> constantValues;
  llvm::DenseSet<mlir::Operation *> needed;
  /// Values that have a buffer, because somebody besides their part reads them.
  llvm::DenseSet<mlir::Value> kept;
  /// The last ops of the parts that an op is in.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *, 1>>
      rootsOf;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *, 4>>
      members;
  llvm::DenseMap<mlir::Value, unsigned> buffers;
  /// Indices of the planned steps that write the buffers.
  llvm::DenseMap<unsigned, size_t> makerOf;
  std::vector<Planned> planned;
};

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_SCHEDULE_H
