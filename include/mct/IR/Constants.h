// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_CONSTANTS_H
#define MCT_IR_CONSTANTS_H

#include "mct/IR/ConstantTensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <optional>
#include <vector>

namespace mlir::tosa {
class MulOp;
} // namespace mlir::tosa

namespace mct {

/// The elements of a constant as f32, read in place if they are stored as such;
/// a splat is expanded.
class ConstantFloats {
public:
  /// Returns none if `value` is not a constant of element type f32, if its data
  /// are missing, or if it is a splat of more than 2^26 elements.
  static std::optional<ConstantFloats> get(mlir::Value value);
  /// Returns whether `get` would return elements, without copying them.
  static bool exists(mlir::Value value);
  /// Converts a tensor of any element type; none for a splat of more than 2^26
  /// elements.
  static std::optional<ConstantFloats> convert(ConstantTensor tensor);

  /// Returns all elements in row-major order. They are valid as long as this
  /// object.
  llvm::ArrayRef<float> values() const LLVM_LIFETIME_BOUND {
    return converted.empty() ? tensor.getFloats()
                             : llvm::ArrayRef<float>(converted);
  }
  llvm::ArrayRef<int64_t> shape() const { return tensor.getShape(); }

private:
  ConstantTensor tensor;
  std::vector<float> converted;
};

/// Returns an attribute with these elements. Large ones become a
/// `dense_resource`, of which the context keeps no uniqued copy; `name` is the
/// key of that resource.
mlir::ElementsAttr createFloats(mlir::RankedTensorType type,
                                llvm::ArrayRef<float> values,
                                llvm::StringRef name);

/// Creates a `tosa.const` with the attribute of `createFloats`.
mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::RankedTensorType type,
                           llvm::ArrayRef<float> values, llvm::StringRef name);

/// Creates a `tosa.mul` of numbers, with a shift of 0.
mlir::tosa::MulOp createProduct(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Type type, mlir::Value first,
                                mlir::Value second);

/// Returns an attribute of type `tensor<Nxi32>` if all values fit, else of
/// `tensor<Nxi64>`: inline if small, else a `dense_resource` with key `name`.
mlir::ElementsAttr createIntegers(mlir::MLIRContext *context,
                                  llvm::ArrayRef<int64_t> values,
                                  llvm::StringRef name);

} // namespace mct

#endif // MCT_IR_CONSTANTS_H
