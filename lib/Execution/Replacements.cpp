// SPDX-License-Identifier: Apache-2.0
//
// Other constants and quantizers of a compiled function.
#include "Program.h"
#include "mct/Execution/Executor.h"
#include "llvm/Support/ScopedPrinter.h"

#include <cstring>

using namespace mlir;
using namespace mct::execution;
namespace tpc = mct::tpc;

static llvm::Error checkSize(const ReplaceableConstant &constant,
                             ArrayRef<float> values) {
  if (int64_t(values.size()) == constant.elements)
    return llvm::Error::success();
  return llvm::createStringError("expected " + llvm::Twine(constant.elements) +
                                 " values of a constant, found " +
                                 llvm::Twine(values.size()));
}

/// Applies the quantizer to the values that the point quantizes.
static llvm::Expected<QuantizeSite> prepareSite(const ReplaceablePoint &point,
                                                Attribute attribute) {
  auto refuse = [&](const std::string &why) {
    return llvm::createStringError("'" + point.name + "' cannot quantize by " +
                                   why);
  };
  auto quantizer = dyn_cast_or_null<tpc::QuantizerAttrInterface>(attribute);
  if (attribute && !quantizer)
    return refuse(llvm::to_string(attribute) + ", which is not a quantizer");
  if (quantizer && quantizer.getNumChannels() != 1 &&
      int64_t(quantizer.getNumChannels()) != point.numChannels)
    return refuse(std::to_string(quantizer.getNumChannels()) +
                  " parameters: it has " + std::to_string(point.numChannels) +
                  " channels");
  return QuantizeSite{quantizer ? quantizer.prepare() : nullptr, point.shape,
                      point.axes, std::nullopt};
}

/// Replaces the constants of a point of constants.
static llvm::Error replaceConstants(
    const ReplaceablePoint &point, const QuantizeSite &site,
    llvm::function_ref<llvm::Error(size_t, ArrayRef<float>)> replace) {
  if (point.constants.empty())
    return llvm::Error::success();
  std::vector<float> values(point.values.size());
  site.run(point.values.data(), values.data());
  for (size_t constant : point.constants)
    if (llvm::Error error = replace(constant, values))
      return error;
  return llvm::Error::success();
}

llvm::Error Executor::replaceConstant(size_t replaceable,
                                      ArrayRef<float> values) {
  const ReplaceableConstant &constant = program->replaceable[replaceable];
  if (llvm::Error error = checkSize(constant, values))
    return error;
  switch (constant.place) {
  case ReplaceableConstant::Place::Weights:
    return program->primitives.setWeights(constant.index, values);
  case ReplaceableConstant::Place::Bias:
    return program->primitives.setBias(constant.index, values);
  case ReplaceableConstant::Place::Buffer:
    std::memcpy(program->constants[constant.index].data.get(), values.data(),
                values.size() * sizeof(float));
    return llvm::Error::success();
  }
  llvm_unreachable("all places are covered");
}

llvm::Error Executor::replaceQuantizer(size_t number, Attribute attribute) {
  const ReplaceablePoint &point = program->replaceablePoints[number];
  llvm::Expected<QuantizeSite> site = prepareSite(point, attribute);
  if (!site)
    return site.takeError();
  if (point.site)
    program->quantizers[*point.site].quantizer = site->quantizer;
  return replaceConstants(point, *site,
                          [&](size_t constant, ArrayRef<float> values) {
                            return replaceConstant(constant, values);
                          });
}

Replacements::Replacements(const Executor &executor)
    : program(*executor.program), parts(std::make_unique<ReplacedParts>()) {}
Replacements::~Replacements() = default;
Replacements::Replacements(Replacements &&) = default;

llvm::Error Replacements::replaceConstant(size_t replaceable,
                                          ArrayRef<float> values) {
  const ReplaceableConstant &constant = program.replaceable[replaceable];
  if (llvm::Error error = checkSize(constant, values))
    return error;
  auto take = [&](auto &map,
                  llvm::Expected<PackedConstant> packed) -> llvm::Error {
    if (!packed)
      return packed.takeError();
    map[constant.index] = std::move(*packed);
    return llvm::Error::success();
  };
  switch (constant.place) {
  case ReplaceableConstant::Place::Weights:
    return take(parts->weights,
                program.primitives.packWeights(constant.index, values));
  case ReplaceableConstant::Place::Bias:
    return take(parts->biases,
                program.primitives.packBias(constant.index, values));
  case ReplaceableConstant::Place::Buffer: {
    mct::support::AlignedBuffer buffer(values.size() * sizeof(float));
    if (!buffer.get())
      return llvm::createStringError("there is no memory for the new values of "
                                     "a constant");
    std::memcpy(buffer.get(), values.data(), values.size() * sizeof(float));
    parts->constants[constant.index] = std::move(buffer);
    return llvm::Error::success();
  }
  }
  llvm_unreachable("all places are covered");
}

llvm::Error Replacements::replaceQuantizer(size_t number, Attribute attribute) {
  const ReplaceablePoint &point = program.replaceablePoints[number];
  llvm::Expected<QuantizeSite> site = prepareSite(point, attribute);
  if (!site)
    return site.takeError();
  if (llvm::Error error = replaceConstants(
          point, *site, [&](size_t constant, ArrayRef<float> values) {
            return replaceConstant(constant, values);
          }))
    return error;
  if (point.site)
    parts->quantizers[*point.site] = std::move(*site);
  return llvm::Error::success();
}
