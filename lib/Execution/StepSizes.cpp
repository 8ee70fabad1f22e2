// SPDX-License-Identifier: Apache-2.0
#include "StepSizes.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mct::execution;

// Sizes and their products were checked when the program was planned.
static int64_t floatBytes(ArrayRef<int64_t> shape) {
  return llvm::product_of(shape) * int64_t(sizeof(float));
}

namespace {

/// A step, and the error in it.
class StepChecker {
public:
  StepChecker(const Program &program, const Step &step, Location loc)
      : program(program), step(step), loc(loc) {}

  LogicalResult check();

private:
  /// Returns the size of a buffer of the step, by its index there.
  int64_t buffer(unsigned number) const {
    return program.buffers[step.buffers[number]].bytes;
  }
  LogicalResult reads(unsigned number, int64_t bytes) const;
  LogicalResult writes(int64_t bytes) const;
  /// Each buffer once, in their order.
  LogicalResult readsAll(ArrayRef<int64_t> bytes) const;
  LogicalResult checkPool(const PoolingShape &pool, int64_t elementBytes) const;
  LogicalResult checkMove(const MovingShape &move) const;
  LogicalResult checkPart(const CompiledPart &part) const;

  const Program &program;
  const Step &step;
  Location loc;
};

/// The elements between which a copy reads or writes, both ends included.
struct Reach {
  Reach(ArrayRef<int64_t> sizes, ArrayRef<int64_t> steps, int64_t offset)
      : low(offset), high(offset) {
    for (auto [size, step] : llvm::zip_equal(sizes, steps))
      (step < 0 ? low : high) += (size - 1) * step;
  }
  int64_t low, high;
};

} // namespace

static LogicalResult report(const Step &step, Location loc, StringRef does,
                            int64_t bytes, int64_t planned) {
  InFlightDiagnostic diagnostic = emitError(loc, "'")
                                  << step.op << "' cannot be executed: it "
                                  << does << " " << bytes
                                  << " bytes of a buffer of " << planned;
  diagnostic.attachNote()
      << "this is an error of the compiler; please report the network";
  return diagnostic;
}

LogicalResult StepChecker::reads(unsigned number, int64_t bytes) const {
  if (number < step.buffers.size() && bytes >= 0 && bytes <= buffer(number))
    return success();
  return report(step, loc, "reads", bytes,
                number < step.buffers.size() ? buffer(number) : 0);
}

LogicalResult StepChecker::writes(int64_t bytes) const {
  int64_t planned = step.result ? program.buffers[*step.result].bytes : 0;
  if (step.result && bytes == planned)
    return success();
  return report(step, loc, "writes", bytes, planned);
}

LogicalResult StepChecker::readsAll(ArrayRef<int64_t> bytes) const {
  for (auto [number, size] : llvm::enumerate(bytes))
    if (failed(reads(number, size)))
      return failure();
  return success();
}

LogicalResult StepChecker::checkPool(const PoolingShape &pool,
                                     int64_t elementBytes) const {
  const int64_t bytes = pool.batch * pool.channels * elementBytes;
  if (failed(reads(0, bytes * pool.inputHeight * pool.inputWidth)))
    return failure();
  return writes(bytes * pool.outputHeight * pool.outputWidth);
}

LogicalResult StepChecker::checkMove(const MovingShape &move) const {
  int64_t bytes = move.elementBytes;
  if (failed(writes(move.targetElements * bytes)))
    return failure();
  for (const StridedCopy &copy : move.copies) {
    if (llvm::is_contained(copy.sizes, 0))
      continue;
    Reach from(copy.sizes, copy.from, copy.fromOffset),
        to(copy.sizes, copy.to, copy.toOffset);
    if (from.low < 0)
      return report(step, loc, "reads", from.low * bytes, buffer(copy.source));
    if (failed(reads(copy.source, (from.high + 1) * bytes)))
      return failure();
    if (to.low < 0 || to.high >= move.targetElements)
      return report(step, loc, "writes",
                    (to.low < 0 ? to.low : to.high + 1) * bytes,
                    move.targetElements * bytes);
  }
  return success();
}

/// The code takes the buffers in their order, each for one block.
LogicalResult StepChecker::checkPart(const CompiledPart &part) const {
  if (part.argumentBytes.size() != step.buffers.size()) {
    emitError(loc, "'") << step.op << "' cannot be executed: its code takes "
                        << part.argumentBytes.size() << " buffers, not "
                        << step.buffers.size();
    return failure();
  }
  for (auto [number, bytes] : llvm::enumerate(part.argumentBytes)) {
    int64_t stride = step.blockBytes.empty() ? 0 : step.blockBytes[number];
    int64_t reached = bytes + (step.numBlocks - 1) * stride;
    if (reached != buffer(number))
      return report(step, loc, "takes", reached, buffer(number));
  }
  return success();
}

LogicalResult StepChecker::check() {
  switch (step.kind) {
  case Step::Kind::Primitive:
    if (failed(readsAll(program.primitives.operandBytes(step.index))) ||
        failed(writes(program.primitives.resultBytes(step.index))))
      return failure();
    break;
  case Step::Kind::Integer:
    if (failed(writes(program.integers[step.index]->resultBytes())))
      return failure();
    break;
  case Step::Kind::AveragePool:
  case Step::Kind::MaximumPool:
    if (failed(checkPool(program.pools[step.index], sizeof(float))))
      return failure();
    break;
  case Step::Kind::MaximumPoolBytes:
    if (failed(checkPool(program.pools[step.index], 1)))
      return failure();
    break;
  case Step::Kind::Move:
    if (failed(checkMove(program.moves[step.index])))
      return failure();
    break;
  case Step::Kind::Quantize: {
    int64_t bytes = floatBytes(program.quantizers[step.index].shape);
    if (failed(reads(0, bytes)) || failed(writes(bytes)))
      return failure();
    break;
  }
  case Step::Kind::Host: {
    const HostSite &host = program.hosts[step.index];
    int64_t bytes = floatBytes(host.shape.shape);
    if (failed(reads(0, bytes)) ||
        (host.isGradient && failed(reads(1, bytes))) || failed(writes(bytes)))
      return failure();
    break;
  }
  case Step::Kind::Observe: {
    RankedTensorType type = program.observed[step.index].type;
    return reads(0, type.getNumElements() *
                        getElementBytes(type.getElementType()));
  }
  case Step::Kind::Part:
    if (failed(checkPart((*program.parts)[step.index])))
      return failure();
    break;
  case Step::Kind::Copy:
    if (failed(reads(0, program.buffers[*step.result].bytes)))
      return failure();
    break;
  }
  if (!step.quantizer)
    return success();
  return writes(floatBytes(program.quantizers[*step.quantizer].shape));
}

LogicalResult mct::execution::checkStepSizes(const Program &program,
                                             Location loc) {
  auto countBytes = [](const TensorSpec &spec) {
    return spec.type.getNumElements() *
           getElementBytes(spec.type.getElementType());
  };
  for (const ProgramBuffer &buffer : program.buffers) {
    bool isInput = buffer.place == ProgramBuffer::Place::Input;
    if (!isInput && buffer.place != ProgramBuffer::Place::Output)
      continue;
    const TensorSpec &spec =
        (isInput ? program.inputs : program.outputs)[buffer.index];
    if (countBytes(spec) == buffer.bytes)
      continue;
    InFlightDiagnostic diagnostic =
        emitError(loc, "'")
        << spec.name << "' cannot be executed: " << spec.type << " has "
        << countBytes(spec) << " bytes, and its buffer " << buffer.bytes;
    diagnostic.attachNote()
        << "this is an error of the compiler; please report the network";
    return diagnostic;
  }
  for (const Step &step : program.steps)
    if (failed(StepChecker(program, step, loc).check()))
      return failure();
  return success();
}
