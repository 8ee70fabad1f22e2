// SPDX-License-Identifier: Apache-2.0
//
// The graph of an ONNX file that is being written: nodes, constants, and the
// tensors that hold the values of the module.
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

/// Domain of the package that has the ops to which points are converted.
inline constexpr llvm::StringLiteral kQuantizerDomain = "mct_quantizers";

inline constexpr llvm::StringLiteral kUnknownForm =
    "has no form in ONNX that is known here";

/// A tensor of the file that holds the elements of a value.
struct TensorRef {
  std::string name;
  Layout layout;
};

/// The inputs of a node, by name, and its attributes.
struct NodeInputs {
  std::vector<std::string> names;
  std::vector<NodeAttribute> attributes;
};

/// A constant of the module, with the points that quantize it.
struct Constant {
  llvm::SmallVector<tpc::QuantizeOp, 1> points;
  /// The elements, rounded to the levels of the points.
  std::vector<float> values;
  llvm::SmallVector<int64_t> shape;
};

/// Returns the constant of a value, or none if it is not constant.
std::optional<Constant> readConstant(mlir::Value value);
/// Returns the value that all elements of a constant have, or none.
std::optional<float> readNumber(mlir::Value value);
/// Returns the sizes in a `tosa.const_shape`; fails at `op` for other values.
mlir::FailureOr<llvm::SmallVector<int64_t>> readShape(mlir::Operation *op,
                                                      mlir::Value shape);

mlir::RankedTensorType typeOf(mlir::Value value);
/// Returns the name of a value, or a substitute if it has none.
std::string nameOf(mlir::Value value);
/// Returns a shape in the form that the file has.
llvm::SmallVector<int64_t> fileShape(llvm::ArrayRef<int64_t> shape);
std::vector<int64_t> integers(llvm::ArrayRef<int64_t> values);
/// Converts pads from pairs, as in TOSA, to all begins followed by all ends.
std::vector<int64_t> padsOf(llvm::ArrayRef<int64_t> pad);

/// Returns the type of an argument. Fails if it is not a tensor that satisfies
/// `isKnown` with known sizes, except for the batch. `tensors`: describes the
/// tensors that a file can have.
mlir::FailureOr<mlir::RankedTensorType>
readArgumentType(mlir::BlockArgument argument, llvm::StringRef tensors,
                 llvm::function_ref<bool(mlir::Type)> isKnown);
/// Emits an error at an op that cannot be written, with the remedy.
mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &why);

class GraphBuilder {
public:
  GraphBuilder(mlir::func::FuncOp function, const KernelOps &kernels,
               const OnnxOptions &options, tpc::OnnxLimitsOp limits)
      : function(function), options(options), limits(limits), kernels(kernels) {
  }

  bool isQdq() const { return options.profile == OnnxProfile::Qdq; }
  /// Returns the version of the file's operator set.
  int64_t getOperatorSet() const;

  /// Returns a unique name: `wanted`, with a number if necessary.
  std::string makeName(const llvm::Twine &wanted);
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
  /// Returns the inputs and attributes of a reduction along `axes` of a tensor:
  /// depending on the operator set, the axes are an operand or an attribute.
  NodeInputs withAxes(llvm::StringRef opType, const std::string &tensor,
                      std::vector<int64_t> axes, const llvm::Twine &name);
  /// Defines which tensor holds a value.
  void define(mlir::Value value, std::string name, Layout layout);
  /// Adds a node that computes the result of `op`.
  mlir::LogicalResult replace(mlir::Operation *op, llvm::StringRef opType,
                              std::vector<std::string> inputs, Layout layout,
                              std::vector<NodeAttribute> attributes = {});

  /// Returns the layout of the first of these values that has a tensor, or
  /// null.
  const Layout *findLayout(mlir::ValueRange values) const;
  /// Returns the layout of a value's tensor; any layout for a constant.
  mlir::FailureOr<Layout> layoutOf(mlir::Operation *user, mlir::Value value);
  /// Same as `layoutOf`, without flattened axes.
  mlir::FailureOr<Layout> plainLayoutOf(mlir::Operation *user,
                                        mlir::Value value);
  /// Returns the name of the tensor that holds a value in a layout; adds one if
  /// necessary.
  mlir::FailureOr<std::string> read(mlir::Operation *user, mlir::Value value,
                                    const Layout &layout);
  /// Returns the tensors that hold several values in one layout.
  mlir::FailureOr<std::vector<std::string>>
  readAll(mlir::Operation *user, mlir::ValueRange values, const Layout &layout);
  /// Returns a value in the layout of its tensor.
  mlir::FailureOr<TensorRef> read(mlir::Operation *user, mlir::Value value);
  /// Returns a value in a layout without flattened axes.
  mlir::FailureOr<TensorRef> readPlain(mlir::Operation *user,
                                       mlir::Value value);
  /// Adds a constant with the quantizer of its point and returns the name of
  /// the tensor. `elements`: index of the constant's element for each element
  /// of the tensor. For a device, a kernel has to be quantized.
  mlir::FailureOr<std::string>
  writeConstant(mlir::Operation *user, const Constant &constant,
                const llvm::Twine &name, llvm::ArrayRef<int64_t> shape,
                llvm::ArrayRef<int64_t> elements, bool isKernel);
  /// Adds the bias of a layer, with one value for each output channel, and
  /// returns the name of the tensor.
  std::string writeBias(const KernelOp &layer, llvm::ArrayRef<float> bias,
                        const llvm::Twine &name);

  /// Known shapes of tensors.
  llvm::StringMap<llvm::SmallVector<int64_t>> shapes;
  /// Ops that were written together with another one.
  llvm::DenseSet<mlir::Operation *> written;

  mlir::func::FuncOp function;
  const OnnxOptions &options;
  /// Limits of the device for which the file is written, or null.
  tpc::OnnxLimitsOp limits;
  const KernelOps &kernels;
  Model model;
  /// Size of the weights and biases.
  int64_t weightBits = 0;

private:
  mlir::FailureOr<TensorRef> readAs(mlir::Operation *user, mlir::Value value,
                                    mlir::FailureOr<Layout> layout);
  std::string makeTransposed(mlir::Value value, const TensorRef &from,
                             const Layout &wanted);

  llvm::StringSet<> names;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<TensorRef, 1>> known;
};

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXGRAPH_H
