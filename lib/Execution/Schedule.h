// SPDX-License-Identifier: Apache-2.0
//
// Converts a function to the steps of a program.
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
/// Returns whether compiled code and constants store the elements in the same
/// form.
bool isStoredInBytes(mlir::RankedTensorType type);
/// Returns all values that an op reads, including those read in its regions.
llvm::SetVector<mlir::Value> findReads(mlir::Operation *op);
/// Returns whether the result of an op is the memory of its operand with
/// another shape.
bool isView(mlir::Operation *op);
/// Returns whether an op has results, none of which is a tensor.
bool hasOnlyScalars(mlir::Operation *op);

/// Converts the function's ops, in their order, to steps: calls of primitives,
/// of compiled parts and of observers. Values are immutable, so that a step may
/// overwrite a buffer if and only if it is the last step that reads it.
///
/// The function has one block, static shapes and no relevant attributes; the
/// scheduler changes it.
class Scheduler {
public:
  /// `observed` has the values for observers, by index; each is observed before
  /// the op in `users` reads it, or, if that is null, when it is computed.
  /// `numEdited`, `replaceable` and `replaceablePoints` are as in
  /// CompileOptions, in this function; `hosts` has the ops of `Program::hosts`.
  Scheduler(mlir::func::FuncOp function, Program &program, PartSet &parts,
            bool simulate, llvm::ArrayRef<mlir::Value> observed,
            llvm::ArrayRef<mlir::Operation *> users, size_t numEdited,
            llvm::ArrayRef<mlir::OpOperand *> replaceable,
            llvm::ArrayRef<tpc::QuantizeOp> replaceablePoints,
            llvm::ArrayRef<mlir::Operation *> hosts);

  /// Finds primitives (if `usePrimitives`) and parts.
  mlir::LogicalResult schedule(bool usePrimitives);

  /// Decides which values are updated in place, and places all values. Requires
  /// that the parts are linalg.
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
  /// Returns the first and last step that uses each buffer.
  std::vector<BufferLife> findLives();
  /// Returns the operand whose buffer a planned step may overwrite, or none.
  std::optional<unsigned>
  findUpdatedOperand(size_t number, llvm::ArrayRef<BufferLife> lives) const;
  /// Lets steps overwrite operands that nothing reads later; returns for each
  /// buffer the one whose memory it takes.
  std::vector<unsigned> updateInPlace(std::vector<BufferLife> &lives);
  /// Writes results directly to the caller's memory where that is possible.
  void writeResultsInPlace();
  /// Places the buffers of a worker in its block.
  mlir::LogicalResult placeBlocks(llvm::ArrayRef<BufferLife> lives,
                                  llvm::ArrayRef<unsigned> place);
  /// Divides the steps, which are in order, and finds the values that cross
  /// each division.
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
  bool hasSingleUser(tpc::QuantizeOp point);
  Planned &add(Step::Kind kind, size_t index, mlir::Operation *op);

  /// Returns whether a part has its own copy of the constant, or scalar,
  /// `value`.
  bool isCloned(mlir::Value value, mlir::Operation *user) const;
  unsigned newBuffer(mlir::Value value, ProgramBuffer::Place place,
                     int64_t index = 0);
  /// Returns the buffer of a value that is computed already or constant.
  mlir::FailureOr<unsigned> getBuffer(mlir::Value value);
  mlir::FailureOr<unsigned> addConstant(mlir::Value value,
                                        llvm::ArrayRef<char> data);
  bool canMerge(mlir::Operation *producer, mlir::Operation *user) const;

  /// Adds to the number of visits, `Program::numVisits`.
  void visit(size_t count = 1) { program.numVisits += count; }

  mlir::func::FuncOp function;
  Program &program;
  PartSet &parts;
  bool simulate;
  llvm::SmallVector<mlir::Value> observed;
  llvm::SmallVector<mlir::Operation *> users;
  size_t numEdited;
  /// Indices in `observed`, by value.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<size_t, 1>> observers;
  /// The values of `edited`.
  llvm::DenseSet<mlir::Value> changing;
  llvm::SmallVector<mlir::OpOperand *> replaceable;
  llvm::SmallVector<tpc::QuantizeOp> replaceablePoints;
  /// Indices of the ops that the calling program computes.
  llvm::DenseMap<mlir::Operation *, size_t> hosts;
  /// Results of these ops for constants, by the same indices.
  llvm::DenseMap<size_t, std::vector<float>> hostConstants;
  /// The point whose computation failed, and its error.
  tpc::QuantizeOp failedPoint;
  std::string hostError;
  /// Indices of the replaceable points that quantize computed values.
  llvm::DenseMap<mlir::Operation *, size_t> pointNumbers;
  /// The values that `replaceable` reads, which have no other users.
  llvm::DenseSet<mlir::Value> replaceableValues;
  /// The stage that is being scheduled.
  unsigned stage = 0;
  llvm::DenseMap<mlir::Operation *, unsigned> stageOf;
  ConstantEvaluator constants;
  std::optional<SiteFinder> sites;

  /// Values that are the same in every run.
  llvm::DenseSet<mlir::Value> constantValues;
  llvm::DenseSet<mlir::Operation *> needed;
  /// Values that have a buffer, because they have users outside their part.
  llvm::DenseSet<mlir::Value> kept;
  /// The last ops of the parts that contain an op.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *, 1>>
      mergedRoots;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *, 4>>
      members;
  llvm::DenseMap<mlir::Value, unsigned> buffers;
  /// Indices of the planned steps that write the buffers.
  llvm::DenseMap<unsigned, size_t> producers;
  std::vector<Planned> planned;
};

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_SCHEDULE_H
