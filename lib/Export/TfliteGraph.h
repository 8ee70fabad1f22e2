// SPDX-License-Identifier: Apache-2.0
//
// The graph of a `.tflite` file during export: the tensors that hold the codes,
// and those that hold the numbers, of values of the module.
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

/// The requested form of a result: codes on a grid, or numbers.
struct RequestedForm {
  std::optional<Encoding> encoding;
  /// Name of the tensor.
  std::string name;

  bool isCodes() const { return encoding.has_value(); }
};

/// A tensor that was written. None if the op has no such form in a file;
/// `GraphBuilder::reason` then has the reason. Fails after a diagnostic.
using Written = mlir::FailureOr<std::optional<int64_t>>;

/// Emits an error at an op that a file cannot have, with the remedy.
mlir::InFlightDiagnostic refuse(mlir::Operation *op, const llvm::Twine &why,
                                const llvm::Twine &remedy);

/// Returns the type of numbers, or none if a file cannot have them here.
std::optional<ElementType> numberTypeOf(mlir::Value value);

/// An operator without its tensors.
struct Form {
  llvm::StringRef code;
  int64_t version = 1;
  llvm::StringRef optionsType = "";
  std::vector<Option> options = {};
  /// True if the table has `fused_activation_function`.
  bool isFusing = false;
  /// Largest magnitude of a layer's sums of products of codes; 0: not a layer.
  double reach = 0;
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
  /// Adds a constant of integers; INT4 has two in a byte, the first in the low
  /// bits.
  int64_t addIntegers(const llvm::Twine &name, llvm::ArrayRef<int64_t> shape,
                      ElementType type, llvm::ArrayRef<int64_t> integers);
  /// Adds a list of sizes or axes, as INT32.
  int64_t addList(const llvm::Twine &name, llvm::ArrayRef<int64_t> integers);
  void addOperator(const Form &form, std::vector<int64_t> inputs,
                   int64_t output);
  /// Adds an operator and the tensor of its result, of the shape of `result`;
  /// limits codes, by the operator if it can. If no kernel rescales to the grid
  /// that is requested, the operator makes codes of a coarser one, which
  /// QUANTIZE converts: they are equal, since the steps that an operator
  /// computes with are then larger than those of both grids.
  int64_t write(const Form &form, std::vector<int64_t> inputs,
                mlir::Value result, const RequestedForm &requested);
  int64_t write(const Form &form, std::vector<int64_t> inputs,
                llvm::ArrayRef<int64_t> shape, const RequestedForm &requested,
                ElementType type = ElementType::Float32);
  /// Returns whether kernels take the scales of an operator's operands, given
  /// that of its result; otherwise declines, so that it is computed with
  /// numbers.
  bool canScale(const Form &form, llvm::ArrayRef<int64_t> inputs,
                const Encoding &result);
  /// Limits codes to those of a grid.
  int64_t limit(int64_t tensor, const RequestedForm &requested);
  void setGrid(int64_t tensor, const Encoding &encoding);
  int64_t reshape(int64_t tensor, llvm::ArrayRef<int64_t> shape,
                  const llvm::Twine &name);
  /// Copies the type and the grid of a tensor to a new one.
  int64_t addLike(int64_t tensor, llvm::ArrayRef<int64_t> shape,
                  const llvm::Twine &name);

  //===--- Values ---------------------------------------------------------===//

  /// Returns the grid on which codes represent a value exactly: that of a
  /// point, of ops that move elements of such values, or of an argument whose
  /// only users are points of one grid.
  std::optional<Encoding> findEncoding(mlir::Value value);
  /// Returns the codes of such a value.
  mlir::FailureOr<int64_t> readStored(mlir::Value value);
  /// Returns the codes of a value on a grid, rounded if they are not exact.
  mlir::FailureOr<int64_t> makeCodes(mlir::Operation *user, mlir::Value value,
                                     const Encoding &encoding,
                                     llvm::StringRef name = "");
  /// Returns a tensor of the value's own element type, with this name if it has
  /// to be written.
  mlir::FailureOr<int64_t> readNumbers(mlir::Operation *user, mlir::Value value,
                                       llvm::StringRef name = "");
  /// Returns the operand of an op for which the result's grid does not matter:
  /// existing codes of the value, or constants with few different numbers; none
  /// if there are none.
  Written readOperand(mlir::Operation *user, mlir::Value value,
                      unsigned storageBits, Encoding *encoding = nullptr);
  /// Returns the numbers of a value if numbers are wanted, otherwise the result
  /// of `readOperand` for codes of the wanted width.
  Written readOnOwnGrid(mlir::Operation *user, mlir::Value value,
                        const RequestedForm &requested);
  /// Reads a value in the form of `requested`.
  mlir::FailureOr<int64_t> read(mlir::Operation *user, mlir::Value value,
                                const RequestedForm &requested);
  /// Returns the layer whose sums of products, including its bias, a value is.
  const KernelOp *findLayer(mlir::Value value) const;
  /// Records a tensor that holds the codes of a value.
  void define(mlir::Value value, int64_t tensor, const Encoding &encoding);
  void defineNumbers(mlir::Value value, int64_t tensor) {
    numbers[value] = tensor;
  }
  std::string makeName(const llvm::Twine &requested);
  /// Returns none and records the reason.
  std::nullopt_t decline(llvm::StringRef why) {
    reason = why.str();
    return std::nullopt;
  }

  mlir::func::FuncOp function;
  const TfliteOptions &options;
  Model model;
  std::string reason;

private:
  /// Returns whether an op is one of several that form one operator.
  bool isPart(mlir::Operation *op) const {
    return operators.interior.contains(op) || operators.byRoot.contains(op);
  }
  /// Returns the scale that the result of an operator has to exceed.
  double findScaleBound(const Form &form, llvm::ArrayRef<int64_t> inputs,
                        unsigned storageBits) const;
  Written writeValue(mlir::Value value, const RequestedForm &requested);
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

/// Writes the result of an op; `matched` ends an operator that is several ops
/// in TOSA.
Written writeOp(GraphBuilder &graph, mlir::Operation *op,
                const RequestedForm &requested);
Written writeOperator(GraphBuilder &graph, const onnx::Operator &matched,
                      const RequestedForm &requested);
/// Writes an operator whose operands have grids of their own.
Written writeOnOwnGrids(GraphBuilder &graph, mlir::Operation *op,
                        mlir::ValueRange operands, const Form &form,
                        const RequestedForm &requested);
/// Writes an operator of one operand whose codes are on the same grid in every
/// file, which for 8 bits is this one.
Written writeOnFixedGrid(GraphBuilder &graph, mlir::Operation *op,
                         mlir::Value operand, const Form &form, double scale,
                         int64_t zeroPoint, const RequestedForm &requested);
/// Writes numbers, limited to [low, high].
Written writeLimits(GraphBuilder &graph, mlir::Operation *op,
                    mlir::Value operand, double low, double high,
                    const RequestedForm &requested);
/// Writes the result of a layer, with its bias.
Written writeLayer(GraphBuilder &graph, const KernelOp &layer,
                   mlir::Value result, const RequestedForm &requested);
/// Writes a layer of features: [..., inputs] to [..., outputs].
Written writeDense(GraphBuilder &graph, const KernelOp &layer,
                   mlir::Value input, mlir::Value result,
                   const RequestedForm &requested);
/// Writes codes of sums over windows of an image, each times `weight`, as a
/// depthwise convolution, or a convolution over positions of the whole image:
/// unlike those of MEAN and AVERAGE_POOL_2D, its sums are rounded once by all
/// kernels.
Written writeWindowSum(GraphBuilder &graph, mlir::Operation *op,
                       mlir::Value input, llvm::ArrayRef<int64_t> window,
                       llvm::ArrayRef<int64_t> stride,
                       llvm::ArrayRef<int64_t> shape, double weight,
                       const RequestedForm &requested);
/// Returns whether the results of an op are elements of its operands, so that
/// their codes are, too.
bool isMovement(mlir::Operation *op);

} // namespace mct::tflite

#endif // MCT_LIB_EXPORT_TFLITEGRAPH_H
