// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/Records.h"
#include "mct/IR/Names.h"
#include "mlir/IR/Builders.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/ScopedPrinter.h"
#include <cmath>

using namespace mlir;
using namespace mct;

StringRef mct::stringifyReason(Reason reason) {
  switch (reason) {
#define MCT_REASON(Name, Id, Text, Remedy)                                     \
  case Reason::Name:                                                           \
    return Id;
#include "mct/IR/Reasons.def"
#undef MCT_REASON
  }
  llvm_unreachable("unknown reason");
}

static StringRef getTextOf(Reason reason) {
  switch (reason) {
#define MCT_REASON(Name, Id, Text, Remedy)                                     \
  case Reason::Name:                                                           \
    return Text;
#include "mct/IR/Reasons.def"
#undef MCT_REASON
  }
  llvm_unreachable("unknown reason");
}

StringRef mct::stringifyDecision(Decision decision) {
  switch (decision) {
  case Decision::Applied:
    return "applied";
  case Decision::Declined:
    return "declined";
  case Decision::Noted:
    return "noted";
  }
  llvm_unreachable("unknown decision");
}

NamedValue mct::named(StringRef name, double value, const char *format) {
  NamedValue result{name.str(), value, ""};
  // NOLINTNEXTLINE(clang-diagnostic-format-nonliteral)
  llvm::raw_string_ostream(result.text) << llvm::format(format, value);
  return result;
}

NamedValue mct::named(StringRef name, int64_t value) {
  return {name.str(), value, std::to_string(value)};
}

NamedValue mct::named(StringRef name, StringRef value) {
  return {name.str(), value.str(), value.str()};
}

//===----------------------------------------------------------------------===//
// Records as metadata of diagnostics
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kPass = "pass", kDecision = "decision",
                               kReason = "reason", kOp = "op", kName = "name",
                               kValues = "values", kSilent = "silent";

std::string Record::getText() const {
  return text.empty() ? getTextOf(reason).str() : text;
}

/// Returns the unique name of a point, or else the name in the location.
static std::string recordedName(Operation *op) {
  if (auto point = dyn_cast<tpc::QuantizeOp>(op))
    return point.getUniqueName();
  StringAttr name = getName(op->getLoc());
  return name ? name.str() : std::string();
}

DictionaryAttr Record::toAttribute(Operation *op, StringRef pass) const {
  Builder builder(op->getContext());
  SmallVector<NamedAttribute> pairs;
  for (const NamedValue &value : values) {
    Attribute attribute;
    if (const auto *number = std::get_if<double>(&value.value))
      attribute = builder.getF64FloatAttr(*number);
    else if (const auto *integer = std::get_if<int64_t>(&value.value))
      attribute = builder.getI64IntegerAttr(*integer);
    else
      attribute = builder.getStringAttr(std::get<std::string>(value.value));
    pairs.push_back(builder.getNamedAttr(value.name, attribute));
  }
  auto text = [&](StringRef key, StringRef value) {
    return builder.getNamedAttr(key, builder.getStringAttr(value));
  };
  return builder.getDictionaryAttr(
      {text(kPass, pass), text(kDecision, stringifyDecision(decision)),
       text(kReason, stringifyReason(reason)),
       text(kOp, op->getName().getStringRef()), text(kName, recordedName(op)),
       builder.getNamedAttr(kValues, builder.getDictionaryAttr(pairs))});
}

void SilentPasses::add(StringRef pass) {
  std::lock_guard<std::mutex> lock(mutex);
  passes.emplace(std::this_thread::get_id(), pass.str());
}

void SilentPasses::remove(StringRef pass) {
  std::lock_guard<std::mutex> lock(mutex);
  passes.erase(passes.find({std::this_thread::get_id(), pass.str()}));
}

bool SilentPasses::contains(StringRef pass) const {
  std::lock_guard<std::mutex> lock(mutex);
  return passes.count({std::this_thread::get_id(), pass.str()});
}

bool mct::isSilent(DictionaryAttr record) { return bool(record.get(kSilent)); }

InFlightDiagnostic mct::emitRecord(Operation *op, StringRef pass,
                                   const Record &record, const Twine &prefix) {
  InFlightDiagnostic diagnostic = op->emitRemark()
                                  << prefix << record.getText();
  DictionaryAttr attribute = record.toAttribute(op, pass);
  SilentPasses *silent = SilentPassesScope::find(op->getContext());
  if (silent && silent->contains(pass)) {
    NamedAttrList entries(attribute);
    entries.set(kSilent, UnitAttr::get(op->getContext()));
    attribute = entries.getDictionary(op->getContext());
  }
  diagnostic.getUnderlyingDiagnostic()->getMetadata().push_back(
      DiagnosticArgument(Attribute(attribute)));
  return diagnostic;
}

void mct::emitWithCause(Operation *op, StringRef pass, const Record &record,
                        const Twine &prefix) {
  InFlightDiagnostic remark = emitRecord(op, pass, record, prefix);
  if (Operation *cause = record.getCause())
    remark.attachNote(cause->getLoc()) << "this op";
}

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

/// Returns the record that a diagnostic carries, or null.
static DictionaryAttr getRecord(Diagnostic &diagnostic) {
  for (DiagnosticArgument &argument : diagnostic.getMetadata())
    if (argument.getKind() ==
        DiagnosticArgument::DiagnosticArgumentKind::Attribute)
      if (auto record = dyn_cast<DictionaryAttr>(argument.getAsAttribute());
          record && record.getAs<StringAttr>(kReason))
        return record;
  return {};
}

static CollectedRecord collect(DictionaryAttr record, Diagnostic &diagnostic) {
  auto read = [&](StringRef key) {
    auto text = record.getAs<StringAttr>(key);
    return text ? text.str() : std::string();
  };
  CollectedRecord result;
  result.pass = read(kPass);
  result.decision = read(kDecision);
  result.reason = read(kReason);
  result.op = read(kOp);
  result.name = read(kName);
  if (auto values = record.getAs<DictionaryAttr>(kValues))
    for (NamedAttribute value : values) {
      StringRef name = value.getName().strref();
      if (auto number = dyn_cast<FloatAttr>(value.getValue()))
        result.values.push_back(named(name, number.getValueAsDouble()));
      else if (auto integer = dyn_cast<IntegerAttr>(value.getValue()))
        result.values.push_back(named(name, integer.getInt()));
      else if (auto text = dyn_cast<StringAttr>(value.getValue()))
        result.values.push_back(named(name, text.getValue()));
    }
  result.location = llvm::to_string(diagnostic.getLocation());
  result.text = diagnostic.str();
  for (Diagnostic &note : diagnostic.getNotes())
    result.notes.push_back({llvm::to_string(note.getLocation()), note.str()});
  result.isSilent = isSilent(record);
  return result;
}

RecordCollector::RecordCollector(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        DictionaryAttr record = getRecord(diagnostic);
        if (record)
          records.push_back(collect(record, diagnostic));
        // Other remarks are printed by the next handler.
        return success(record && records.back().isSilent);
      }) {}

llvm::json::Value mct::toJSON(const CollectedRecord &record) {
  llvm::json::Object values;
  for (const NamedValue &value : record.values) {
    llvm::json::Value json = nullptr;
    if (const auto *number = std::get_if<double>(&value.value)) {
      if (std::isfinite(*number))
        json = *number;
    } else if (const auto *integer = std::get_if<int64_t>(&value.value)) {
      json = *integer;
    } else {
      json = llvm::json::fixUTF8(std::get<std::string>(value.value));
    }
    values.try_emplace(llvm::json::fixUTF8(value.name), std::move(json));
  }
  llvm::json::Array notes;
  for (const CollectedRecord::Note &note : record.notes)
    notes.push_back(
        llvm::json::Object{{"location", llvm::json::fixUTF8(note.location)},
                           {"text", llvm::json::fixUTF8(note.text)}});
  return llvm::json::Object{
      {"pass", record.pass},
      {"decision", record.decision},
      {"reason", record.reason},
      {"op", llvm::json::fixUTF8(record.op)},
      {"name", llvm::json::fixUTF8(record.name)},
      {"values", std::move(values)},
      {"location", llvm::json::fixUTF8(record.location)},
      {"text", llvm::json::fixUTF8(record.text)},
      {"notes", std::move(notes)},
  };
}

void mct::printRecords(ArrayRef<CollectedRecord> records,
                       llvm::raw_ostream &stream) {
  llvm::json::Array array;
  for (const CollectedRecord &record : records)
    if (!record.isSilent)
      array.push_back(toJSON(record));
  llvm::json::Value document =
      llvm::json::Object{{"records", std::move(array)}};
  stream << llvm::formatv("{0:2}", document) << '\n';
}
