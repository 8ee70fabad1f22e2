// SPDX-License-Identifier: Apache-2.0
#include "Program.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>

using namespace mct::execution;

TensorObserver::~TensorObserver() = default;

namespace {

/// Buffers of the compiled code. A freed buffer is the next one handed out for
/// its size: it is still in the cache, and no page is faulted in again. One per
/// worker: no locks, and memory is where its core is.
class BufferPool {
public:
  ~BufferPool() {
    for (SizeClass &sizeClass : classes)
      for (Header *header : sizeClass.free)
        std::free(header);
  }

  void *allocate(size_t bytes) {
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    size_t number = 0;
    // A program has a handful of different sizes.
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
    return reinterpret_cast<char *>(header) + kAlignment;
  }

  void release(void *pointer) {
    auto *header =
        reinterpret_cast<Header *>(static_cast<char *>(pointer) - kAlignment);
    classes[header->sizeClass].free.push_back(header);
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
};

/// What the context argument of compiled code points to.
struct CallTarget {
  virtual ~CallTarget() = default;
  virtual void call(int64_t site, void *a, void *b, void *c) = 0;
};

/// Calls to allocate and free carry no context.
thread_local BufferPool *currentPool = nullptr;

double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace

struct Worker::State : CallTarget {
  explicit State(const Program &program)
      : program(program), runner(program.kernels),
        observers(program.observed.size()) {}

  void call(int64_t site, void *a, void *b, void *c) override;
  void observe(size_t index, const float *data);

  const Program &program;
  KernelRunner runner;
  std::vector<TensorObserver *> observers;
  BufferPool pool;
  int64_t validSamples = 0;
  bool measure = false;
  double kernelSeconds = 0, totalSeconds = 0;
  llvm::SmallVector<int64_t> shape;
};

void QuantizeSite::run(const float *input, float *output) const {
  if (grid)
    quantization::fakeQuantize(*grid, input, output, elements);
  else if (table)
    table->run(shape, axes, input, output);
  else
    quantizer.fakeQuantize(shape, axes, input, output);
}

void Worker::State::observe(size_t index, const float *data) {
  TensorObserver *observer = observers[index];
  if (!observer)
    return;
  const Program::ObservedShape &observed = program.observedShapes[index];
  shape = observed.shape;
  if (observed.followed)
    shape[observed.batchDimension] = validSamples * observed.rowsPerSample;
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  observer->observe(llvm::ArrayRef<float>(data, elements), shape);
}

void Worker::State::call(int64_t number, void *a, void *b, void *c) {
  const Site &site = program.sites[number];
  auto *input = static_cast<const float *>(a);
  // The result is the last pointer.
  auto *result = static_cast<float *>(c ? c : b);
  switch (site.kind) {
  case Site::Kind::Kernel: {
    double begin = measure ? now() : 0;
    if (!runner.run(site.index, a, c ? b : nullptr, result))
      // Cannot happen for a primitive that could be created; if it does, it
      // must not pass for a result.
      std::fill_n(result, program.kernelElements[site.index],
                  std::numeric_limits<float>::quiet_NaN());
    if (measure)
      kernelSeconds += now() - begin;
    break;
  }
  case Site::Kind::AveragePool:
    averagePool(program.pools[site.index], input, result);
    break;
  case Site::Kind::MaximumPool:
    maximumPool(program.pools[site.index], input, result);
    break;
  case Site::Kind::Quantize:
    program.quantizers[site.index].run(input, result);
    break;
  case Site::Kind::Observe:
    observe(site.index, input);
    break;
  }
  if (site.quantizer)
    program.quantizers[*site.quantizer].run(result, result);
}

Worker::Worker(const Executor &executor)
    : state(std::make_unique<State>(*executor.program)) {}
Worker::~Worker() = default;

void Worker::setObserver(size_t observed, TensorObserver *observer) {
  state->observers[observed] = observer;
}

void Worker::run(llvm::ArrayRef<const void *> inputs,
                 llvm::ArrayRef<void *> outputs, int64_t validSamples) {
  double begin = now();
  SingleOpenMPThread singleThread;
  BufferPool *outerPool = std::exchange(currentPool, &state->pool);
  state->validSamples = validSamples;

  // The packed interface wants the address of each argument.
  CallTarget *target = state.get();
  auto context = static_cast<int64_t>(reinterpret_cast<intptr_t>(target));
  llvm::SmallVector<void *> pointers;
  for (const void *input : inputs)
    pointers.push_back(const_cast<void *>(input));
  llvm::append_range(pointers, outputs);
  for (const ConstantBuffer &constant : state->program.constants)
    pointers.push_back(constant.data.get());
  llvm::SmallVector<void *> arguments{&context};
  for (void *&pointer : pointers)
    arguments.push_back(&pointer);
  state->program.entry(arguments.data());

  currentPool = outerPool;
  state->totalSeconds += now() - begin;
}

double Worker::kernelSeconds() const { return state->kernelSeconds; }
double Worker::totalSeconds() const { return state->totalSeconds; }
void Worker::measureKernels() { state->measure = true; }

//===----------------------------------------------------------------------===//
// Entry points of compiled code
//===----------------------------------------------------------------------===//

void mct::execution::mctExecutionCall1(int64_t worker, int64_t site, void *a) {
  reinterpret_cast<CallTarget *>(worker)->call(site, a, nullptr, nullptr);
}
void mct::execution::mctExecutionCall2(int64_t worker, int64_t site, void *a,
                                       void *b) {
  reinterpret_cast<CallTarget *>(worker)->call(site, a, b, nullptr);
}
void mct::execution::mctExecutionCall3(int64_t worker, int64_t site, void *a,
                                       void *b, void *c) {
  reinterpret_cast<CallTarget *>(worker)->call(site, a, b, c);
}
void *mct::execution::mctExecutionAllocate(uint64_t bytes) {
  return currentPool->allocate(bytes);
}
void *mct::execution::mctExecutionAlignedAllocate(uint64_t, uint64_t bytes) {
  return currentPool->allocate(bytes);
}
void mct::execution::mctExecutionFree(void *pointer) {
  if (pointer)
    currentPool->release(pointer);
}
