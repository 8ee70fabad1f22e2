// SPDX-License-Identifier: Apache-2.0
//
// Records of the decisions of passes as data: changes, and ops that were left
// unchanged, with reasons. A remark is printed from the record that it carries,
// so that the two cannot disagree.
//
// MLIR's own remarks (mlir/IR/Remarks.h) are not used: they need an engine that
// the tool installs in the context, which a plugin of another tool cannot do,
// and their arguments are texts, where reports need numbers.
#ifndef MCT_IR_RECORDS_H
#define MCT_IR_RECORDS_H

#include "mct/Support/ContextScope.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "llvm/Support/JSON.h"
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace mct {

/// Stable identifiers; Reasons.def lists them.
enum class Reason {
#define MCT_REASON(Name, Id, Text, Remedy) Name,
#include "mct/IR/Reasons.def"
#undef MCT_REASON
};

/// Returns the identifier, in kebab case.
llvm::StringRef stringifyReason(Reason reason);

enum class Decision {
  Applied,  // something was changed, or chosen
  Declined, // something was left as it is
  Noted,    // neither; worth to know
};
llvm::StringRef stringifyDecision(Decision decision);

/// A value of a record, and its text in a message.
struct NamedValue {
  std::string name;
  std::variant<int64_t, double, std::string> value;
  std::string text;
};
/// Returns a named value. `format` is a format of printf for one double.
NamedValue named(llvm::StringRef name, double value, const char *format = "%e");
NamedValue named(llvm::StringRef name, int64_t value);
NamedValue named(llvm::StringRef name, llvm::StringRef value);

/// The record of one decision. Text and values are streamed into it; if nothing
/// is streamed, it has the text of the reason.
class Record {
public:
  Record(Reason reason) : Record(Decision::Declined, reason) {}
  Record(Decision decision, Reason reason, mlir::Operation *cause = nullptr)
      : decision(decision), reason(reason), cause(cause) {}

  Record &operator<<(const llvm::Twine &more) & {
    text += more.str();
    return *this;
  }
  Record &operator<<(NamedValue value) & {
    text += value.text;
    return add(std::move(value));
  }
  template <typename T> Record &&operator<<(T &&more) && {
    return std::move(*this << std::forward<T>(more));
  }
  /// Adds a value that is not part of the text.
  Record &add(NamedValue value) & {
    values.push_back(std::move(value));
    return *this;
  }

  Reason getReason() const { return reason; }
  /// Returns the op at fault; null if it is the op of the remark, or if there
  /// is none.
  mlir::Operation *getCause() const { return cause; }
  std::string getText() const;
  /// Returns pass, decision, reason, op, name of the op's point or value, and
  /// values.
  mlir::DictionaryAttr toAttribute(mlir::Operation *op,
                                   llvm::StringRef pass) const;

private:
  Decision decision;
  Reason reason;
  mlir::Operation *cause;
  std::string text;
  std::vector<NamedValue> values;
};

/// Emits a remark at `op` that consists of `prefix` and the text of the record,
/// and carries the record. `pass` is the flag of the pass, or `execution`. All
/// remarks must be emitted by this function.
mlir::InFlightDiagnostic emitRecord(mlir::Operation *op, llvm::StringRef pass,
                                    const Record &record,
                                    const llvm::Twine &prefix = "");

/// Emits a record, with a note at the op at fault if the record has one.
void emitWithCause(mlir::Operation *op, llvm::StringRef pass,
                   const Record &record, const llvm::Twine &prefix = "");

/// Passes of a context, with the threads that run them, whose records are for
/// collectors only and not printed. Thread safe.
class SilentPasses {
public:
  /// Adds a pass by its flag; the calling thread runs it.
  void add(llvm::StringRef pass);
  void remove(llvm::StringRef pass);
  bool contains(llvm::StringRef pass) const;

private:
  mutable std::mutex mutex;
  std::multiset<std::pair<std::thread::id, std::string>> passes;
};

/// Returns whether the record that a remark carries is for collectors only.
bool isSilent(mlir::DictionaryAttr record);

/// Allows passes of a context to be silent while it lives.
using SilentPassesScope = support::ContextScope<SilentPasses>;

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

/// A record as it was emitted; it does not depend on the context any more.
struct CollectedRecord {
  std::string pass, decision, reason;
  /// Kind of the op (`tosa.conv2d`), and the name of its point or value, empty
  /// if it has none.
  std::string op, name;
  std::vector<NamedValue> values;
  /// Location and text of the remark.
  std::string location, text;
  struct Note {
    std::string location, text;
  };
  std::vector<Note> notes;
  /// True if the remark was not requested.
  bool isSilent = false;
};

/// Collects the records that are emitted in a context while it lives. Other
/// handlers see all remarks except silent ones. Records of passes that run on
/// several functions at once are in the order of the functions.
class RecordCollector {
public:
  explicit RecordCollector(mlir::MLIRContext *context);

  llvm::ArrayRef<CollectedRecord> getRecords() const { return records; }
  std::vector<CollectedRecord> takeRecords() { return std::move(records); }

private:
  std::vector<CollectedRecord> records;
  mlir::ScopedDiagnosticHandler handler;
};

/// Returns an object whose keys are the members of `CollectedRecord`; a number
/// that is not finite is null.
llvm::json::Value toJSON(const CollectedRecord &record);
/// Prints the records that are not silent as `{"records": […]}`, indented.
void printRecords(llvm::ArrayRef<CollectedRecord> records,
                  llvm::raw_ostream &stream);

} // namespace mct

#endif // MCT_IR_RECORDS_H
