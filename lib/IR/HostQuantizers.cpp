// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/HostQuantizers.h"

#include "mct/Support/Troubleshooting.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mct;

static constexpr StringLiteral kDomain("mct"), kGradient("host_gradient"),
    kQuantizer("host_quantizer"), kAxes("axes"), kIsWeight("is_weight");

HostQuantizer::~HostQuantizer() = default;

void HostQuantizers::attach(MLIRContext *context, Factory factory) {
  Dialect *dialect = context->getOrLoadDialect<tpc::TpcDialect>();
  dialect->addInterface(
      std::make_unique<HostQuantizers>(dialect, std::move(factory)));
}

void HostQuantizers::detach(MLIRContext *context) {
  Dialect *dialect = context->getOrLoadDialect<tpc::TpcDialect>();
  auto *known = dialect->getRegisteredInterface<HostQuantizers>();
  if (!known)
    return;
  std::lock_guard<std::mutex> lock(known->mutex);
  known->created.clear();
  known->factory = nullptr;
}

FailureOr<std::shared_ptr<HostQuantizer>>
HostQuantizers::get(Operation *op, const HostPoint &point) {
  auto *dialect = op->getContext()->getLoadedDialect<tpc::TpcDialect>();
  auto *known = dialect->getRegisteredInterface<HostQuantizers>();
  std::shared_ptr<HostQuantizer> found;
  if (known) {
    std::lock_guard<std::mutex> lock(known->mutex);
    std::shared_ptr<HostQuantizer> &own =
        known->created[{point.name, point.quantizer.getAsOpaquePointer()}];
    if (!own && known->factory) {
      llvm::Expected<std::shared_ptr<HostQuantizer>> created =
          known->factory(point);
      if (!created)
        return op->emitOpError("has no quantizer ")
               << point.quantizer.getName() << ": "
               << llvm::toString(created.takeError());
      own = std::move(*created);
    }
    found = own;
  }
  if (found)
    return found;
  InFlightDiagnostic error = op->emitOpError("is quantized by ")
                             << point.quantizer.getName()
                             << ", but nothing is registered under this name";
  error.attachNote() << (known ? "define the class, or name it in "
                                 "mct.quantize_config.quantize_scope, before"
                               : "use the module from the program that has the "
                                 "quantizer, by mct for Python for example")
                     << support::kTroubleshooting
                     << "a-quantizer-of-python-is-missing";
  return error;
}

std::optional<HostPoint> mct::getHostPoint(tpc::QuantizeOp point) {
  auto quantizer =
      dyn_cast_if_present<tpc::HostQuantizerAttr>(point.getTrainableAttr());
  if (!quantizer)
    return std::nullopt;
  return HostPoint{point.getUniqueName(), quantizer,
                   cast<RankedTensorType>(point.getType()),
                   llvm::to_vector(point.getChannelAxes()), point.isWeight()};
}

FailureOr<tpc::QuantizerAttrInterface>
mct::freezeHostQuantizer(tpc::QuantizeOp point) {
  std::optional<HostPoint> host = getHostPoint(point);
  FailureOr<std::shared_ptr<HostQuantizer>> quantizer =
      HostQuantizers::get(point, *host);
  if (failed(quantizer))
    return failure();
  std::lock_guard<std::mutex> lock((*quantizer)->mutex);
  llvm::Expected<std::string> text = (*quantizer)->freeze();
  if (!text)
    return point.emitOpError() << llvm::toString(text.takeError());
  Attribute parsed = parseAttribute(*text, point.getContext());
  auto frozen = dyn_cast_if_present<tpc::QuantizerAttrInterface>(parsed);
  if (!frozen)
    return point.emitOpError("cannot become ")
           << *text << ", which is not a quantizer";
  int64_t channels = 1;
  for (int64_t axis : host->axes)
    channels *= host->type.getDimSize(axis);
  if (frozen.getNumChannels() != 1 &&
      int64_t(frozen.getNumChannels()) != channels)
    return point.emitOpError("cannot become ")
           << *text << ", which has " << frozen.getNumChannels()
           << " parameters: it has " << channels << " channels";
  return frozen;
}

Value mct::buildHostGradient(OpBuilder &builder, Location loc,
                             const HostPoint &point, Value values,
                             Value gradient) {
  auto op =
      tosa::CustomOp::create(builder, loc, values.getType(), kGradient, kDomain,
                             point.name, ValueRange{values, gradient});
  op->setDiscardableAttr(kQuantizer, point.quantizer);
  op->setDiscardableAttr(kAxes, builder.getDenseI64ArrayAttr(point.axes));
  if (point.isWeight)
    op->setDiscardableAttr(kIsWeight, builder.getUnitAttr());
  return op->getResult(0);
}

std::optional<HostPoint> mct::getHostGradient(Operation *op) {
  auto custom = dyn_cast<tosa::CustomOp>(op);
  if (!custom || custom.getDomainName() != kDomain ||
      custom.getOperatorName() != kGradient)
    return std::nullopt;
  auto quantizer = dyn_cast_if_present<tpc::HostQuantizerAttr>(
      op->getDiscardableAttr(kQuantizer));
  auto axes =
      dyn_cast_if_present<DenseI64ArrayAttr>(op->getDiscardableAttr(kAxes));
  if (!quantizer || !axes || op->getNumOperands() != 2 ||
      op->getNumResults() != 1)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.getElementType().isF32() ||
      op->getOperand(0).getType() != type ||
      op->getOperand(1).getType() != type)
    return std::nullopt;
  return HostPoint{custom.getImplementationAttrs().str(), quantizer, type,
                   llvm::to_vector(axes.asArrayRef()),
                   op->getDiscardableAttr(kIsWeight) != nullptr};
}
