// SPDX-License-Identifier: Apache-2.0
#include "mct/Transforms/LiftVariables.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/Names.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mct {
#define GEN_PASS_DEF_LIFTVARIABLESPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

SmallVector<NetworkState> mct::findStates(func::FuncOp function) {
  llvm::StringMap<BlockArgument> arguments;
  for (BlockArgument argument : function.getArguments())
    if (StringAttr name = getName(argument.getLoc()))
      arguments[(name.getValue() + kNextSuffix).str()] = argument;
  SmallVector<NetworkState> states;
  Operation *terminator = function.getBody().back().getTerminator();
  for (OpOperand &result : terminator->getOpOperands()) {
    StringAttr name = getName(result.get());
    auto found = name ? arguments.find(name.getValue()) : arguments.end();
    if (found != arguments.end() &&
        found->second.getType() == result.get().getType())
      states.push_back({found->second, &result});
  }
  return states;
}

namespace {

/// A variable of the module, and its value at the current op.
struct Variable {
  tosa::VariableOp op;
  RankedTensorType type;
  /// Null if it has no initial value.
  ElementsAttr initialValue;
  bool isRead = false, isWritten = false;
  Value current;
};

class Lifter {
public:
  Lifter(ModuleOp module, func::FuncOp entry) : module(module), entry(entry) {}

  LogicalResult lift();

private:
  LogicalResult readVariables();
  LogicalResult checkAccesses();
  LogicalResult checkAccess(Operation *access);
  void addArguments();
  void replaceAccesses();
  void addResults();

  static StringRef nameOf(Operation *access) {
    if (auto read = dyn_cast<tosa::VariableReadOp>(access))
      return read.getName();
    return cast<tosa::VariableWriteOp>(access).getName();
  }
  Variable &variableOf(Operation *access) {
    return variables.find(nameOf(access))->second;
  }

  ModuleOp module;
  func::FuncOp entry;
  /// Variables in the order of their declarations.
  llvm::MapVector<StringRef, Variable> variables;
};

} // namespace

static bool isAccess(Operation *op) {
  return isa<tosa::VariableReadOp, tosa::VariableWriteOp>(op);
}

LogicalResult Lifter::readVariables() {
  for (auto op : module.getOps<tosa::VariableOp>()) {
    for (const APInt &size : op.getVarShape().getValues<APInt>())
      if (size.getSExtValue() < 1 && size.getSExtValue() != -1)
        return op.emitOpError("has the size ") << size.getSExtValue()
                                               << "; sizes are at least 1, or "
                                                  "-1 where they are not known";
    Variable variable{op, tosa::getVariableType(op), {}, false, false, {}};
    if (std::optional<Attribute> initial = op.getInitialValue()) {
      variable.initialValue = dyn_cast<ElementsAttr>(*initial);
      if (!variable.initialValue ||
          variable.initialValue.getType() != variable.type) {
        InFlightDiagnostic diagnostic =
            op.emitOpError("has an initial value that is not of type ")
            << variable.type << ": " << *initial;
        diagnostic.attachNote() << "write one of the type of the variable";
        return diagnostic;
      }
    }
    variables.insert({op.getSymName(), variable});
  }
  return success();
}

LogicalResult Lifter::checkAccess(Operation *access) {
  auto read = dyn_cast<tosa::VariableReadOp>(access);
  StringRef does = read ? "reads" : "writes", name = nameOf(access);
  auto found = variables.find(name);
  if (found == variables.end())
    return access->emitOpError(does) << " the variable '" << name
                                     << "', which the module does not declare";
  if (!entry->isAncestor(access)) {
    InFlightDiagnostic diagnostic = access->emitOpError(does)
                                    << " the variable '" << name
                                    << "' outside of '" << entry.getSymName()
                                    << "', whose argument it becomes";
    diagnostic.attachNote(entry.getLoc())
        << "inline the functions that are called, by the pass inline";
    return diagnostic;
  }
  Variable &variable = found->second;
  Type type = read ? read.getOutput1().getType()
                   : cast<tosa::VariableWriteOp>(access).getInput1().getType();
  if (type != variable.type) {
    InFlightDiagnostic diagnostic = access->emitOpError(does)
                                    << " the variable '" << name << "' as "
                                    << type;
    diagnostic.attachNote(variable.op.getLoc())
        << "it is declared with type " << variable.type;
    return diagnostic;
  }
  Operation *parent = access->getParentOp();
  if (!read && parent != entry) {
    InFlightDiagnostic diagnostic =
        access->emitOpError("writes the variable '")
        << name << "' inside of '" << parent->getName()
        << "', where it is not known whether and how often that happens";
    diagnostic.attachNote(parent->getLoc())
        << "let this op yield the value, and write it behind";
    return diagnostic;
  }
  (read ? variable.isRead : variable.isWritten) = true;
  return success();
}

LogicalResult Lifter::checkAccesses() {
  WalkResult result = module.walk([&](Operation *op) {
    return isAccess(op) && failed(checkAccess(op)) ? WalkResult::interrupt()
                                                   : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  if (!llvm::hasSingleElement(entry.getBody()))
    return entry.emitOpError("has several blocks, through which the values of "
                             "variables cannot be followed");
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(entry, module);
  if (!uses || uses->empty())
    return success();
  InFlightDiagnostic diagnostic =
      entry.emitOpError("gets arguments and results for its variables, but is "
                        "called");
  diagnostic.attachNote(uses->begin()->getUser()->getLoc())
      << "called here; remove the call, or name another entry function";
  return diagnostic;
}

/// Returns the location of a value that replaces a variable, with the
/// variable's name.
static Location nameAfter(tosa::VariableOp variable, StringRef suffix = "") {
  return NameLoc::get(
      StringAttr::get(variable.getContext(), variable.getSymName() + suffix),
      variable.getLoc());
}

void Lifter::addArguments() {
  OpBuilder builder = OpBuilder::atBlockBegin(&entry.getBody().front());
  for (auto &[name, variable] : variables) {
    if (!variable.isRead && !variable.isWritten)
      continue;
    if (!variable.isWritten && variable.initialValue) {
      variable.current = tosa::ConstOp::create(
          builder, variable.op.getLoc(), variable.type, variable.initialValue);
      continue;
    }
    NamedAttrList attributes;
    if (variable.initialValue)
      attributes.set(kInitialValueAttrName, variable.initialValue);
    unsigned number = entry.getNumArguments();
    (void)entry.insertArgument(number, variable.type,
                               attributes.getDictionary(entry.getContext()),
                               nameAfter(variable.op));
    variable.current = entry.getArgument(number);
  }
}

void Lifter::replaceAccesses() {
  // A read returns the last value written before it in program order; a read
  // inside of a region, the last one written before the region's op.
  entry.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto read = dyn_cast<tosa::VariableReadOp>(op)) {
      read.getOutput1().replaceAllUsesWith(variableOf(op).current);
      read.erase();
      return WalkResult::skip();
    }
    if (auto write = dyn_cast<tosa::VariableWriteOp>(op)) {
      variableOf(op).current = write.getInput1();
      write.erase();
      return WalkResult::skip();
    }
    return WalkResult::advance();
  });
}

void Lifter::addResults() {
  Operation *terminator = entry.getBody().front().getTerminator();
  OpBuilder builder(terminator);
  SmallVector<Value> results(terminator->getOperands());
  for (auto &[name, variable] : variables) {
    if (!variable.isWritten)
      continue;
    // The identity gives the result its own name, even if the value has another
    // one.
    results.push_back(
        tosa::IdentityOp::create(builder, nameAfter(variable.op, kNextSuffix),
                                 variable.type, variable.current));
    (void)entry.insertResult(entry.getNumResults(), variable.type, {});
  }
  terminator->setOperands(results);
  for (auto &[name, variable] : variables)
    variable.op.erase();
}

LogicalResult Lifter::lift() {
  if (failed(readVariables()) || failed(checkAccesses()))
    return failure();
  addArguments();
  replaceAccesses();
  addResults();
  return success();
}

namespace {
struct LiftVariablesPass
    : public mct::impl::LiftVariablesPassBase<LiftVariablesPass> {
  using LiftVariablesPassBase::LiftVariablesPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (module.getOps<tosa::VariableOp>().empty())
      return markAllAnalysesPreserved();
    FailureOr<func::FuncOp> entry = findEntryFunction(module, function);
    if (failed(entry) || failed(Lifter(module, *entry).lift()))
      signalPassFailure();
  }
};
} // namespace
