// SPDX-License-Identifier: Apache-2.0
//
// The program that compilation produces and workers run.
#ifndef MCT_LIB_EXECUTION_PROGRAM_H
#define MCT_LIB_EXECUTION_PROGRAM_H

#include "IntegerKernels.h"
#include "Moving.h"
#include "Pooling.h"
#include "Primitives.h"
#include "mct/Execution/Executor.h"
#include "mct/IR/HostQuantizers.h"
#include "mct/Quantizers/TensorQuantizer.h"
#include "mct/Support/AlignedBuffer.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <vector>

namespace mlir {
class ExecutionEngine;
} // namespace mlir

namespace mct::execution {

/// A quantizer with parameters, as a function on a buffer.
struct QuantizeSite {
  /// Null for the identity.
  std::shared_ptr<const quantization::TensorQuantizer> quantizer;
  llvm::SmallVector<int64_t> shape, axes;
  /// The grid, if one holds for the whole tensor and is never replaced.
  std::optional<quantization::Grid> grid;

  void run(const float *input, float *output) const;
};

/// Shape of a tensor as a function of the number of samples.
struct FollowedShape {
  llvm::SmallVector<int64_t> shape;
  size_t batchDimension = 0;
  int64_t rowsPerSample = 1;
  /// True if the batch dimension is known.
  bool followed = false;

  llvm::SmallVector<int64_t> withSamples(int64_t samples) const;
};

/// Prefix of the implementation that `Executor::primitives` names for a call of
/// the calling program.
inline constexpr llvm::StringLiteral kHostImplementation = "host:";

/// A quantizer that the calling program runs, or its gradient.
struct HostSite {
  std::shared_ptr<HostQuantizer> quantizer;
  FollowedShape shape;
  bool isGradient = false;
  /// True if the function computes the quantizer's gradient.
  bool isTraining = false;

  /// Runs the quantizer, or its gradient, which needs `gradients`; otherwise
  /// they may be null.
  llvm::Error run(const float *values, const float *gradients, float *result,
                  int64_t samples) const;
};

/// A point whose quantizer may be replaced.
struct ReplaceablePoint {
  /// Name, for errors.
  std::string name;
  int64_t numChannels = 1;
  unsigned stage = 0;
  /// Index of the quantizer of a value that a step computes; none if nothing
  /// reads it.
  std::optional<size_t> site;
  /// Indices of constants that are all quantized from `values`.
  llvm::SmallVector<size_t, 1> constants;
  std::vector<float> values;
  llvm::SmallVector<int64_t> shape, axes;
};

/// A piece of compiled code.
struct CompiledPart {
  /// Takes the addresses of its arguments: pointers to the tensors it reads,
  /// then to those it writes.
  void (*entry)(void **) = nullptr;
  /// Size in bytes of each of these tensors.
  llvm::SmallVector<int64_t, 4> argumentBytes;
  /// Number of bytes that it may allocate while it runs.
  int64_t temporaryBytes = 0;
  /// True if it may call a check or allocate, and thus be left early.
  bool canFail = false;
};

/// One operation on buffers.
struct Step {
  enum class Kind {
    Primitive,
    Integer,
    AveragePool,
    MaximumPool,
    MaximumPoolBytes,
    Move,
    Quantize,
    Host,
    Observe,
    Part,
    Copy
  };
  Kind kind = Kind::Part;
  /// Index in the program's list of that kind.
  size_t index = 0;
  /// Buffers that are read, followed by those that are written. A buffer that a
  /// part updates in place is only listed among the written ones.
  llvm::SmallVector<unsigned, 4> buffers;
  /// The first buffer that is written, if there is one.
  std::optional<unsigned> result;
  /// Number of blocks of its buffers for which a part is called, and the size
  /// in bytes of a block of each buffer.
  int64_t numBlocks = 1;
  llvm::SmallVector<int64_t, 4> blockBytes;
  /// Quantizer that runs on the result while it is in the cache.
  std::optional<size_t> quantizer;
  /// The op and its name, for errors.
  std::string op;
  unsigned stage = 0;
};

/// A buffer whose values outlive a stage.
struct SavedBuffer {
  unsigned buffer = 0;
  int64_t bytes = 0;
  /// Offset at which it is saved.
  int64_t offset = 0;
  /// Grid whose levels include all values, and size in bytes of the saved
  /// codes.
  std::optional<quantization::Grid> grid;
  unsigned codeBytes = 0;
  /// The observed values that it holds, if they were computed in the stage.
  llvm::SmallVector<size_t, 1> observed;
};

struct Stage {
  /// The steps [begin, end).
  size_t begin = 0, end = 0;
  bool readsInputs = false;
  /// Buffers that later stages read, and their size.
  std::vector<SavedBuffer> saved;
  int64_t savedBytes = 0;
};

/// Memory for one value at a time.
struct ProgramBuffer {
  enum class Place { Input, Output, Constant, Block };
  Place place = Place::Block;
  /// Index of the input, output or constant; or the offset in a worker's block.
  int64_t index = 0;
  int64_t bytes = 0;
};

/// A constant that steps read.
struct ConstantBuffer {
  /// Aligned for every vector type. Other programs may share it, unless it may
  /// be replaced.
  std::shared_ptr<char> data;
};

/// A constant that may be replaced.
struct ReplaceableConstant {
  enum class Place { Weights, Bias, Buffer };
  Place place = Place::Buffer;
  /// Index of the primitive, or of the constant.
  size_t index = 0;
  int64_t elements = 0;
};

/// Replacements of parts of a program, by their indices there.
struct ReplacedParts {
  llvm::DenseMap<size_t, PackedConstant> weights, biases;
  llvm::DenseMap<size_t, support::AlignedBuffer> constants;
  llvm::DenseMap<size_t, QuantizeSite> quantizers;
};

struct Program {
  std::vector<TensorSpec> inputs, outputs, observed;
  /// Elements per sample of each observed tensor; leading sizes of 1 before the
  /// batch stay, so that only one size depends on the number of samples.
  std::vector<FollowedShape> observedShapes;
  int64_t unit = 1;
  bool allowsPartialUnits = true;

  PrimitiveSet primitives;
  std::vector<std::unique_ptr<IntegerKernel>> integers;
  std::vector<PoolingShape> pools;
  std::vector<MovingShape> moves;
  std::vector<QuantizeSite> quantizers;
  std::vector<HostSite> hosts;
  std::vector<ConstantBuffer> constants;
  std::vector<ReplaceableConstant> replaceable;
  std::vector<ReplaceablePoint> replaceablePoints;
  std::vector<Executor::PrimitiveInfo> primitiveInfos;

  /// The steps of a worker, in order.
  std::vector<Step> steps;
  std::vector<Stage> stages;
  std::vector<unsigned> stageOfObserved;
  std::vector<ProgramBuffer> buffers;
  /// Compiled parts, by the indices in the steps; shared by programs that were
  /// compiled together.
  std::shared_ptr<const std::vector<CompiledPart>> parts;
  /// Size in bytes of each worker's block.
  int64_t blockBytes = 0;
  /// Size in bytes of the memory that an integer kernel needs while it runs; a
  /// multiple of a page.
  int64_t scratchBytes = 0;
  Executor::Memory memory;
  int64_t maxMemory = 0;
  /// See Executor::numVisits.
  size_t numVisits = 0;

  /// Engines that hold the code; shared by programs that were compiled
  /// together.
  std::vector<std::shared_ptr<mlir::ExecutionEngine>> engines;
};

/// Functions that compiled code calls.
extern "C" {
void *mctExecutionAllocate(uint64_t bytes);
void *mctExecutionAlignedAllocate(uint64_t alignment, uint64_t bytes);
void mctExecutionFree(void *pointer);
/// Leaves the compiled code with an error unless 0 <= index < size.
void mctExecutionCheckIndex(int64_t index, int64_t size);
/// Leaves the compiled code with an error unless the quotient is defined.
void mctExecutionCheckDivision(bool isDefined);
}

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_PROGRAM_H
