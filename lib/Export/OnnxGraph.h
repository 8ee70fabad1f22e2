// SPDX-License-Identifier: Apache-2.0
//
// The graph of an ONNX file during export: nodes, constants, and the tensors
// that hold values of the module.
#ifndef MCT_LIB_EXPORT_ONNXGRAPH_H
#define MCT_LIB_EXPORT_ONNXGRAPH_H

#include "OnnxLayout.h"
#include "OnnxModel.h"
#include "mct/Export/Onnx.h"
#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/IR/TpcDevices.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace mct::onnx {

/// Domain of the package whose ops the points become.
inline constexpr llvm::StringLiteral kQuantizerDomain = "mct_quantizers";

inline constexpr llvm::StringLiteral kUnknownForm =
    "has no form in ONNX that is known here";

/// A tensor of the file that has the elements of a value.
struct TensorRef {
  std::string name;
  Layout layout;
};

/// The inputs of a node, by name, and its attributes.
struct NodeInputs {
  std::vector<std::string> names;
  std::vector<NodeAttribute> attributes;
};

/// A constant of the module, looking through its points.
struct Constant {
  llvm::SmallVector<tpc::QuantizeOp, 1> points;
  /// The elements on the levels of the points.
  std::vector<float> values;
  llvm::SmallVector<int64_t> shape;
};

/// Returns the constant that a value is, or none.
std::optional<Constant> readConstant(mlir::Value value);
/// Returns the number that all elements of a constant are, or none.
std::optional<float> readNumber(mlir::Value value);
/// Returns the sizes that a `tosa.const_shape` has; fails at `op` for others.
mlir::FailureOr<llvm::SmallVector<int64_t>> readShape(mlir::Operation *op,
                                                      mlir::Value shape);

mlir::RankedTensorType typeOf(mlir::Value value);
/// Returns the name of a value, or a substitute if it has none.
std::string nameOf(mlir::Value value);
/// Returns the shape of a type in the file.
llvm::SmallVector<int64_t> fileShape(llvm::ArrayRef<int64_t> shape);
std::vector<int64_t> integers(llvm::ArrayRef<int64_t> values);
/// Returns pads with both begins before both ends; TOSA has them in pairs.
std::vector<int64_t> toPads(llvm::ArrayRef<int64_t> pad);

/// Returns the type of an argument. Fails for one that is not a tensor of f32,
/// i64, i32 or i1 whose sizes are known, except the batch.
mlir::FailureOr<mlir::RankedTensorType>
readArgumentType(mlir::BlockArgument argument);
/// Returns the type of the elements of a value: all integers are of 64 bits in
/// a file, which is what most operators of ONNX have for indices.
ElementType elementTypeOf(mlir::Value value);
/// Emits an error at an op that has no form in the file, with the remedy.
mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &why);

class GraphBuilder {
public:
  GraphBuilder(mlir::func::FuncOp function, const KernelOps &kernels,
               const OnnxOptions &options, tpc::OnnxLimitsOp limits)
      : function(function), options(options), limits(limits), kernels(kernels) {
  }

  bool isQdq() const { return options.profile == OnnxProfile::Qdq; }
  /// Returns the version of ONNX's operators that the file has.
  int64_t getOperatorSet() const;

  /// Returns an unused name: `requested`, possibly with a number.
  std::string makeName(const llvm::Twine &requested);
  /// Add a constant and return its name.
  std::string addFloats(const llvm::Twine &name, llvm::ArrayRef<int64_t> shape,
                        std::vector<float> values);
  std::string addIntegers(const llvm::Twine &name, std::vector<int64_t> values);
  /// Adds a constant of `type` whose elements `get` returns by index.
  std::string addPacked(const llvm::Twine &name, ElementType type,
                        llvm::ArrayRef<int64_t> shape,
                        llvm::function_ref<int64_t(int64_t)> get);
  /// Adds a node and returns the name of its result.
  std::string addNode(mlir::Operation *source, llvm::StringRef opType,
                      std::vector<std::string> inputs, const llvm::Twine &name,
                      std::vector<NodeAttribute> attributes = {},
                      llvm::StringRef domain = "");
  /// Returns the inputs and attributes of a reduction of a tensor along `axes`,
  /// which are an operand or an attribute depending on the operator set.
  NodeInputs withAxes(llvm::StringRef opType, const std::string &tensor,
                      std::vector<int64_t> axes, const llvm::Twine &name);
  /// Records a tensor as the one that holds a value.
  void define(mlir::Value value, std::string name, Layout layout);
  /// Adds a node whose result is that of `op`.
  mlir::LogicalResult replace(mlir::Operation *op, llvm::StringRef opType,
                              std::vector<std::string> inputs, Layout layout,
                              std::vector<NodeAttribute> attributes = {});

  /// Returns the layout of the first of these values that has a tensor; null if
  /// none has.
  const Layout *findLayout(mlir::ValueRange values) const;
  /// Returns the layout of a value that has a tensor; that of a constant is
  /// arbitrary.
  mlir::FailureOr<Layout> layoutOf(mlir::Operation *user, mlir::Value value);
  /// Returns the same, without axes that combine several.
  mlir::FailureOr<Layout> plainLayoutOf(mlir::Operation *user,
                                        mlir::Value value);
  /// Returns the name of the tensor that holds a value in a layout, which is
  /// added if it is missing.
  mlir::FailureOr<std::string> read(mlir::Operation *user, mlir::Value value,
                                    const Layout &layout);
  /// Returns the tensors that hold several values in one layout.
  mlir::FailureOr<std::vector<std::string>>
  readAll(mlir::Operation *user, mlir::ValueRange values, const Layout &layout);
  /// Returns a value in its present layout.
  mlir::FailureOr<TensorRef> read(mlir::Operation *user, mlir::Value value);
  /// Returns a value in a layout without axes that combine several.
  mlir::FailureOr<TensorRef> readPlain(mlir::Operation *user,
                                       mlir::Value value);
  /// Adds a constant with the quantizer of its point and returns the name of
  /// the tensor. `elements` has for each element of the tensor the index of
  /// that of the constant. For a device, a kernel has to be quantized.
  mlir::FailureOr<std::string>
  writeConstant(mlir::Operation *user, const Constant &constant,
                const llvm::Twine &name, llvm::ArrayRef<int64_t> shape,
                llvm::ArrayRef<int64_t> elements, bool isKernel);
  /// Adds the kernel and the bias of a layer, which has one value for each
  /// output channel, and returns their names. `shape`, `elements`: those of the
  /// kernel, as for `writeConstant`.
  mlir::FailureOr<std::array<std::string, 2>>
  writeLayer(mlir::Operation *user, const KernelOp &layer, Constant kernel,
             llvm::ArrayRef<float> bias, const llvm::Twine &name,
             llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> elements);

  /// Shapes of tensors, as far as they are known.
  llvm::StringMap<llvm::SmallVector<int64_t>> shapes;
  /// Ops that were written together with another one.
  llvm::DenseSet<mlir::Operation *> written;

  mlir::func::FuncOp function;
  const OnnxOptions &options;
  /// Limits of the device that the file is for, or null.
  tpc::OnnxLimitsOp limits;
  const KernelOps &kernels;
  Model model;
  /// Size of the weights and biases.
  int64_t weightBits = 0;

private:
  mlir::FailureOr<TensorRef> readAs(mlir::Operation *user, mlir::Value value,
                                    mlir::FailureOr<Layout> layout);
  std::string makeTransposed(mlir::Value value, const TensorRef &from,
                             const Layout &requested);

  llvm::StringSet<> names;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<TensorRef, 1>> known;
};

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXGRAPH_H
