// SPDX-License-Identifier: Apache-2.0
//
// A model as ONNX files hold it (onnx.proto3 of ONNX 1.17), as far as this
// project writes it.
//
// The few messages are written by hand: a library of protobuf registers its
// message types for the whole process, and a second copy of those of ONNX, as
// frameworks bring it into an interpreter, ends the process.
#ifndef MCT_LIB_EXPORT_ONNXMODEL_H
#define MCT_LIB_EXPORT_ONNXMODEL_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace mct::onnx {

/// Type of the elements; the numbers are those of `TensorProto.DataType`.
enum class ElementType { Float = 1, Int64 = 7, Bool = 9 };

/// A size that is not known: the batch.
inline constexpr int64_t kDynamic = -1;

/// A named constant. `floats` or `integers` are its elements, row-major.
struct Tensor {
  std::string name;
  llvm::SmallVector<int64_t> shape;
  std::vector<float> floats;
  std::vector<int64_t> integers;
  ElementType type = ElementType::Float;
};

/// Name, type and shape of a value.
struct ValueInfo {
  std::string name;
  ElementType type = ElementType::Float;
  llvm::SmallVector<int64_t> shape;
};

struct NodeAttribute {
  std::string name;
  std::variant<int64_t, float, std::string, std::vector<int64_t>> value;
};

struct Node {
  std::string name, opType;
  /// Empty for the ops of ONNX itself.
  std::string domain;
  std::vector<std::string> inputs, outputs;
  std::vector<NodeAttribute> attributes;
  /// The op that it stands for; not a part of the file.
  mlir::Operation *source = nullptr;

  const NodeAttribute *lookup(llvm::StringRef attribute) const;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<ValueInfo> inputs, outputs, values;
};

struct Model {
  int64_t irVersion = 0;
  /// Domain and version.
  std::vector<std::pair<std::string, int64_t>> operatorSets;
  std::string producerName, producerVersion;
  std::vector<std::pair<std::string, std::string>> metadata;
  Graph graph;
};

/// The bytes of the file; `countBytes` tells how many.
void writeModel(const Model &model, llvm::raw_ostream &os);
uint64_t countBytes(const Model &model);

/// The same for readers: the syntax of ONNX for models as text, but for names,
/// which may have any character, and for long constants, of which the first
/// elements are printed.
void printModel(const Model &model, llvm::raw_ostream &os);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXMODEL_H
