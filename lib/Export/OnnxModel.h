// SPDX-License-Identifier: Apache-2.0
//
// A model as ONNX files hold it (onnx.proto3 of ONNX 1.20), as far as this
// project writes it.
//
// The few messages are written by hand: a library of protobuf registers its
// message types for the whole process, and a second copy of those of ONNX, as
// frameworks bring it into an interpreter, ends the process.
#ifndef MCT_LIB_EXPORT_ONNXMODEL_H
#define MCT_LIB_EXPORT_ONNXMODEL_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace mct::onnx {

/// Type of the elements; the values are those of `TensorProto.DataType`.
enum class ElementType {
  Float = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  Bool = 9,
  UInt4 = 21,
  Int4 = 22,
  UInt2 = 25,
  Int2 = 26
};

/// Returns the number of bits of an element in a file.
unsigned bitsOf(ElementType type);
bool isSigned(ElementType type);

/// An unknown size, that of the batch.
inline constexpr int64_t kDynamic = -1;

/// A named constant; its elements are row-major.
struct Tensor {
  std::string name;
  llvm::SmallVector<int64_t> shape;
  ElementType type = ElementType::Float;
  /// The elements of a tensor of type Float.
  std::vector<float> floats;
  /// The elements of any other type, as in the file: little-endian, and
  /// elements of fewer than 8 bits packed into bytes from the lowest bits on.
  std::vector<uint8_t> packed;
  /// Offset of the elements in the file `Model::dataName`, or none if they are
  /// in the model itself.
  std::optional<uint64_t> dataOffset;

  int64_t size() const;
  /// Returns the size of the elements in bytes.
  uint64_t countBytes() const;
  /// Stores the elements that `get` returns for each index.
  void pack(llvm::function_ref<int64_t(int64_t)> get);
  int64_t unpack(int64_t index) const;
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
  /// The op from which the node was made; not part of the file.
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
  /// Name of the file, in the folder of the model, with the elements of
  /// constants that have a `dataOffset`.
  std::string dataName;
};

/// Moves the elements of all constants except for small ones to a file of that
/// name, which `writeData` writes.
void moveData(Model &model, llvm::StringRef dataName);
void writeData(const Model &model, llvm::raw_ostream &os);

/// Writes the bytes of the file; `countBytes` returns their number.
void writeModel(const Model &model, llvm::raw_ostream &os);
uint64_t countBytes(const Model &model);

/// Prints the model in the textual syntax of ONNX, except that names may have
/// any characters and only the first elements of long constants are printed.
void printModel(const Model &model, llvm::raw_ostream &os);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXMODEL_H
