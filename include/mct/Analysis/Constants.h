// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_ANALYSIS_CONSTANTS_H
#define MCT_ANALYSIS_CONSTANTS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <optional>
#include <vector>

namespace mct {

/// The f32 elements of a constant, read in place where they are stored as such;
/// a splat is expanded.
class ConstantFloats {
public:
  /// None when `value` is not a constant of element type f32, or its data are
  /// missing.
  static std::optional<ConstantFloats> get(mlir::Value value);

  /// All elements in row-major order.
  llvm::ArrayRef<float> values() const {
    return expanded.empty() ? stored : llvm::ArrayRef<float>(expanded);
  }
  llvm::ArrayRef<int64_t> shape() const { return type.getShape(); }

private:
  mlir::RankedTensorType type;
  llvm::ArrayRef<float> stored;
  std::vector<float> expanded;
};

/// Attribute with these elements. Many of them become a `dense_resource`, so
/// that the context keeps no uniqued copy; `name` is the key of that resource.
mlir::ElementsAttr createFloats(mlir::RankedTensorType type,
                                llvm::ArrayRef<float> values,
                                llvm::StringRef name);

/// A `tosa.const` with the attribute of `createFloats`.
mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::RankedTensorType type,
                           llvm::ArrayRef<float> values, llvm::StringRef name);

/// Attribute of type `tensor<Nxi64>`: inline when small, else a
/// `dense_resource` with key `name`.
mlir::ElementsAttr createIntegers(mlir::MLIRContext *context,
                                  llvm::ArrayRef<int64_t> values,
                                  llvm::StringRef name);

} // namespace mct

#endif // MCT_ANALYSIS_CONSTANTS_H
