// SPDX-License-Identifier: Apache-2.0
//
// What compilation produces and workers read.
#ifndef MCT_LIB_EXECUTION_PROGRAM_H
#define MCT_LIB_EXECUTION_PROGRAM_H

#include "IntegerKernels.h"
#include "Moving.h"
#include "Pooling.h"
#include "Primitives.h"
#include "mct/Execution/Executor.h"
#include "mct/IR/HostQuantizers.h"
#include "mct/Quantization/TensorQuantizer.h"
#include "mct/Support/AlignedBuffer.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace mct::execution {

/// A quantizer with parameters, as a function on a buffer.
struct QuantizeSite {
  /// Null: the identity.
  std::shared_ptr<const quantization::TensorQuantizer> quantizer;
  llvm::SmallVector<int64_t> shape, axes;
  /// The grid when there is one for the whole tensor, and always this one.
  std::optional<quantization::Grid> grid;

  void run(const float *input, float *output) const;
};

/// Sizes of a tensor for any number of samples.
struct FollowedShape {
  llvm::SmallVector<int64_t> shape;
  size_t batchDimension = 0;
  int64_t rowsPerSample = 1;
  /// Whether the batch dimension is known.
  bool followed = false;

  llvm::SmallVector<int64_t> withSamples(int64_t samples) const;
};

/// What `Executor::primitives` says of a call of the program around us, in
/// front of its name.
inline constexpr llvm::StringLiteral kHostImplementation = "host:";

/// A quantizer that the program around us runs, or its gradient.
struct HostSite {
  std::shared_ptr<HostQuantizer> quantizer;
  FollowedShape shape;
  bool isGradient = false;
  /// The function computes the quantizer's gradient.
  bool isTraining = false;

  /// Gradients: `values` and `gradients`, which may be null otherwise.
  llvm::Error run(const float *values, const float *gradients, float *result,
                  int64_t samples) const;
};

/// A point that may get another quantizer.
struct ReplaceablePoint {
  /// Name, for errors.
  std::string name;
  int64_t numChannels = 1;
  unsigned stage = 0;
  /// Quantizes a value that a step makes; none where nobody reads it.
  std::optional<size_t> site;
  /// Or constants, by their numbers, which are all quantized from `values`.
  llvm::SmallVector<size_t, 1> constants;
  std::vector<float> values;
  llvm::SmallVector<int64_t> shape, axes;
};

/// A piece of compiled code.
struct CompiledPart {
  /// Takes the addresses of its arguments: pointers to the tensors it reads,
  /// then to those it writes.
  void (*entry)(void **) = nullptr;
  /// Bytes of each of these tensors.
  llvm::SmallVector<int64_t, 4> argumentBytes;
  /// Bytes that it may allocate while it runs.
  int64_t temporaryBytes = 0;
  /// Whether it may call `mctExecutionFail...` or allocate: then it may be left
  /// before its end.
  bool canFail = false;
};

/// One thing that is done to buffers.
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
  /// In the program's list of that kind.
  size_t index = 0;
  /// Buffers that are read, then those that are written. One that a part
  /// updates in place is only listed among the written ones.
  llvm::SmallVector<unsigned, 4> buffers;
  /// The first buffer that is written, if there is one.
  std::optional<unsigned> result;
  /// A part is called for so many blocks of its buffers, one behind the other,
  /// of these bytes each.
  int64_t numBlocks = 1;
  llvm::SmallVector<int64_t, 4> blockBytes;
  /// Quantizer that runs on the result while it is in the cache.
  std::optional<size_t> quantizer;
  /// For errors: the op and its name.
  std::string op;
  unsigned stage = 0;
};

/// A buffer whose values outlive a stage.
struct SavedBuffer {
  unsigned buffer = 0;
  int64_t bytes = 0;
  /// Where it is saved.
  int64_t offset = 0;
  /// All values are levels of this grid; codes of so many bytes are saved.
  std::optional<quantization::Grid> grid;
  unsigned codeBytes = 0;
  /// The observed values that it holds, if they were made in the stage.
  llvm::SmallVector<size_t, 1> observed;
};

struct Stage {
  /// The steps [begin, end).
  size_t begin = 0, end = 0;
  bool readsInputs = false;
  /// What later stages read, and its size.
  std::vector<SavedBuffer> saved;
  int64_t savedBytes = 0;
};

/// Memory for one value at a time.
struct ProgramBuffer {
  enum class Place { Input, Output, Constant, Block };
  Place place = Place::Block;
  /// Number of the input, output or constant; offset in a worker's block.
  int64_t index = 0;
  int64_t bytes = 0;
};

/// A constant that steps read.
struct ConstantBuffer {
  struct Free {
    void operator()(void *pointer) const { std::free(pointer); }
  };
  /// Aligned for every vector type.
  std::unique_ptr<char, Free> data;
};

/// A constant that may get other values.
struct ReplaceableConstant {
  enum class Place { Weights, Bias, Buffer };
  Place place = Place::Buffer;
  /// Of the primitive, or of the constant.
  size_t index = 0;
  int64_t elements = 0;
};

/// What takes the place of parts of a program, by their numbers there.
struct ReplacedParts {
  llvm::DenseMap<size_t, PackedConstant> weights, biases;
  llvm::DenseMap<size_t, support::AlignedBuffer> constants;
  llvm::DenseMap<size_t, QuantizeSite> quantizers;
};

struct Program {
  std::vector<TensorSpec> inputs, outputs, observed;
  /// Elements per sample of each observed tensor; its leading sizes of 1 before
  /// the batch stay, so only one size depends on the number of samples.
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

  /// What a worker does, in this order.
  std::vector<Step> steps;
  std::vector<Stage> stages;
  std::vector<unsigned> stageOfObserved;
  std::vector<ProgramBuffer> buffers;
  /// By the numbers in the steps; shared by programs that were compiled
  /// together.
  std::shared_ptr<const std::vector<CompiledPart>> parts;
  /// Of the block of each worker.
  int64_t blockBytes = 0;
  /// Of what an integer kernel needs while it runs; a multiple of a page.
  int64_t scratchBytes = 0;
  Executor::Memory memory;
  int64_t maxMemory = 0;
  /// See Executor::numVisits.
  size_t numVisits = 0;

  /// Hold the code; shared by programs that were compiled together.
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
