// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/IR/TpcDialect.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/IR/OpImplementation.h"
#include "tpc_dialect/IR/TpcBytecode.h"

using namespace mlir;
using namespace mct::tpc;

#include "tpc_dialect/IR/TpcDialect.cpp.inc"

namespace {
/// A target repeats the same few configurations hundreds of times; aliases keep
/// it readable.
struct TpcAliases : public OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attribute, raw_ostream &os) const override {
    if (isa<AttrQuantConfigAttr>(attribute))
      os << "weight_config";
    else if (isa<OpQuantConfigAttr>(attribute))
      os << "op_config";
    else if (isa<QCOptionsAttr>(attribute))
      os << "options";
    else if (isa<OperatorSetGroupAttr>(attribute))
      os << "group";
    else
      return AliasResult::NoAlias;
    return AliasResult::FinalAlias;
  }
};
} // namespace

LogicalResult TpcDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  if (attribute.getName() != kSetAttrName ||
      isa<StringAttr>(attribute.getValue()))
    return success();
  return op->emitError() << "'" << kSetAttrName
                         << "' must be the name of an operator set, a string, "
                            "but got "
                         << attribute.getValue();
}

void TpcDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "tpc_dialect/IR/TpcOps.cpp.inc"
      >();
  addInterfaces<TpcAliases>();
  addBytecodeInterface(this);
}
