// SPDX-License-Identifier: Apache-2.0
#include "Primitives.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

// clang-22 of Debian has no omp.h, and oneDNN's OpenMP runtime is GNU's.
extern "C" {
void omp_set_num_threads(int);
int omp_get_max_threads(void);
}

using namespace mct::execution;
using dnnl::memory;
using Format = memory::format_tag;

static constexpr auto kFloat = memory::data_type::f32;

namespace {
/// What one call needs besides the three pointers.
struct Primitive {
  dnnl::primitive primitive;
  std::string implementation;
  memory::desc first, second, result, scratchpad;
  /// Index of the second operand for oneDNN; 0: there is none.
  int secondIndex = 0;
  /// Whether that is what a binary post-op adds.
  bool hasAdded = false;
  memory weights, bias;
  /// How weights are given, before they are packed.
  memory::desc givenWeights;
};
} // namespace

struct PrimitiveSet::Impl {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::vector<Primitive> primitives;

  void pack(const memory::desc &from, const float *data, memory &packed) {
    memory source(from, engine, const_cast<float *>(data));
    dnnl::reorder(source, packed).execute(stream, source, packed);
    stream.wait();
  }
  memory pack(const memory::desc &from, const float *data,
              const memory::desc &to) {
    memory packed(to, engine);
    pack(from, data, packed);
    return packed;
  }

  static dnnl::primitive_attr attributes(const Epilogue &epilogue,
                                         const memory::desc &result) {
    dnnl::primitive_attr attributes;
    // The worker brings the scratchpad, so that workers share the primitive.
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    dnnl::post_ops operations;
    if (epilogue.addOperand)
      operations.append_binary(dnnl::algorithm::binary_add, result);
    if (epilogue.clamp) {
      if (epilogue.low == 0 && epilogue.high >= 3.4028234e38f)
        operations.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
      else
        operations.append_eltwise(1, dnnl::algorithm::eltwise_clip,
                                  epilogue.low, epilogue.high);
    }
    attributes.set_post_ops(operations);
    return attributes;
  }

  template <typename Descriptor>
  Primitive finish(const Descriptor &descriptor, dnnl::primitive primitive,
                   const Epilogue &epilogue) {
    Primitive made;
    made.primitive = std::move(primitive);
    made.implementation = descriptor.impl_info_str();
    made.first = descriptor.src_desc();
    made.result = descriptor.dst_desc();
    made.scratchpad = descriptor.scratchpad_desc();
    if (epilogue.addOperand) {
      made.hasAdded = true;
      made.second = descriptor.dst_desc();
      made.secondIndex = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1;
    }
    return made;
  }

  void addConvolution(ConvolutionShape shape, llvm::ArrayRef<float> weights,
                      llvm::ArrayRef<float> bias, const Epilogue &epilogue);
  void addMatMul(const MatMulShape &shape, llvm::ArrayRef<float> constant,
                 const Epilogue &epilogue);
};

void PrimitiveSet::Impl::addConvolution(ConvolutionShape shape,
                                        llvm::ArrayRef<float> weights,
                                        llvm::ArrayRef<float> bias,
                                        const Epilogue &epilogue) {
  bool depthwise = shape.kind == ConvolutionShape::Kind::Depthwise;
  // A pointwise convolution treats all pixels alike: as one long row oneDNN
  // can block over them freely, which matters when an image has few (a fully
  // connected layer has one).
  if (shape.kind == ConvolutionShape::Kind::Plain && shape.kernelHeight == 1 &&
      shape.kernelWidth == 1 && shape.strideHeight == 1 &&
      shape.strideWidth == 1 && shape.inputHeight == shape.outputHeight &&
      shape.inputWidth == shape.outputWidth) {
    shape.inputWidth *= shape.batch * shape.inputHeight;
    shape.outputWidth = shape.inputWidth;
    shape.batch = shape.inputHeight = shape.outputHeight = 1;
  }

  memory::desc source(
      {shape.batch, shape.inputChannels, shape.inputHeight, shape.inputWidth},
      kFloat, Format::nhwc);
  memory::desc result({shape.batch, shape.outputChannels, shape.outputHeight,
                       shape.outputWidth},
                      kFloat, Format::nhwc);
  memory::desc biases({shape.outputChannels}, kFloat, Format::a);
  memory::dims weightSizes;
  memory::desc given;
  if (depthwise) {
    int64_t channels = shape.inputChannels;
    int64_t multiplier = shape.outputChannels / channels;
    weightSizes = {channels, multiplier, 1, shape.kernelHeight,
                   shape.kernelWidth};
    given = memory::desc(weightSizes, kFloat,
                         memory::dims{multiplier, 1, 1,
                                      shape.kernelWidth * channels * multiplier,
                                      channels * multiplier});
  } else {
    weightSizes = {shape.outputChannels, shape.inputChannels,
                   shape.kernelHeight, shape.kernelWidth};
    given = memory::desc(weightSizes, kFloat, Format::ohwi);
  }
  memory::desc any(weightSizes, kFloat, Format::any);
  memory::dims strides{shape.strideHeight, shape.strideWidth};
  // oneDNN counts a dilation of 1 as 0. Along an axis on which the kernel has
  // one element there is none; oneDNN 2.6 does not always see that.
  memory::dims dilations{shape.kernelHeight == 1 ? 0 : shape.dilationHeight - 1,
                         shape.kernelWidth == 1 ? 0 : shape.dilationWidth - 1};
  memory::dims before{shape.padTop, shape.padLeft};
  memory::dims after{shape.padBottom, shape.padRight};
  dnnl::primitive_attr attr = attributes(epilogue, result);
  auto inference = dnnl::prop_kind::forward_inference;

  std::vector<float> allBiases(bias.begin(), bias.end());
  if (allBiases.size() == 1)
    allBiases.resize(shape.outputChannels, allBiases.front());

  auto add = [&](const auto &descriptor, dnnl::primitive primitive) {
    Primitive made = finish(descriptor, std::move(primitive), epilogue);
    made.weights = pack(given, weights.data(), descriptor.weights_desc());
    made.givenWeights = given;
    made.bias = pack(biases, allBiases.data(), biases);
    primitives.push_back(std::move(made));
  };
  if (shape.kind == ConvolutionShape::Kind::Transpose) {
    dnnl::deconvolution_forward::primitive_desc descriptor(
        {inference, dnnl::algorithm::deconvolution_direct, source, any, biases,
         result, strides, dilations, before, after},
        attr, engine);
    add(descriptor, dnnl::deconvolution_forward(descriptor));
    return;
  }
  dnnl::convolution_forward::primitive_desc descriptor(
      {inference, dnnl::algorithm::convolution_direct, source, any, biases,
       result, strides, dilations, before, after},
      attr, engine);
  add(descriptor, dnnl::convolution_forward(descriptor));
}

void PrimitiveSet::Impl::addMatMul(const MatMulShape &shape,
                                   llvm::ArrayRef<float> constant,
                                   const Epilogue &epilogue) {
  memory::desc first({shape.batch, shape.rows, shape.inner}, kFloat,
                     Format::abc);
  memory::dims secondSizes{shape.batch, shape.inner, shape.columns};
  memory::desc given(secondSizes, kFloat, Format::abc);
  memory::desc result({shape.batch, shape.rows, shape.columns}, kFloat,
                      Format::abc);
  memory::desc second =
      constant.empty() ? given : memory::desc(secondSizes, kFloat, Format::any);
  dnnl::matmul::primitive_desc descriptor({first, second, result},
                                          attributes(epilogue, result), engine);
  Primitive made = finish(descriptor, dnnl::matmul(descriptor), epilogue);
  if (!constant.empty()) {
    made.weights = pack(given, constant.data(), descriptor.weights_desc());
    made.givenWeights = given;
  } else {
    made.second = given;
    made.secondIndex = DNNL_ARG_WEIGHTS;
  }
  primitives.push_back(std::move(made));
}

PrimitiveSet::PrimitiveSet() = default;
PrimitiveSet::~PrimitiveSet() = default;

template <typename Action>
static std::optional<size_t> attempt(std::unique_ptr<PrimitiveSet::Impl> &impl,
                                     std::string &error, Action action) {
  try {
    if (!impl)
      impl = std::make_unique<PrimitiveSet::Impl>();
    action();
    return impl->primitives.size() - 1;
  } catch (const dnnl::error &failure) {
    error = failure.status == dnnl_unimplemented
                ? "oneDNN has no implementation for it"
                : std::string("oneDNN: ") + failure.what();
  } catch (const std::exception &failure) {
    error = std::string("oneDNN: ") + failure.what();
  }
  return std::nullopt;
}

std::optional<size_t> PrimitiveSet::addConvolution(
    const ConvolutionShape &shape, llvm::ArrayRef<float> weights,
    llvm::ArrayRef<float> bias, const Epilogue &epilogue, std::string &error) {
  return attempt(impl, error,
                 [&] { impl->addConvolution(shape, weights, bias, epilogue); });
}

std::optional<size_t> PrimitiveSet::addMatMul(const MatMulShape &shape,
                                              llvm::ArrayRef<float> constant,
                                              const Epilogue &epilogue,
                                              std::string &error) {
  if (constant.empty() && epilogue.addOperand) {
    error = "a primitive has two operands at most";
    return std::nullopt;
  }
  return attempt(impl, error,
                 [&] { impl->addMatMul(shape, constant, epilogue); });
}

bool PrimitiveSet::setWeights(size_t number, llvm::ArrayRef<float> weights) {
  Primitive &made = impl->primitives[number];
  std::string error;
  return made.weights &&
         attempt(impl, error, [&] {
           impl->pack(made.givenWeights, weights.data(), made.weights);
         }).has_value();
}

bool PrimitiveSet::setBias(size_t number, llvm::ArrayRef<float> bias) {
  Primitive &made = impl->primitives[number];
  if (!made.bias)
    return false;
  std::vector<float> all(bias.begin(), bias.end());
  if (all.size() == 1)
    all.resize(made.bias.get_desc().get_size() / sizeof(float), all.front());
  std::string error;
  return attempt(
             impl, error,
             [&] { impl->pack(made.bias.get_desc(), all.data(), made.bias); })
      .has_value();
}

int64_t PrimitiveSet::bytes() const {
  int64_t bytes = 0;
  if (impl)
    for (const Primitive &made : impl->primitives)
      for (const memory &packed : {made.weights, made.bias})
        if (packed)
          bytes += static_cast<int64_t>(packed.get_desc().get_size());
  return bytes;
}
void PrimitiveSet::removeLast() { impl->primitives.pop_back(); }

std::string PrimitiveSet::implementation(size_t primitive) const {
  return impl->primitives[primitive].implementation;
}

bool PrimitiveSet::isReference(size_t primitive) const {
  return impl->primitives[primitive].implementation.find("ref") !=
         std::string::npos;
}

bool PrimitiveSet::addsWrongly(size_t primitive) const {
  const Primitive &added = impl->primitives[primitive];
  return added.hasAdded &&
         added.primitive.get_kind() == dnnl::primitive::kind::convolution &&
         added.implementation.find("gemm") != std::string::npos;
}

std::string PrimitiveSet::instructionSet() {
  switch (dnnl_get_effective_cpu_isa()) {
  case dnnl_cpu_isa_sse41:
    return "sse4.1";
  case dnnl_cpu_isa_avx:
    return "avx";
  case dnnl_cpu_isa_avx2:
    return "avx2";
  case dnnl_cpu_isa_avx2_vnni:
    return "avx2_vnni";
  case dnnl_cpu_isa_avx512_core:
    return "avx512_core";
  case dnnl_cpu_isa_avx512_core_vnni:
    return "avx512_core_vnni";
  case dnnl_cpu_isa_avx512_core_bf16:
    return "avx512_core_bf16";
  case dnnl_cpu_isa_avx512_core_amx:
    return "avx512_core_amx";
  default:
    return "generic";
  }
}

struct PrimitiveRunner::Impl {
  explicit Impl(const PrimitiveSet::Impl &primitives) : primitives(primitives) {
    size_t scratchBytes = 0;
    for (const Primitive &made : primitives.primitives)
      scratchBytes = std::max(scratchBytes, made.scratchpad.get_size());
    constexpr size_t kAlignment = 4096;
    scratch.resize(scratchBytes + kAlignment);
    auto address = reinterpret_cast<uintptr_t>(scratch.data());
    auto *aligned = reinterpret_cast<char *>((address + kAlignment - 1) /
                                             kAlignment * kAlignment);

    for (const Primitive &made : primitives.primitives) {
      Call &call = calls.emplace_back();
      auto argument = [&](int index, const memory &value) {
        call.arguments.push_back({index, value.get()});
        call.memories.push_back(value);
        return value.get();
      };
      const dnnl::engine &engine = primitives.engine;
      call.first = argument(DNNL_ARG_SRC, memory(made.first, engine, nullptr));
      call.result =
          argument(DNNL_ARG_DST, memory(made.result, engine, nullptr));
      if (made.secondIndex)
        call.second =
            argument(made.secondIndex, memory(made.second, engine, nullptr));
      if (made.weights)
        argument(DNNL_ARG_WEIGHTS, made.weights);
      if (made.bias)
        argument(DNNL_ARG_BIAS, made.bias);
      argument(DNNL_ARG_SCRATCHPAD, memory(made.scratchpad, engine, aligned));
    }
  }

  struct Call {
    std::vector<dnnl_exec_arg_t> arguments;
    std::vector<memory> memories;
    dnnl_memory_t first = nullptr, second = nullptr, result = nullptr;
  };
  const PrimitiveSet::Impl &primitives;
  dnnl::stream stream{primitives.engine};
  std::vector<char> scratch;
  std::vector<Call> calls;
};

PrimitiveRunner::PrimitiveRunner(const PrimitiveSet &primitives) {
  // A program without primitives has not even an engine.
  if (primitives.impl)
    impl = std::make_unique<Impl>(*primitives.impl);
}
PrimitiveRunner::~PrimitiveRunner() = default;

bool PrimitiveRunner::run(size_t primitive, const void *first,
                          const void *second, void *result) {
  Impl::Call &call = impl->calls[primitive];
  dnnl_memory_set_data_handle(call.first, const_cast<void *>(first));
  dnnl_memory_set_data_handle(call.result, result);
  if (call.second)
    dnnl_memory_set_data_handle(call.second, const_cast<void *>(second));
  return dnnl_primitive_execute(
             impl->primitives.primitives[primitive].primitive.get(),
             impl->stream.get(), static_cast<int>(call.arguments.size()),
             call.arguments.data()) == dnnl_success;
}

SingleOpenMPThread::SingleOpenMPThread() : before(omp_get_max_threads()) {
  omp_set_num_threads(1);
}
SingleOpenMPThread::~SingleOpenMPThread() { omp_set_num_threads(before); }
