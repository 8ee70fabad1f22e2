// SPDX-License-Identifier: Apache-2.0
//
// The graph of a `.tflite` file that is being described: which tensors hold the
// codes or the numbers of the module's values.
#ifndef MCT_LIB_EXPORT_TFLITEGRAPH_H
#define MCT_LIB_EXPORT_TFLITEGRAPH_H

#include "OnnxGraph.h"
#include "OnnxOperators.h"
#include "TfliteModel.h"
#include "mct/Conversion/Encoding.h"
#include "mct/Export/Tflite.h"
#include "mct/IR/ConstantTensor.h"
#include "mct/Planning/KernelOp.h"

#include <map>

namespace mct::tflite {

/// The form in which a result is requested: codes on a grid, or numbers.
struct Wanted {
  std::optional<Encoding> encoding;
  /// Name of the tensor.
  std::string name;

  bool isCodes() const { return encoding.has_value(); }
};

/// A tensor that was written, or none if the op has no such form in a file, in
/// which case `GraphBuilder::reason` says why. Fails after a diagnostic.
using Written = mlir::FailureOr<std::optional<int64_t>>;

/// Emits an error at an op that files cannot have, with the remedy.
mlir::InFlightDiagnostic refuse(mlir::Operation *op, const llvm::Twine &why,
                                const llvm::Twine &remedy);

/// An operator without its tensors.
struct Form {
  llvm::StringRef code;
  int64_t version = 1;
  llvm::StringRef optionsType = "";
  std::vector<Option> options = {};
  /// True if the table has `fused_activation_function`.
  bool isFusing = false;
};

class GraphBuilder {
public:
  GraphBuilder(mlir::func::FuncOp function, const TfliteOptions &options,
               onnx::Operators operators);

  //===--- Tensors --------------------------------------------------------===//

  int64_t addTensor(const llvm::Twine &name, ElementType type,
                    llvm::ArrayRef<int64_t> shape);
  int64_t addCodes(const llvm::Twine &name, llvm::ArrayRef<int64_t> shape,
                   const Encoding &encoding);
  int64_t addNumbers(const llvm::Twine &name, llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<float> numbers);
  /// Adds a constant of integers; INT4 integers are packed in pairs, the first
  /// one in the low bits.
  int64_t addIntegers(const llvm::Twine &name, llvm::ArrayRef<int64_t> shape,
                      ElementType type, llvm::ArrayRef<int64_t> integers);
  /// Adds a list of sizes or axes, as INT32.
  int64_t addList(const llvm::Twine &name, llvm::ArrayRef<int64_t> integers);
  void addOperator(const Form &form, std::vector<int64_t> inputs,
                   int64_t output);
  /// Adds an operator and the tensor of its result, with the shape of `result`;
  /// clamps codes, by the operator itself if possible.
  int64_t write(const Form &form, std::vector<int64_t> inputs,
                mlir::Value result, const Wanted &wanted);
  int64_t write(const Form &form, std::vector<int64_t> inputs,
                llvm::ArrayRef<int64_t> shape, const Wanted &wanted,
                ElementType type = ElementType::Float32);
  /// Clamps codes to those of a grid.
  int64_t limit(int64_t tensor, const Wanted &wanted);
  void setGrid(int64_t tensor, const Encoding &encoding);
  int64_t reshape(int64_t tensor, llvm::ArrayRef<int64_t> shape,
                  const llvm::Twine &name);
  /// Adds a tensor with the type and the grid of another one.
  int64_t addLike(int64_t tensor, llvm::ArrayRef<int64_t> shape,
                  const llvm::Twine &name);

  //===--- Values ---------------------------------------------------------===//

  /// Returns the grid whose codes represent a value exactly, if the value is
  /// the result of a point or of ops that move such values, or an argument that
  /// only points with one grid read.
  std::optional<Encoding> findEncoding(mlir::Value value);
  /// Returns the codes of such a value.
  mlir::FailureOr<int64_t> readStored(mlir::Value value);
  /// Returns the codes of a value on a grid, rounded if they are not exact.
  mlir::FailureOr<int64_t> makeCodes(mlir::Operation *user, mlir::Value value,
                                     const Encoding &encoding,
                                     llvm::StringRef name = "");
  /// Returns a tensor with the value's own element type. `name` is used if it
  /// has to be written.
  mlir::FailureOr<int64_t> readNumbers(mlir::Operation *user, mlir::Value value,
                                       llvm::StringRef name = "");
  /// Returns an operand whose grid may differ from the result's: the codes of
  /// the value, or constants with few distinct numbers; none if there are no
  /// such codes.
  Written readOperand(mlir::Operation *user, mlir::Value value,
                      unsigned storageBits, Encoding *encoding = nullptr);
  /// Returns the numbers of a value if numbers are requested, or else what
  /// `readOperand` returns for codes of the requested width.
  Written readOnOwnGrid(mlir::Operation *user, mlir::Value value,
                        const Wanted &wanted);
  /// Reads a value in the requested form.
  mlir::FailureOr<int64_t> read(mlir::Operation *user, mlir::Value value,
                                const Wanted &wanted);
  /// Returns the layer that computes a value, including its bias, or null.
  const KernelOp *findLayer(mlir::Value value) const;
  /// Defines which tensor holds the codes of a value.
  void define(mlir::Value value, int64_t tensor, const Encoding &encoding);
  void defineNumbers(mlir::Value value, int64_t tensor) {
    numbers[value] = tensor;
  }
  std::string makeName(const llvm::Twine &wanted);
  /// Records why an op has no form, and returns none.
  std::nullopt_t decline(llvm::StringRef why) {
    reason = why.str();
    return std::nullopt;
  }

  mlir::func::FuncOp function;
  const TfliteOptions &options;
  Model model;
  std::string reason;

private:
  /// Returns whether an op is part of an operator of several ops.
  bool isPart(mlir::Operation *op) const {
    return operators.interior.contains(op) || operators.byRoot.contains(op);
  }
  Written writeValue(mlir::Value value, const Wanted &wanted);
  std::optional<Encoding> createEncoding(mlir::Value value);
  void explain(mlir::Value value);

  KernelOps kernels;
  onnx::Operators operators;
  llvm::DenseMap<mlir::Value, KernelOp> layers;
  llvm::StringSet<> names;
  llvm::DenseMap<mlir::Value, std::optional<Encoding>> encodings;
  llvm::DenseMap<mlir::Value, int64_t> numbers;
  std::map<std::pair<void *, Encoding>, int64_t> codes;
};

/// Writes the result of an op or, if `matched` is given, of an operator that
/// TOSA expresses by several ops.
Written writeOp(GraphBuilder &graph, mlir::Operation *op, const Wanted &wanted);
Written writeOperator(GraphBuilder &graph, const onnx::Operator &matched,
                      const Wanted &wanted);
/// Writes an operator whose operands have their own grids.
Written writeOnOwnGrids(GraphBuilder &graph, mlir::Operation *op,
                        mlir::ValueRange operands, const Form &form,
                        const Wanted &wanted);
/// Writes an operator of one operand whose codes have the same grid in every
/// file; for 8 bits, it is this one.
Written writeOnFixedGrid(GraphBuilder &graph, mlir::Operation *op,
                         mlir::Value operand, const Form &form, double scale,
                         int64_t zeroPoint, const Wanted &wanted);
/// Writes numbers, clamped to [low, high].
Written writeLimits(GraphBuilder &graph, mlir::Operation *op,
                    mlir::Value operand, double low, double high,
                    const Wanted &wanted);
/// Writes the result of a layer, including its bias.
Written writeLayer(GraphBuilder &graph, const KernelOp &layer,
                   mlir::Value result, const Wanted &wanted);
/// Writes a fully connected layer: [..., inputs] to [..., outputs].
Written writeDense(GraphBuilder &graph, const KernelOp &layer,
                   mlir::Value input, mlir::Value result, const Wanted &wanted);
/// Writes the codes of sums over windows of an image, multiplied by `weight`,
/// as a depthwise convolution, or as a convolution over the positions of the
/// whole image. Unlike those of MEAN and AVERAGE_POOL_2D, the results of these
/// are rounded once by all kernels.
Written writeWindowSum(GraphBuilder &graph, mlir::Operation *op,
                       mlir::Value input, llvm::ArrayRef<int64_t> window,
                       llvm::ArrayRef<int64_t> stride,
                       llvm::ArrayRef<int64_t> shape, double weight,
                       const Wanted &wanted);
/// Returns whether the results of an op are elements of its operands, so that
/// their codes are, too.
bool isMovement(mlir::Operation *op);

} // namespace mct::tflite

#endif // MCT_LIB_EXPORT_TFLITEGRAPH_H
