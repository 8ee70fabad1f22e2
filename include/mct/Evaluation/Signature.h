// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_EVALUATION_SIGNATURE_H
#define MCT_EVALUATION_SIGNATURE_H

#include "mct/IR/Preprocessing.h"
#include "mct/IR/QuantizedValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace mct::execution {

/// Inputs and outputs of a function, and what is recorded of their integers and
/// samples.
struct Signature {
  struct Entry {
    std::string name;
    mlir::Type type;
    std::optional<QuantizedValue> stored;
    std::optional<Preprocessing> preprocessing = std::nullopt;
  };
  std::string function;
  std::vector<Entry> inputs, outputs;
};
mlir::FailureOr<Signature> readSignature(mlir::ModuleOp module,
                                         llvm::StringRef function);
/// Writes a signature as a JSON object.
void print(llvm::json::OStream &stream, const Signature &signature);
/// Writes the members of that object into one that has more.
void printMembers(llvm::json::OStream &stream, const Signature &signature);
/// Writes a record of preprocessing as a JSON object.
void print(llvm::json::OStream &stream, const Preprocessing &record);

/// Calls back for each part of a record of preprocessing that says something,
/// in order.
void forEachPart(
    const Preprocessing &record,
    llvm::function_ref<void(llvm::StringRef, llvm::ArrayRef<double>)> numbers,
    llvm::function_ref<void(llvm::StringRef, llvm::ArrayRef<int64_t>)>
        integers);

/// Returns the name of the value, in front of its points, that a result is, or
/// the number of the result if the value has no name.
std::string getResultName(mlir::func::FuncOp function, unsigned number);

} // namespace mct::execution

#endif // MCT_EVALUATION_SIGNATURE_H
