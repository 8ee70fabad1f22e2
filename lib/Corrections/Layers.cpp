// SPDX-License-Identifier: Apache-2.0
#include "Layers.h"

#include "mct/IR/EntryFunction.h"
#include "mct/Transforms/SelectedParameters.h"

#include "mlir/IR/Builders.h"
#include <cmath>

using namespace mlir;
using namespace mct;
using namespace mct::corrections;
using quantization::Affine;

void mct::corrections::remarkLeftAlone(Operation *op, StringRef pass,
                                       const Record &why) {
  emitRecord(op, pass, why,
             "'" + op->getName().getStringRef() + "' op is not corrected: ");
}

Record mct::corrections::describeRejectedBefore() {
  return Record(Reason::ErrorWouldRise)
         << "this has been undone before, because the error would rise "
            "(tpc.rejected_corrections)";
}

FailureOr<Layers> Layers::find(ModuleOp module, const KernelOps &kernels,
                               StringRef name, StringRef pass, bool remarks) {
  Layers found(kernels);
  FailureOr<func::FuncOp> entry = findEntryFunction(module, name);
  if (failed(entry))
    return failure();
  found.function = *entry;
  if (!llvm::hasSingleElement(found.function.getBody()))
    return found.function.emitOpError(
        "cannot be corrected: its body has several blocks");
  WalkResult calls = found.function.walk([](func::CallOp call) {
    call.emitOpError("calls another function, and layers are corrected within "
                     "one; run the pass inline before");
    return WalkResult::interrupt();
  });
  if (calls.wasInterrupted())
    return failure();

  for (Operation &op : found.function.getBody().front()) {
    std::optional<KernelOp> kernelOp = found.kernelOps.get(&op);
    if (!kernelOp)
      continue;
    auto leaveAlone = [&](const Record &why) {
      if (remarks)
        remarkLeftAlone(&op, pass, why);
    };
    tpc::QuantizeOp point = kernelOp->getKernelPoint();
    if (!point || !point.getParametersAttr()) {
      leaveAlone(Reason::KernelNotQuantized);
      continue;
    }
    if (point.hasImportedParameters()) {
      leaveAlone(Reason::ImportedParameters);
      continue;
    }
    if (!point->hasOneUse()) {
      leaveAlone(Reason::SharedKernel);
      continue;
    }
    std::optional<std::vector<float>> bias = kernelOp->getBias();
    if (!bias) {
      leaveAlone(Record(Reason::BiasNotConstant)
                 << "its bias is not a constant of each channel");
      continue;
    }
    tpc::CorrectionsAttr corrections = point.getCorrectionsAttr();
    if (corrections && int64_t(corrections.getBiasOffset().size()) !=
                           kernelOp->numOutputChannels())
      return point.emitOpError("has corrections of ")
             << corrections.getBiasOffset().size()
             << " channels, but its layer has "
             << kernelOp->numOutputChannels();
    found.layers.push_back({*kernelOp, point, std::move(*bias)});
  }
  return found;
}

OwningOpRef<ModuleOp> Layers::clone(IRMapping &mapping) const {
  func::FuncOp original = function;
  OwningOpRef<ModuleOp> module = ModuleOp::create(original.getLoc());
  module->push_back(original->clone(mapping));
  return module;
}

OwningOpRef<ModuleOp> Layers::cloneFloat(IRMapping &mapping) const {
  OwningOpRef<ModuleOp> module = clone(mapping);
  OpBuilder builder(module->getContext());
  for (const Layer &layer : layers)
    if (tpc::QuantizeOp(layer.point).getCorrectionsAttr())
      kernelOps.get(mapping.lookup(layer.op.getOperation()))
          ->takeBackCorrections(builder);
  return module;
}

Layers::Networks Layers::cloneBoth() const {
  Networks both;
  both.module = cloneFloat(both.floatMapping);
  OwningOpRef<ModuleOp> quantized = clone(both.mapping);
  both.floating = *both.module->getOps<func::FuncOp>().begin();
  both.quantized = *quantized->getOps<func::FuncOp>().begin();
  both.quantized->remove();
  both.module->push_back(both.quantized);
  both.quantized.setName((both.quantized.getSymName() + "_quantized").str());
  return both;
}

SmallVector<Value> mct::corrections::mapResults(ArrayRef<Layer *> layers,
                                                const IRMapping &mapping) {
  return llvm::map_to_vector(layers, [&](Layer *layer) {
    return mapping.lookup(layer->op.getResult());
  });
}

std::vector<float> mct::corrections::quantizedKernel(const Layer &layer) {
  ConstantFloats kernel = layer.op.getKernel();
  std::vector<float> quantized(kernel.values().size());
  tpc::QuantizeOp point = layer.point;
  point.getParametersAttr().fakeQuantize(kernel.shape(), point.getChannelAxes(),
                                         kernel.values().data(),
                                         quantized.data());
  return quantized;
}

LogicalResult
mct::corrections::applyCorrection(const Layer &layer,
                                  ArrayRef<Affine> correction, StringRef how,
                                  std::optional<int64_t> samples) {
  tpc::QuantizeOp point = layer.point;
  MLIRContext *context = point.getContext();
  tpc::CorrectionsAttr before = point.getCorrectionsAttr();
  SmallVector<double> offsets, scales;
  std::vector<float> bias(correction.size());
  bool scalesKernel = false, scaledBefore = false;
  for (auto [channel, affine] : llvm::enumerate(correction)) {
    double exact = affine.scale * layer.bias[channel];
    bias[channel] = float(exact + affine.offset);
    // Record the offset that the rounded bias contains, so that it can be
    // subtracted exactly.
    double offset = double(bias[channel]) - exact, scale = affine.scale;
    if (before) {
      offset += affine.scale * before.getBiasOffset()[channel];
      scale *= before.getScaleOf(channel);
    }
    // Written so that NaN fails as well.
    if (!std::isfinite(bias[channel]) || !std::isfinite(offset) ||
        !std::isfinite(scale) || !(scale > 0)) {
      InFlightDiagnostic diagnostic =
          point.emitOpError()
          << "cannot be corrected: channel " << channel
          << " of its layer would get the bias " << double(bias[channel])
          << " and the scale " << scale;
      diagnostic.attachNote(layer.op.getLoc())
          << "check this layer's kernel, bias and statistics for numbers that "
             "are not finite";
      return diagnostic;
    }
    offsets.push_back(offset);
    scales.push_back(scale);
    scalesKernel |= affine.scale != 1;
    scaledBefore |= scale != 1;
  }
  SmallVector<StringAttr> applied;
  if (before)
    llvm::append_range(applied, before.getApplied());
  applied.push_back(StringAttr::get(context, how));
  if (!scaledBefore)
    scales.assign(1, 1.0);
  auto record =
      tpc::CorrectionsAttr::get(context, applied, offsets, scales, samples,
                                /*kernel=*/{});
  OpBuilder builder(point);
  layer.op.setBias(builder, bias, record);
  if (scalesKernel) {
    ConstantFloats constant = layer.op.getKernel();
    std::vector<float> kernel(constant.values().begin(),
                              constant.values().end());
    for (auto [element, value] : llvm::enumerate(kernel))
      value = float(correction[layer.op.outChannelOf(element)].scale * value);
    SmallVector<double> factors = llvm::map_to_vector(
        correction, [](const Affine &affine) { return affine.scale; });
    tpc::QuantizerAttrInterface scaled =
        point.getParametersAttr().scaledBy(factors);
    layer.op.setKernel(builder, kernel, record);
    point.setQuantizer(scaled, measureGiven(point, scaled));
  }
  return success();
}
