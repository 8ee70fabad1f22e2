// SPDX-License-Identifier: Apache-2.0
#include "Primitives.h"

#include "ConstantPool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <oneapi/dnnl/dnnl_debug.h>
#include <optional>
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
/// A tensor that is passed with each call, or computed by it.
struct Argument {
  /// Index of the argument in oneDNN.
  int index = 0;
  /// Layouts of the caller and of the primitive.
  memory::desc given, used;
  /// Conversion between them, if they differ; created with the primitive,
  /// because the number of threads is fixed then.
  dnnl::reorder reorder;
  memory::desc scratchpad;

  bool isReordered() const { return static_cast<bool>(reorder); }
};

/// A primitive, and everything that its call needs except the pointers.
struct Primitive {
  dnnl::primitive primitive;
  std::string implementation;
  std::vector<Argument> operands;
  Argument result;
  memory::desc scratchpad;
  /// True if a binary post-op adds the last operand.
  bool hasAdded = false;
  memory weights, bias;
  /// Memory of weights that other sets may share; null if `weights` has its
  /// own.
  std::shared_ptr<char> sharedWeights;
  /// Layout of weights before they are packed.
  memory::desc givenWeights;
};
} // namespace

struct PrimitiveSet::Impl {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  std::vector<Primitive> primitives;
  std::shared_ptr<ConstantPool> pool;

  /// Uses a stream of its own: several threads may pack at once.
  void pack(const memory::desc &from, const float *data, memory &packed) const {
    // Threads of OpenMP wait actively for the next reorder, on the cores that
    // the workers need.
    SingleOpenMPThread singleThread;
    dnnl::stream stream(engine);
    memory source(from, engine, const_cast<float *>(data));
    dnnl::reorder(source, packed).execute(stream, source, packed);
    stream.wait();
  }
  memory pack(const memory::desc &from, const float *data,
              const memory::desc &to) const {
    memory packed(to, engine);
    pack(from, data, packed);
    return packed;
  }

  /// Packs weights into memory that equal ones of other sets share.
  void packWeights(Primitive &made, const memory::desc &from, const float *data,
                   const memory::desc &to) const {
    made.givenWeights = from;
    size_t bytes = to.get_size();
    if (!pool || bytes < ConstantPool::kLeastBytes) {
      made.weights = pack(from, data, to);
      return;
    }
    constexpr size_t kAlignment = 64;
    std::shared_ptr<char> own(
        static_cast<char *>(std::aligned_alloc(
            kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment)),
        std::free);
    if (!own)
      throw std::bad_alloc();
    memory packed(to, engine, own.get());
    pack(from, data, packed);
    made.sharedWeights = pool->share(own, bytes);
    made.weights = made.sharedWeights == own
                       ? packed
                       : memory(to, engine, made.sharedWeights.get());
  }

  static dnnl::primitive_attr attributes(const Epilogue &epilogue,
                                         const memory::desc &result) {
    dnnl::primitive_attr attributes;
    // Workers share the primitive, so each provides its own scratchpad.
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

  Argument reordered(int index, const memory::desc &given,
                     const memory::desc &used, bool isResult = false) {
    Argument argument{index, given, used, {}, {}};
    if (given == used)
      return argument;
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    dnnl::reorder::primitive_desc descriptor(engine, isResult ? used : given,
                                             engine, isResult ? given : used,
                                             attributes);
    argument.reorder = dnnl::reorder(descriptor);
    argument.scratchpad = descriptor.scratchpad_desc();
    return argument;
  }
  static Argument asGiven(int index, const memory::desc &given) {
    return {index, given, given, {}, {}};
  }

  template <typename Descriptor>
  static Primitive begin(const Descriptor &descriptor,
                         dnnl::primitive primitive) {
    Primitive made;
    made.primitive = std::move(primitive);
    made.implementation = descriptor.impl_info_str();
    made.operands.push_back(asGiven(DNNL_ARG_SRC, descriptor.src_desc()));
    made.scratchpad = descriptor.scratchpad_desc();
    return made;
  }
  /// Completes a primitive that produces its destination; its operands are
  /// complete except for the addend.
  void finish(Primitive made, const memory::desc &result,
              const Epilogue &epilogue) {
    made.result = asGiven(DNNL_ARG_DST, result);
    if (epilogue.addOperand) {
      made.hasAdded = true;
      made.operands.push_back(
          asGiven(DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, result));
    }
    primitives.push_back(std::move(made));
  }

  void addConvolution(ConvolutionShape shape, llvm::ArrayRef<float> weights,
                      llvm::ArrayRef<float> bias, const Epilogue &epilogue);
  void addWeightGradient(ConvolutionShape shape, bool inputChannelsFirst);
  void addMatMul(const MatMulShape &shape, llvm::ArrayRef<float> constant,
                 const Epilogue &epilogue);
};

namespace {
/// The tensors of a convolution in the terms of oneDNN.
struct ConvolutionTensors {
  explicit ConvolutionTensors(ConvolutionShape shape);

  memory::desc source, result, biases;
  /// Weights in the given format, and in any format.
  memory::desc given, any;
  memory::dims strides, dilations, before, after;
  int64_t outputChannels;
};
} // namespace

/// Converts a row that is convolved with a dilation of `d` elements, and whose
/// length is a multiple of `d`, into an image with `d` columns that is
/// convolved along its columns without a dilation. The elements stay where they
/// are. oneDNN prepares a kernel for each length that a part of a row can have:
/// for a row of 16384 elements in 0.1 s and 40 MB.
static void foldDilatedRow(ConvolutionShape &shape) {
  // Narrower images take longer than the row.
  constexpr int64_t kLeastColumns = 8;
  int64_t dilation = shape.dilationWidth;
  auto isWhole = [&](int64_t extent) { return extent % dilation == 0; };
  if (shape.kind == ConvolutionShape::Kind::Transpose ||
      dilation < kLeastColumns || shape.kernelWidth == 1 ||
      shape.strideWidth != 1 || shape.inputHeight != 1 ||
      shape.outputHeight != 1 || shape.kernelHeight != 1 || shape.hasDepth ||
      !isWhole(shape.inputWidth) || !isWhole(shape.outputWidth) ||
      !isWhole(shape.padLeft) || !isWhole(shape.padRight))
    return;
  shape.inputHeight = shape.inputWidth / dilation;
  shape.outputHeight = shape.outputWidth / dilation;
  shape.inputWidth = shape.outputWidth = dilation;
  shape.kernelHeight = shape.kernelWidth;
  shape.padTop = shape.padLeft / dilation;
  shape.padBottom = shape.padRight / dilation;
  shape.kernelWidth = shape.dilationHeight = shape.dilationWidth = 1;
  // The stride along a single row does not matter.
  shape.strideHeight = 1;
  shape.padLeft = shape.padRight = 0;
}

ConvolutionTensors::ConvolutionTensors(ConvolutionShape shape) {
  // A pointwise convolution treats all pixels alike: as one long row oneDNN
  // can block over them freely, which matters when an image has few (a fully
  // connected layer has one).
  if (shape.kind == ConvolutionShape::Kind::Plain && shape.kernelDepth == 1 &&
      shape.kernelHeight == 1 && shape.kernelWidth == 1 &&
      shape.strideDepth == 1 && shape.strideHeight == 1 &&
      shape.strideWidth == 1 && shape.inputDepth == shape.outputDepth &&
      shape.inputHeight == shape.outputHeight &&
      shape.inputWidth == shape.outputWidth) {
    shape.inputWidth *= shape.batch * shape.inputDepth * shape.inputHeight;
    shape.outputWidth = shape.inputWidth;
    shape.batch = shape.inputHeight = shape.outputHeight = 1;
    shape.inputDepth = shape.outputDepth = 1;
  }
  foldDilatedRow(shape);
  outputChannels = shape.outputChannels;

  // Spatial sizes come last.
  auto inSpace = [&](memory::dims sizes, int64_t depth, int64_t height,
                     int64_t width) {
    if (shape.hasDepth)
      sizes.push_back(depth);
    sizes.insert(sizes.end(), {height, width});
    return sizes;
  };
  Format image = shape.hasDepth ? Format::ndhwc : Format::nhwc;
  source =
      memory::desc(inSpace({shape.batch, shape.inputChannels}, shape.inputDepth,
                           shape.inputHeight, shape.inputWidth),
                   kFloat, image);
  result = memory::desc(inSpace({shape.batch, shape.outputChannels},
                                shape.outputDepth, shape.outputHeight,
                                shape.outputWidth),
                        kFloat, image);
  biases = memory::desc({shape.outputChannels}, kFloat, Format::a);
  memory::dims weightSizes;
  if (shape.kind == ConvolutionShape::Kind::Depthwise) {
    int64_t channels = shape.inputChannels;
    int64_t multiplier = shape.outputChannels / channels;
    weightSizes = {channels, multiplier, 1, shape.kernelHeight,
                   shape.kernelWidth};
    given = memory::desc(weightSizes, kFloat,
                         memory::dims{multiplier, 1, 1,
                                      shape.kernelWidth * channels * multiplier,
                                      channels * multiplier});
  } else {
    weightSizes =
        inSpace({shape.outputChannels, shape.inputChannels}, shape.kernelDepth,
                shape.kernelHeight, shape.kernelWidth);
    given = memory::desc(weightSizes, kFloat,
                         shape.hasDepth ? Format::odhwi : Format::ohwi);
  }
  any = memory::desc(weightSizes, kFloat, Format::any);
  strides =
      inSpace({}, shape.strideDepth, shape.strideHeight, shape.strideWidth);
  // oneDNN counts a dilation of 1 as 0. Along an axis on which the kernel has
  // one element, a dilation has no effect; oneDNN 2.6 does not always recognize
  // that.
  auto dilation = [](int64_t size, int64_t dilation) {
    return size == 1 ? 0 : dilation - 1;
  };
  dilations = inSpace({}, dilation(shape.kernelDepth, shape.dilationDepth),
                      dilation(shape.kernelHeight, shape.dilationHeight),
                      dilation(shape.kernelWidth, shape.dilationWidth));
  before = inSpace({}, shape.padFront, shape.padTop, shape.padLeft);
  after = inSpace({}, shape.padBack, shape.padBottom, shape.padRight);
}

void PrimitiveSet::Impl::addConvolution(ConvolutionShape shape,
                                        llvm::ArrayRef<float> weights,
                                        llvm::ArrayRef<float> bias,
                                        const Epilogue &epilogue) {
  ConvolutionTensors tensors(shape);
  dnnl::primitive_attr attr = attributes(epilogue, tensors.result);
  auto inference = dnnl::prop_kind::forward_inference;

  std::vector<float> allBiases(bias.begin(), bias.end());
  if (allBiases.size() == 1)
    allBiases.resize(shape.outputChannels, allBiases.front());

  auto add = [&](const auto &descriptor, dnnl::primitive primitive) {
    Primitive made = begin(descriptor, std::move(primitive));
    if (weights.empty())
      made.operands.push_back(reordered(DNNL_ARG_WEIGHTS, tensors.given,
                                        descriptor.weights_desc()));
    else
      packWeights(made, tensors.given, weights.data(),
                  descriptor.weights_desc());
    if (bias.empty())
      made.operands.push_back(asGiven(DNNL_ARG_BIAS, tensors.biases));
    else
      made.bias = pack(tensors.biases, allBiases.data(), tensors.biases);
    finish(std::move(made), descriptor.dst_desc(), epilogue);
  };
  if (shape.kind == ConvolutionShape::Kind::Transpose) {
    dnnl::deconvolution_forward::primitive_desc descriptor(
        {inference, dnnl::algorithm::deconvolution_direct, tensors.source,
         tensors.any, tensors.biases, tensors.result, tensors.strides,
         tensors.dilations, tensors.before, tensors.after},
        attr, engine);
    add(descriptor, dnnl::deconvolution_forward(descriptor));
    return;
  }
  dnnl::convolution_forward::primitive_desc descriptor(
      {inference, dnnl::algorithm::convolution_direct, tensors.source,
       tensors.any, tensors.biases, tensors.result, tensors.strides,
       tensors.dilations, tensors.before, tensors.after},
      attr, engine);
  add(descriptor, dnnl::convolution_forward(descriptor));
}

void PrimitiveSet::Impl::addWeightGradient(ConvolutionShape shape,
                                           bool inputChannelsFirst) {
  ConvolutionTensors tensors(shape);
  dnnl::primitive_attr attr = attributes({}, tensors.result);
  // oneDNN needs the description of the convolution whose gradient it is.
  dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct,
       tensors.source, tensors.any, tensors.result, tensors.strides,
       tensors.dilations, tensors.before, tensors.after},
      attr, engine);
  dnnl::convolution_backward_weights::primitive_desc descriptor(
      {dnnl::algorithm::convolution_direct, tensors.source, tensors.any,
       tensors.result, tensors.strides, tensors.dilations, tensors.before,
       tensors.after},
      attr, engine, forward);
  Primitive made =
      begin(descriptor, dnnl::convolution_backward_weights(descriptor));
  made.operands.push_back(
      asGiven(DNNL_ARG_DIFF_DST, descriptor.diff_dst_desc()));
  memory::desc description = tensors.given;
  if (inputChannelsFirst)
    description = memory::desc(description.dims(), kFloat,
                               shape.hasDepth ? Format::idhwo : Format::ihwo);
  made.result = reordered(DNNL_ARG_DIFF_WEIGHTS, description,
                          descriptor.diff_weights_desc(), /*isResult=*/true);
  primitives.push_back(std::move(made));
}

void PrimitiveSet::Impl::addMatMul(const MatMulShape &shape,
                                   llvm::ArrayRef<float> constant,
                                   const Epilogue &epilogue) {
  auto layout = [](bool transposed) {
    return transposed ? Format::acb : Format::abc;
  };
  memory::desc first({shape.batch, shape.rows, shape.inner}, kFloat,
                     layout(shape.firstTransposed));
  memory::dims secondSizes{shape.batch, shape.inner, shape.columns};
  memory::desc given(secondSizes, kFloat, layout(shape.secondTransposed));
  memory::desc result({shape.batch, shape.rows, shape.columns}, kFloat,
                      Format::abc);
  memory::desc second =
      constant.empty() ? given : memory::desc(secondSizes, kFloat, Format::any);
  dnnl::matmul::primitive_desc descriptor({first, second, result},
                                          attributes(epilogue, result), engine);
  Primitive made = begin(descriptor, dnnl::matmul(descriptor));
  if (!constant.empty()) {
    packWeights(made, given, constant.data(), descriptor.weights_desc());
  } else {
    made.operands.push_back(asGiven(DNNL_ARG_WEIGHTS, given));
  }
  finish(std::move(made), descriptor.dst_desc(), epilogue);
}

PrimitiveSet::PrimitiveSet() = default;
PrimitiveSet::~PrimitiveSet() = default;

void PrimitiveSet::shareBy(std::shared_ptr<ConstantPool> pool) {
  this->pool = std::move(pool);
}

/// Returns the exception of an action as an error.
template <typename Action> static llvm::Error attempt(Action action) {
  try {
    action();
    return llvm::Error::success();
  } catch (const dnnl::error &failure) {
    if (failure.status == dnnl_unimplemented)
      return llvm::createStringError("oneDNN has no implementation for it");
    return llvm::createStringError(llvm::Twine("oneDNN: ") + failure.what());
  } catch (const std::exception &failure) {
    return llvm::createStringError(llvm::Twine("oneDNN: ") + failure.what());
  }
}

llvm::Expected<size_t> PrimitiveSet::add(llvm::function_ref<void()> action) {
  llvm::Error error = attempt([&] {
    if (!impl) {
      impl = std::make_unique<Impl>();
      impl->pool = pool;
    }
    action();
  });
  if (error)
    return std::move(error);
  return impl->primitives.size() - 1;
}

llvm::Expected<size_t> PrimitiveSet::addConvolution(
    const ConvolutionShape &shape, llvm::ArrayRef<float> weights,
    llvm::ArrayRef<float> bias, const Epilogue &epilogue) {
  return add([&] { impl->addConvolution(shape, weights, bias, epilogue); });
}

llvm::Expected<size_t>
PrimitiveSet::addWeightGradient(const ConvolutionShape &shape,
                                bool inputChannelsFirst) {
  return add([&] { impl->addWeightGradient(shape, inputChannelsFirst); });
}

llvm::Expected<size_t> PrimitiveSet::addMatMul(const MatMulShape &shape,
                                               llvm::ArrayRef<float> constant,
                                               const Epilogue &epilogue) {
  return add([&] { impl->addMatMul(shape, constant, epilogue); });
}

struct PackedConstant::Impl {
  memory value;
};
PackedConstant::PackedConstant() = default;
PackedConstant::PackedConstant(PackedConstant &&) = default;
PackedConstant &PackedConstant::operator=(PackedConstant &&) = default;
PackedConstant::~PackedConstant() = default;

/// Packs a constant of a primitive, which may have none.
template <typename Pack>
static llvm::Error packInto(const memory &constant, Pack pack) {
  if (!constant)
    return llvm::createStringError("oneDNN: the primitive has no such "
                                   "constant");
  return attempt(pack);
}

/// Returns the biases of all channels, which may be given by one value.
static std::vector<float> spread(llvm::ArrayRef<float> bias,
                                 const memory::desc &description) {
  std::vector<float> all(bias.begin(), bias.end());
  if (all.size() == 1)
    all.resize(description.get_size() / sizeof(float), all.front());
  return all;
}

llvm::Error PrimitiveSet::setWeights(size_t number,
                                     llvm::ArrayRef<float> weights) {
  Primitive &made = impl->primitives[number];
  return packInto(made.weights, [&] {
    if (!made.sharedWeights)
      return impl->pack(made.givenWeights, weights.data(), made.weights);
    // Other executors may still use the old weights.
    made.weights =
        impl->pack(made.givenWeights, weights.data(), made.weights.get_desc());
    made.sharedWeights.reset();
  });
}

llvm::Error PrimitiveSet::setBias(size_t number, llvm::ArrayRef<float> bias) {
  Primitive &made = impl->primitives[number];
  return packInto(made.bias, [&] {
    memory::desc description = made.bias.get_desc();
    impl->pack(description, spread(bias, description).data(), made.bias);
  });
}

llvm::Expected<PackedConstant>
PrimitiveSet::packWeights(size_t number, llvm::ArrayRef<float> weights) const {
  const Primitive &made = impl->primitives[number];
  PackedConstant packed;
  if (llvm::Error error = packInto(made.weights, [&] {
        packed.impl.reset(new PackedConstant::Impl{impl->pack(
            made.givenWeights, weights.data(), made.weights.get_desc())});
      }))
    return std::move(error);
  return packed;
}

llvm::Expected<PackedConstant>
PrimitiveSet::packBias(size_t number, llvm::ArrayRef<float> bias) const {
  const Primitive &made = impl->primitives[number];
  PackedConstant packed;
  if (llvm::Error error = packInto(made.bias, [&] {
        memory::desc description = made.bias.get_desc();
        packed.impl.reset(new PackedConstant::Impl{impl->pack(
            description, spread(bias, description).data(), description)});
      }))
    return std::move(error);
  return packed;
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

llvm::SmallVector<int64_t, 4>
PrimitiveSet::operandBytes(size_t primitive) const {
  llvm::SmallVector<int64_t, 4> bytes;
  for (const Argument &operand : impl->primitives[primitive].operands)
    bytes.push_back(static_cast<int64_t>(operand.given.get_size()));
  return bytes;
}

int64_t PrimitiveSet::resultBytes(size_t primitive) const {
  return static_cast<int64_t>(
      impl->primitives[primitive].result.given.get_size());
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
    for (const Primitive &made : primitives.primitives)
      add(made);
    constexpr size_t kPage = 4096;
    scratch.resize(scratchBytes + kPage);
    auto address = reinterpret_cast<uintptr_t>(scratch.data());
    auto *aligned =
        reinterpret_cast<char *>((address + kPage - 1) / kPage * kPage);
    for (auto [value, offset] : scratchOffsets)
      dnnl_memory_set_data_handle(value, aligned + offset);
  }

  /// One primitive and its arguments.
  struct Execution {
    dnnl_primitive_t primitive = nullptr;
    std::vector<dnnl_exec_arg_t> arguments;

    dnnl_status_t run(dnnl_stream_t stream) const {
      return dnnl_primitive_execute(primitive, stream,
                                    static_cast<int>(arguments.size()),
                                    arguments.data());
    }
  };
  /// The calls for one primitive: itself, and reorders before and after.
  struct Call {
    std::vector<Execution> executions;
    std::vector<memory> memories;
    std::vector<dnnl_memory_t> operands;
    dnnl_memory_t result = nullptr;
    /// Index among the executions, and among its arguments if it has them.
    size_t main = 0;
    std::optional<size_t> weights, bias;
  };

  void add(const Primitive &made) {
    const dnnl::engine &engine = primitives.engine;
    Call &call = calls.emplace_back();
    // The end of the scratch memory of this call.
    size_t end = 0;
    auto hold = [&](const memory &value) {
      call.memories.push_back(value);
      return value.get();
    };
    auto inScratch = [&](const memory::desc &descriptor) {
      dnnl_memory_t value = hold(memory(descriptor, engine, nullptr));
      scratchOffsets.emplace_back(value, end);
      constexpr size_t kAlignment = 64;
      end += (descriptor.get_size() + kAlignment - 1) / kAlignment * kAlignment;
      scratchBytes = std::max(scratchBytes, end);
      return value;
    };
    auto reorder = [&](const Argument &argument, dnnl_memory_t from,
                       dnnl_memory_t to) {
      call.executions.push_back(
          {argument.reorder.get(),
           {{DNNL_ARG_FROM, from},
            {DNNL_ARG_TO, to},
            {DNNL_ARG_SCRATCHPAD, inScratch(argument.scratchpad)}}});
    };

    Execution main{made.primitive.get(), {}};
    for (const Argument &operand : made.operands) {
      dnnl_memory_t given = hold(memory(operand.given, engine, nullptr));
      call.operands.push_back(given);
      dnnl_memory_t used = given;
      if (operand.isReordered()) {
        used = inScratch(operand.used);
        reorder(operand, given, used);
      }
      main.arguments.push_back({operand.index, used});
    }
    if (made.weights) {
      call.weights = main.arguments.size();
      main.arguments.push_back({DNNL_ARG_WEIGHTS, hold(made.weights)});
    }
    if (made.bias) {
      call.bias = main.arguments.size();
      main.arguments.push_back({DNNL_ARG_BIAS, hold(made.bias)});
    }
    main.arguments.push_back({DNNL_ARG_SCRATCHPAD, inScratch(made.scratchpad)});
    call.result = hold(memory(made.result.given, engine, nullptr));
    dnnl_memory_t result = call.result;
    if (made.result.isReordered())
      result = inScratch(made.result.used);
    main.arguments.push_back({made.result.index, result});
    call.main = call.executions.size();
    call.executions.push_back(std::move(main));
    if (made.result.isReordered())
      reorder(made.result, result, call.result);
  }

  const PrimitiveSet::Impl &primitives;
  dnnl::stream stream{primitives.engine};
  std::vector<char> scratch;
  size_t scratchBytes = 0;
  std::vector<std::pair<dnnl_memory_t, size_t>> scratchOffsets;
  std::vector<Call> calls;
};

PrimitiveRunner::PrimitiveRunner(const PrimitiveSet &primitives) {
  // A program without primitives does not have an engine.
  if (primitives.impl)
    impl = std::make_unique<Impl>(*primitives.impl);
}
PrimitiveRunner::~PrimitiveRunner() = default;

llvm::Error PrimitiveRunner::run(size_t primitive,
                                 llvm::ArrayRef<const void *> operands,
                                 void *result, const PackedConstant *weights,
                                 const PackedConstant *bias) {
  Impl::Call &call = impl->calls[primitive];
  const Primitive &made = impl->primitives.primitives[primitive];
  std::vector<dnnl_exec_arg_t> &arguments =
      call.executions[call.main].arguments;
  if (call.weights)
    arguments[*call.weights].memory =
        (weights ? weights->impl->value : made.weights).get();
  if (call.bias)
    arguments[*call.bias].memory = (bias ? bias->impl->value : made.bias).get();
  for (size_t number = 0; number != call.operands.size(); ++number)
    dnnl_memory_set_data_handle(call.operands[number],
                                const_cast<void *>(operands[number]));
  dnnl_memory_set_data_handle(call.result, result);
  for (const Impl::Execution &execution : call.executions)
    if (dnnl_status_t status = execution.run(impl->stream.get()))
      return llvm::createStringError(llvm::Twine("oneDNN: ") +
                                     dnnl_status2str(status));
  return llvm::Error::success();
}

SingleOpenMPThread::SingleOpenMPThread() : before(omp_get_max_threads()) {
  omp_set_num_threads(1);
}
SingleOpenMPThread::~SingleOpenMPThread() { omp_set_num_threads(before); }
