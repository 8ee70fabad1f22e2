// SPDX-License-Identifier: Apache-2.0
//
// Places of the values of a schedule, and of those that cross its stages.
#include "Schedule.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mct;
using namespace mct::execution;

/// Returns the grid of all values that the step computes from values on the
/// grids of `reads`, or none.
static std::optional<quantization::Grid>
gridOf(const Program &program, const Step &step,
       ArrayRef<std::optional<quantization::Grid>> reads) {
  if (step.kind == Step::Kind::Quantize)
    return program.quantizers[step.index].grid;
  if (step.quantizer)
    return program.quantizers[*step.quantizer].grid;
  bool selects =
      step.kind == Step::Kind::Copy || step.kind == Step::Kind::MaximumPool ||
      (step.kind == Step::Kind::Move && program.moves[step.index].fill.empty());
  return selects && llvm::all_equal(reads) ? reads.front() : std::nullopt;
}

/// Returns the size in bytes of a code of the grid, or none if codes do not
/// determine its values.
static std::optional<unsigned> codeBytes(const quantization::Grid &grid) {
  float step = float(grid.step);
  int64_t codes = grid.qmax - grid.qmin + 1;
  double end = grid.step * double(std::max(grid.qmax - grid.zeroPoint,
                                           grid.zeroPoint - grid.qmin));
  if (!std::isnormal(step) || !std::isnormal(1 / step) || codes > 1 << 16 ||
      end > double(std::numeric_limits<float>::max()))
    return std::nullopt;
  return codes > 1 << 8 ? 2 : 1;
}

/// Divides the steps, which are in order, and finds the values that cross each
/// division.
void Scheduler::divideIntoStages() {
  unsigned count = planned.empty() ? 1 : planned.back().step.stage + 1;
  program.stages.resize(count);
  program.stageOfObserved.resize(observed.size());
  size_t number = 0;
  for (auto [index, own] : llvm::enumerate(program.stages)) {
    own.begin = number;
    for (; number != planned.size() && planned[number].step.stage == index;
         ++number) {
      const Planned &next = planned[number];
      own.readsInputs |= llvm::any_of(next.reads, [&](unsigned buffer) {
        return program.buffers[buffer].place == ProgramBuffer::Place::Input;
      });
      if (next.step.kind == Step::Kind::Observe)
        program.stageOfObserved[next.step.index] = index;
    }
    own.end = number;
  }
  assert(number == planned.size() && "steps of a stage come before later ones");
  if (numEdited == 0)
    return;

  std::vector<std::optional<quantization::Grid>> grids(program.buffers.size());
  std::vector<SmallVector<unsigned>> readLater(count);
  // Inputs and constants are always available; they do not cross stages.
  auto isMade = [&](unsigned buffer) {
    return program.buffers[buffer].place == ProgramBuffer::Place::Block ||
           program.buffers[buffer].place == ProgramBuffer::Place::Output;
  };
  // The caller reads results after the last stage, whichever stage computes
  // them.
  llvm::DenseSet<unsigned> live;
  for (const Planned &next : planned)
    for (unsigned buffer : next.writes)
      if (program.buffers[buffer].place == ProgramBuffer::Place::Output)
        live.insert(buffer);
  for (unsigned last = count; last-- > 0;) {
    visit(live.size());
    readLater[last].assign(live.begin(), live.end());
    llvm::sort(readLater[last]);
    for (; number > program.stages[last].begin; --number) {
      const Planned &next = planned[number - 1];
      for (unsigned buffer : next.writes)
        live.erase(buffer);
      for (unsigned buffer : next.reads)
        if (isMade(buffer))
          live.insert(buffer);
    }
  }
  for (auto [index, own] : llvm::enumerate(program.stages)) {
    llvm::DenseMap<unsigned, SmallVector<size_t, 1>> editedIn;
    for (const Planned &next :
         ArrayRef(planned).slice(own.begin, own.end - own.begin)) {
      // An editor may leave the grid.
      if (next.step.kind == Step::Kind::Observe &&
          next.step.index < numEdited) {
        grids[next.reads[0]] = std::nullopt;
        editedIn[next.reads[0]].push_back(next.step.index);
      }
      SmallVector<std::optional<quantization::Grid>> reads =
          llvm::map_to_vector(next.reads,
                              [&](unsigned buffer) { return grids[buffer]; });
      for (unsigned buffer : next.writes)
        grids[buffer] = gridOf(program, next.step, reads);
    }
    for (unsigned buffer : readLater[index]) {
      SavedBuffer &saved = own.saved.emplace_back();
      saved.buffer = buffer;
      saved.bytes = program.buffers[buffer].bytes;
      saved.offset = own.savedBytes;
      saved.observed = editedIn.lookup(buffer);
      std::optional<unsigned> codes;
      if (grids[buffer])
        codes = codeBytes(*grids[buffer]);
      if (codes) {
        saved.grid = grids[buffer];
        saved.codeBytes = *codes;
      }
      int64_t bytes =
          codes ? saved.bytes / int64_t(sizeof(float)) * *codes : saved.bytes;
      own.savedBytes += int64_t(llvm::alignTo(bytes, 64));
    }
  }
}

std::vector<BufferLife> Scheduler::findLives() {
  std::vector<BufferLife> lives(program.buffers.size());
  for (auto [number, buffer] : llvm::enumerate(program.buffers))
    lives[number] = {buffer.bytes, std::numeric_limits<unsigned>::max(), 0};
  for (auto [number, next] : llvm::enumerate(planned))
    for (unsigned buffer : llvm::concat<unsigned>(next.reads, next.writes)) {
      visit();
      BufferLife &life = lives[buffer];
      life.begin = std::min<unsigned>(life.begin, number);
      life.end = std::max<unsigned>(life.end, number);
    }
  return lives;
}

std::optional<unsigned>
Scheduler::findUpdatedOperand(size_t number, ArrayRef<BufferLife> lives) const {
  const Planned &next = planned[number];
  if (next.writes.size() != 1)
    return std::nullopt;
  for (auto [operand, buffer] : llvm::enumerate(next.reads))
    if (program.buffers[buffer].place == ProgramBuffer::Place::Block &&
        lives[buffer].end == number &&
        program.buffers[buffer].bytes ==
            program.buffers[next.writes[0]].bytes &&
        llvm::count(next.reads, buffer) == 1 &&
        (next.step.kind == Step::Kind::Quantize ||
         parts.canUpdate(next.part, operand)))
      return operand;
  return std::nullopt;
}

std::vector<unsigned> Scheduler::updateInPlace(std::vector<BufferLife> &lives) {
  std::vector<unsigned> place(program.buffers.size());
  for (auto [number, taken] : llvm::enumerate(place))
    taken = number;
  for (auto [number, next] : llvm::enumerate(planned)) {
    for (unsigned &buffer : next.reads)
      buffer = place[buffer];
    if (next.step.kind != Step::Kind::Part &&
        next.step.kind != Step::Kind::Quantize)
      continue;
    std::optional<unsigned> updated = findUpdatedOperand(number, lives);
    if (updated) {
      unsigned buffer = next.reads[*updated], result = next.writes[0];
      place[result] = buffer;
      lives[buffer].end = std::max(lives[buffer].end, lives[result].end);
      lives[result] = {0, 0, 0};
      next.writes[0] = buffer;
    }
    if (next.step.kind == Step::Kind::Part) {
      next.step.index = parts.getCode(next.part, updated);
      // The code takes the updated buffer at the place of the operand.
      next.isUpdate = updated.has_value();
    }
  }
  return place;
}

void Scheduler::writeResultsInPlace() {
  for (Planned &next : planned) {
    if (next.step.kind != Step::Kind::Copy ||
        program.buffers[next.writes[0]].place != ProgramBuffer::Place::Output)
      continue;
    ProgramBuffer &source = program.buffers[next.reads[0]];
    if (source.place == ProgramBuffer::Place::Block) {
      source.place = ProgramBuffer::Place::Output;
      source.index = program.buffers[next.writes[0]].index;
      next.writes[0] = next.reads[0];
    }
  }
  llvm::erase_if(planned, [](const Planned &next) {
    return next.step.kind == Step::Kind::Copy && next.reads == next.writes;
  });
}

LogicalResult Scheduler::placeBlocks(ArrayRef<BufferLife> lives,
                                     ArrayRef<unsigned> place) {
  SmallVector<unsigned> blocks;
  std::vector<BufferLife> blockLives;
  for (auto [number, buffer] : llvm::enumerate(program.buffers))
    if (buffer.place == ProgramBuffer::Place::Block &&
        place[number] == number) {
      blocks.push_back(number);
      blockLives.push_back(lives[number]);
    }
  std::optional<MemoryPlan> plan = planMemory(blockLives);
  if (!plan)
    return emitError(function.getLoc())
           << "the values of the function need more memory than can be "
              "addressed";
  // A worker needs its block, and the buffers that the caller reads and writes.
  program.memory.perWorker = plan->bytes + program.scratchBytes;
  for (const ProgramBuffer &buffer : program.buffers)
    if (buffer.place == ProgramBuffer::Place::Input ||
        buffer.place == ProgramBuffer::Place::Output)
      program.memory.perWorker += buffer.bytes;
  for (auto [number, offset] : llvm::zip(blocks, plan->offsets))
    program.buffers[number].index = offset;
  program.blockBytes = plan->bytes;
  return success();
}

LogicalResult Scheduler::placeValues() {
  std::vector<BufferLife> lives = findLives();
  std::vector<unsigned> place = updateInPlace(lives);
  writeResultsInPlace();
  if (failed(placeBlocks(lives, place)))
    return failure();
  divideIntoStages();
  for (Planned &next : planned) {
    Step step = std::move(next.step);
    step.buffers.assign(next.reads.begin(), next.reads.end());
    if (!next.writes.empty())
      step.result = next.writes.front();
    if (!next.isUpdate)
      step.buffers.append(next.writes.begin(), next.writes.end());
    program.steps.push_back(std::move(step));
  }
  return success();
}
