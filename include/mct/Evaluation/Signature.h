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

/// Inputs and outputs of a function, with the records of their integers and
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
/// Writes the members of that object into the current one.
void printMembers(llvm::json::OStream &stream, const Signature &signature);
/// Writes a record of preprocessing as a JSON object.
void print(llvm::json::OStream &stream, const Preprocessing &record);

/// Calls a function for each part that a record of preprocessing has, in order.
void forEachPart(
    const Preprocessing &record,
    llvm::function_ref<void(llvm::StringRef, llvm::ArrayRef<double>)> numbers,
    llvm::function_ref<void(llvm::StringRef, llvm::ArrayRef<int64_t>)>
        integers);

/// Returns the name of the value, before its points, that a result is, or the
/// number of the result if the value has no name.
std::string getResultName(mlir::func::FuncOp function, unsigned number);

} // namespace mct::execution

#endif // MCT_EVALUATION_SIGNATURE_H
