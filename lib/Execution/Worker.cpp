// SPDX-License-Identifier: Apache-2.0
#include "Program.h"

#include <algorithm>
#include <chrono>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <unordered_set>

using namespace mct::execution;

TensorObserver::~TensorObserver() = default;

namespace {

/// Buffers that compiled parts allocate. A freed buffer is the next one handed
/// out for its size: it is still in the cache, and no page is faulted in again.
/// One per worker: no locks, and memory is where its core is.
class BufferPool {
public:
  ~BufferPool() {
    for (SizeClass &sizeClass : classes)
      for (Header *header : sizeClass.free)
        std::free(header);
    releaseAll();
  }

  void *allocate(size_t bytes) {
    if (bytes > std::numeric_limits<size_t>::max() / 2)
      return nullptr;
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    size_t number = 0;
    // A program has only a few different sizes.
    while (number < classes.size() && classes[number].bytes != bytes)
      ++number;
    if (number == classes.size())
      classes.push_back({bytes, {}});
    SizeClass &sizeClass = classes[number];
    Header *header;
    if (sizeClass.free.empty()) {
      header = static_cast<Header *>(
          std::aligned_alloc(kAlignment, bytes + kAlignment));
      if (!header)
        return nullptr;
      header->sizeClass = number;
    } else {
      header = sizeClass.free.back();
      sizeClass.free.pop_back();
    }
    used.insert(header);
    return reinterpret_cast<char *>(header) + kAlignment;
  }

  void release(void *pointer) {
    auto *header =
        reinterpret_cast<Header *>(static_cast<char *>(pointer) - kAlignment);
    used.erase(header);
    classes[header->sizeClass].free.push_back(header);
  }

  /// Frees the buffers of a part that was left early.
  void releaseAll() {
    for (Header *header : used)
      std::free(header);
    used.clear();
  }

private:
  static constexpr size_t kAlignment = 64;
  struct Header {
    size_t sizeClass;
  };
  struct SizeClass {
    size_t bytes;
    std::vector<Header *> free;
  };
  std::vector<SizeClass> classes;
  std::unordered_set<Header *> used;
};

/// The call that compiled code in this thread belongs to: calls out of it
/// carry no context.
struct PartCall {
  BufferPool *pool = nullptr;
  /// The place to continue at when the part fails.
  std::jmp_buf leave;
  std::string error;
};
thread_local PartCall *currentCall = nullptr;

/// No frame between this one and the call of the part has anything to destroy.
[[noreturn]] void leavePart() { std::longjmp(currentCall->leave, 1); }

double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace

void QuantizeSite::run(const float *input, float *output) const {
  if (quantizer)
    return quantizer->run(shape, axes, input, output);
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  if (input != output)
    std::memcpy(output, input, elements * sizeof(float));
}

llvm::SmallVector<int64_t> FollowedShape::withSamples(int64_t samples) const {
  llvm::SmallVector<int64_t> sizes = shape;
  if (followed)
    sizes[batchDimension] = samples * rowsPerSample;
  return sizes;
}

llvm::Error HostSite::run(const float *values, const float *gradients,
                          float *result, int64_t samples) const {
  auto count = [](llvm::ArrayRef<int64_t> sizes) {
    size_t elements = 1;
    for (int64_t size : sizes)
      elements *= size;
    return elements;
  };
  // Do not show the padding of an incomplete unit to the quantizer.
  llvm::SmallVector<int64_t> sizes = shape.withSamples(samples);
  size_t all = count(shape.shape), valid = count(sizes);
  const float *kept = gradients ? gradients : values;
  std::memcpy(result, kept, all * sizeof(float));
  std::lock_guard<std::mutex> lock(quantizer->mutex);
  if (isGradient)
    return quantizer->backward(sizes, {values, valid}, {result, valid});
  return quantizer->quantize(sizes, {values, valid}, isTraining,
                             {result, valid});
}

struct Worker::State {
  explicit State(const Program &program)
      : program(program), runner(program.primitives),
        observers(program.observed.size()), editors(program.observed.size()),
        pointers(program.buffers.size()) {
    call.pool = &pool;
    for (auto [number, buffer] : llvm::enumerate(program.buffers)) {
      if (buffer.place == ProgramBuffer::Place::Constant)
        constants.push_back(number);
      else if (buffer.place != ProgramBuffer::Place::Block)
        given.push_back(number);
    }
  }
  ~State() {
    std::free(block);
    std::free(scratch);
  }

  llvm::Error prepare();
  llvm::Error run(const Step &step);
  /// Returns the replacement of a part of the program, or null.
  template <typename Part>
  const Part *findReplaced(llvm::DenseMap<size_t, Part> ReplacedParts::*parts,
                           size_t number) const {
    if (!replaced)
      return nullptr;
    auto it = (replaced->*parts).find(number);
    return it == (replaced->*parts).end() ? nullptr : &it->second;
  }
  void quantize(size_t number, const float *input, float *output) const {
    const auto *other = findReplaced(&ReplacedParts::quantizers, number);
    (other ? *other : program.quantizers[number]).run(input, output);
  }
  /// Returns whether the part was completed.
  bool runPart(const CompiledPart &part, void **arguments);
  void observe(size_t index, void *data);
  TensorView view(size_t index, const void *data);
  void edit(size_t index, void *data);
  void load(const Stage &stage, const char *from);

  const Program &program;
  PrimitiveRunner runner;
  std::vector<TensorObserver *> observers;
  std::vector<TensorEditor> editors;
  /// Null if there is none.
  const ReplacedParts *replaced = nullptr;
  BufferPool pool;
  PartCall call;
  /// Memory of the values between the steps.
  char *block = nullptr;
  /// Memory of the integer kernel that runs.
  char *scratch = nullptr;
  /// Address of each buffer.
  std::vector<void *> pointers;
  /// Indices of the buffers that are constants, and of inputs and outputs.
  std::vector<size_t> constants, given;
  /// True if constants are those of the program.
  bool hasConstants = false;
  llvm::SmallVector<void *> arguments;
  llvm::SmallVector<char *> blocks;
  SampleRange samples;
  bool measure = false;
  double primitiveSeconds = 0, totalSeconds = 0;
  size_t numVisits = 0;
  llvm::SmallVector<int64_t> shape;
};

TensorView Worker::State::view(size_t index, const void *data) {
  shape = program.observedShapes[index].withSamples(samples.count);
  return {program.observed[index].type.getElementType(), data, shape, samples};
}

void Worker::State::observe(size_t index, void *data) {
  if (observers[index])
    observers[index]->observe(view(index, data));
  edit(index, data);
}

void Worker::State::edit(size_t index, void *data) {
  if (!editors[index])
    return;
  size_t elements = view(index, data).numElements();
  editors[index]({static_cast<float *>(data), elements}, shape);
}

//===----------------------------------------------------------------------===//
// Values that cross from stage to stage
//===----------------------------------------------------------------------===//

/// The codes, counted from the lowest one, of values that are levels of the
/// grid. The product is off by less than a thousandth, so that which way halves
/// are rounded does not matter.
template <typename Code>
static void encode(const mct::quantization::Grid &grid, const float *values,
                   int64_t count, char *to) {
  float inverse = 1 / float(grid.step);
  auto lowest = int32_t(grid.qmin - grid.zeroPoint);
  for (int64_t i = 0; i != count; ++i) {
    float level = values[i] * inverse;
    Code code = Code(int32_t(level + (level < 0 ? -0.5f : 0.5f)) - lowest);
    std::memcpy(to + i * sizeof(Code), &code, sizeof(Code));
  }
}

template <typename Code>
static void decode(const mct::quantization::Grid &grid, const char *from,
                   int64_t count, float *values) {
  auto step = float(grid.step);
  auto lowest = int32_t(grid.qmin - grid.zeroPoint);
  for (int64_t i = 0; i != count; ++i) {
    Code code;
    std::memcpy(&code, from + i * sizeof(Code), sizeof(Code));
    values[i] = float(int32_t(code) + lowest) * step;
  }
}

void Worker::State::load(const Stage &stage, const char *from) {
  numVisits += stage.saved.size();
  for (const SavedBuffer &saved : stage.saved) {
    void *to = pointers[saved.buffer];
    int64_t elements = saved.bytes / int64_t(sizeof(float));
    if (!saved.grid)
      std::memcpy(to, from + saved.offset, saved.bytes);
    else if (saved.codeBytes == 1)
      decode<uint8_t>(*saved.grid, from + saved.offset, elements,
                      static_cast<float *>(to));
    else
      decode<uint16_t>(*saved.grid, from + saved.offset, elements,
                       static_cast<float *>(to));
    for (size_t index : saved.observed)
      edit(index, to);
  }
}

void Worker::save(unsigned stage, char *to) const {
  for (const SavedBuffer &saved : state->program.stages[stage].saved) {
    const void *from = state->pointers[saved.buffer];
    int64_t elements = saved.bytes / int64_t(sizeof(float));
    if (!saved.grid)
      std::memcpy(to + saved.offset, from, saved.bytes);
    else if (saved.codeBytes == 1)
      encode<uint8_t>(*saved.grid, static_cast<const float *>(from), elements,
                      to + saved.offset);
    else
      encode<uint16_t>(*saved.grid, static_cast<const float *>(from), elements,
                       to + saved.offset);
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

llvm::Error Worker::State::prepare() {
  constexpr size_t kAlignment = 4096;
  if (!block && program.blockBytes != 0) {
    size_t bytes =
        (program.blockBytes + kAlignment - 1) / kAlignment * kAlignment;
    block = static_cast<char *>(std::aligned_alloc(kAlignment, bytes));
    if (!block)
      return llvm::createStringError(
          "there are not " + llvm::Twine(bytes) +
          " bytes of memory for the values of the network");
    numVisits += pointers.size();
    for (auto [pointer, buffer] : llvm::zip(pointers, program.buffers))
      if (buffer.place == ProgramBuffer::Place::Block)
        pointer = block + buffer.index;
  }
  if (!scratch && program.scratchBytes != 0) {
    scratch = static_cast<char *>(
        std::aligned_alloc(kAlignment, program.scratchBytes));
    if (!scratch)
      return llvm::createStringError("there are not " +
                                     llvm::Twine(program.scratchBytes) +
                                     " bytes of memory for an image of the "
                                     "network");
  }
  if (hasConstants && !replaced)
    return llvm::Error::success();
  numVisits += constants.size();
  for (size_t number : constants) {
    size_t index = program.buffers[number].index;
    const auto *other = findReplaced(&ReplacedParts::constants, index);
    pointers[number] =
        other ? other->get() : program.constants[index].data.get();
  }
  hasConstants = !replaced;
  return llvm::Error::success();
}

bool Worker::State::runPart(const CompiledPart &part, void **arguments) {
  if (!part.canFail) {
    part.entry(arguments);
    return true;
  }
  PartCall *outer = std::exchange(currentCall, &call);
  bool done = false;
  if (setjmp(call.leave) == 0) {
    part.entry(arguments);
    done = true;
  }
  currentCall = outer;
  return done;
}

llvm::Error Worker::State::run(const Step &step) {
  auto buffer = [&](size_t number) { return pointers[step.buffers[number]]; };
  auto *result =
      step.result ? static_cast<float *>(pointers[*step.result]) : nullptr;
  switch (step.kind) {
  case Step::Kind::Primitive: {
    double begin = measure ? now() : 0;
    llvm::SmallVector<const void *, 4> operands;
    for (size_t number = 0; number + 1 != step.buffers.size(); ++number)
      operands.push_back(buffer(number));
    if (llvm::Error error =
            runner.run(step.index, operands, result,
                       findReplaced(&ReplacedParts::weights, step.index),
                       findReplaced(&ReplacedParts::biases, step.index)))
      return llvm::createStringError("'" + step.op +
                                     "': " + llvm::toString(std::move(error)));
    if (measure)
      primitiveSeconds += now() - begin;
    break;
  }
  case Step::Kind::Integer: {
    llvm::SmallVector<const void *, 4> operands;
    for (size_t number = 0; number + 1 != step.buffers.size(); ++number)
      operands.push_back(buffer(number));
    program.integers[step.index]->run(operands, result, scratch);
    break;
  }
  case Step::Kind::AveragePool:
    averagePool(program.pools[step.index],
                static_cast<const float *>(buffer(0)), result);
    break;
  case Step::Kind::MaximumPool:
    maximumPool(program.pools[step.index],
                static_cast<const float *>(buffer(0)), result);
    break;
  case Step::Kind::MaximumPoolBytes:
    maximumPool(program.pools[step.index],
                static_cast<const int8_t *>(buffer(0)),
                static_cast<int8_t *>(pointers[*step.result]));
    break;
  case Step::Kind::Move: {
    llvm::SmallVector<const void *, 8> sources;
    for (size_t number = 0; number + 1 != step.buffers.size(); ++number)
      sources.push_back(buffer(number));
    move(program.moves[step.index], sources.data(), result);
    break;
  }
  case Step::Kind::Quantize:
    quantize(step.index, static_cast<const float *>(buffer(0)), result);
    break;
  case Step::Kind::Host: {
    const HostSite &host = program.hosts[step.index];
    auto *gradients = host.isGradient ? buffer(1) : nullptr;
    if (llvm::Error error = host.run(static_cast<const float *>(buffer(0)),
                                     static_cast<const float *>(gradients),
                                     result, samples.count))
      return llvm::createStringError("'" + step.op +
                                     "': " + llvm::toString(std::move(error)));
    break;
  }
  case Step::Kind::Observe:
    observe(step.index, buffer(0));
    break;
  case Step::Kind::Part: {
    // The packed interface takes the address of each argument.
    arguments.clear();
    blocks.clear();
    for (unsigned number : step.buffers)
      blocks.push_back(static_cast<char *>(pointers[number]));
    for (char *&block : blocks)
      arguments.push_back(&block);
    const CompiledPart &part = (*program.parts)[step.index];
    for (int64_t number = 0;;) {
      if (!runPart(part, arguments.data())) {
        pool.releaseAll();
        return llvm::createStringError("'" + step.op + "': " + call.error);
      }
      if (++number == step.numBlocks)
        break;
      for (auto [block, bytes] : llvm::zip(blocks, step.blockBytes))
        block += bytes;
    }
    break;
  }
  case Step::Kind::Copy:
    std::memcpy(result, buffer(0), program.buffers[*step.result].bytes);
    break;
  }
  if (step.quantizer)
    quantize(*step.quantizer, result, result);
  return llvm::Error::success();
}

Worker::Worker(const Executor &executor)
    : state(std::make_unique<State>(*executor.program)) {}
Worker::~Worker() = default;

void Worker::setObserver(size_t observed, TensorObserver *observer) {
  state->observers[observed] = observer;
}

void Worker::setEditor(size_t observed, TensorEditor editor) {
  state->editors[observed] = std::move(editor);
}

void Worker::setReplacements(const Replacements *replacements) {
  state->replaced = replacements ? replacements->parts.get() : nullptr;
}

llvm::Error Worker::run(llvm::ArrayRef<const void *> inputs,
                        llvm::ArrayRef<void *> outputs, int64_t validSamples,
                        int64_t firstSample) {
  return runStages(0, state->program.stages.size() - 1, /*saved=*/nullptr,
                   inputs, outputs, {firstSample, validSamples});
}

llvm::Error Worker::runStages(unsigned first, unsigned last, const char *saved,
                              llvm::ArrayRef<const void *> inputs,
                              llvm::ArrayRef<void *> outputs,
                              SampleRange samples, bool untilObserved) {
  const Program &program = state->program;
  double begin = now();
  SingleOpenMPThread singleThread;
  if (llvm::Error error = state->prepare())
    return error;
  state->samples = samples;
  state->numVisits += state->given.size();
  for (size_t number : state->given) {
    const ProgramBuffer &buffer = program.buffers[number];
    // Nothing is written to inputs.
    state->pointers[number] = buffer.place == ProgramBuffer::Place::Input
                                  ? const_cast<void *>(inputs[buffer.index])
                                  : outputs[buffer.index];
  }
  if (first != 0 && saved)
    state->load(program.stages[first - 1], saved);
  llvm::Error error = llvm::Error::success();
  size_t from = program.stages[first].begin, to = program.stages[last].end;
  while (untilObserved && to != from &&
         !(program.steps[to - 1].kind == Step::Kind::Observe &&
           state->observers[program.steps[to - 1].index]))
    --to;
  state->numVisits += to - from;
  for (size_t step = from; step != to; ++step)
    if ((error = state->run(program.steps[step])))
      break;
  state->totalSeconds += now() - begin;
  return error;
}

double Worker::primitiveSeconds() const { return state->primitiveSeconds; }
double Worker::totalSeconds() const { return state->totalSeconds; }
void Worker::measurePrimitives() { state->measure = true; }
size_t Worker::numVisits() const { return state->numVisits; }

//===----------------------------------------------------------------------===//
// Entry points of compiled code
//===----------------------------------------------------------------------===//

void *mct::execution::mctExecutionAllocate(uint64_t bytes) {
  void *memory = currentCall->pool->allocate(bytes);
  if (!memory) {
    currentCall->error = "there are not " + std::to_string(bytes) +
                         " bytes of memory for a value inside of it";
    leavePart();
  }
  return memory;
}
void *mct::execution::mctExecutionAlignedAllocate(uint64_t, uint64_t bytes) {
  return mctExecutionAllocate(bytes);
}
void mct::execution::mctExecutionFree(void *pointer) {
  if (pointer)
    currentCall->pool->release(pointer);
}
void mct::execution::mctExecutionCheckIndex(int64_t index, int64_t size) {
  if (index >= 0 && index < size)
    return;
  currentCall->error = "index " + std::to_string(index) +
                       " lies outside of a dimension of size " +
                       std::to_string(size);
  leavePart();
}
void mct::execution::mctExecutionCheckDivision(bool isDefined) {
  if (isDefined)
    return;
  currentCall->error = "an integer is divided by zero, or the smallest one "
                       "by -1";
  leavePart();
}
