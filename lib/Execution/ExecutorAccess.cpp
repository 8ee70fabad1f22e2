// SPDX-License-Identifier: Apache-2.0
//
// Queries of a compiled network.
#include "mct/Execution/Executor.h"

#include "MachineMemory.h"
#include "Program.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mct;
using namespace mct::execution;

ArrayRef<TensorSpec> Executor::inputs() const { return program->inputs; }
ArrayRef<TensorSpec> Executor::outputs() const { return program->outputs; }
ArrayRef<TensorSpec> Executor::observed() const { return program->observed; }
int64_t Executor::unit() const { return program->unit; }
bool Executor::allowsPartialUnits() const {
  return program->allowsPartialUnits;
}
ArrayRef<Executor::PrimitiveInfo> Executor::primitives() const {
  return program->primitiveInfos;
}
const Executor::Memory &Executor::memory() const { return program->memory; }
int64_t Executor::limitWorkers(int64_t most) const {
  const Memory &memory = program->memory;
  if (memory.perWorker <= 0)
    return most;
  int64_t taken = std::max(memory.shared, residentMemory());
  return std::clamp<int64_t>((program->maxMemory - taken) / memory.perWorker, 1,
                             most);
}
unsigned Executor::numStages() const { return program->stages.size(); }
unsigned Executor::stageOf(size_t observed) const {
  return program->stageOfObserved[observed];
}
bool Executor::readsInputs(unsigned stage) const {
  return program->stages[stage].readsInputs;
}
int64_t Executor::savedBytes(unsigned stage) const {
  return program->stages[stage].savedBytes;
}

unsigned Executor::stageOfPoint(size_t point) const {
  return program->replaceablePoints[point].stage;
}
size_t Executor::numCompiledParts() const { return program->parts->size(); }
size_t Executor::numVisits() const { return program->numVisits; }

std::string Executor::instructionSet() {
  return (llvm::sys::getHostCPUName() + ", oneDNN " +
          PrimitiveSet::instructionSet())
      .str();
}
