// SPDX-License-Identifier: Apache-2.0
//
// The contents of a `.tflite` file: tensors and operators.
#ifndef MCT_LIB_EXPORT_TFLITEMODEL_H
#define MCT_LIB_EXPORT_TFLITEMODEL_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <variant>
#include <vector>

namespace mct::tflite {

/// Element types, by their names in the schema.
enum class ElementType { Float32, Int4, Int8, Int16, Int32, Int64, Bool };

struct Tensor {
  std::string name;
  ElementType type = ElementType::Float32;
  /// A dynamic size is `ShapedType::kDynamic`.
  llvm::SmallVector<int64_t> shape;
  /// Empty if the tensor holds numbers; otherwise one scale, or one for each
  /// channel along `axis`.
  std::vector<double> scales;
  std::vector<int64_t> zeroPoints;
  int64_t axis = 0;
  /// True for a constant, whose elements follow in little-endian order.
  bool isConstant = false;
  std::string data;
};

/// A field of the table of options: a number, a flag, or a word of the schema.
struct Option {
  std::string name;
  std::variant<int64_t, bool, double, std::string> value;
};

struct Operator {
  /// Numbered as in the schema's BuiltinOperator.
  std::string code;
  int64_t version = 1;
  /// Indices of tensors, -1 for none.
  std::vector<int64_t> inputs, outputs;
  /// Table of the schema, or empty if there is none.
  std::string optionsType;
  std::vector<Option> options;
};

struct Normalization {
  std::string input;
  std::vector<double> mean, deviation;
};

/// A part that computes with numbers although codes are available.
struct FloatPart {
  std::string name, reason;
};

struct Model {
  std::string function;
  std::vector<Tensor> tensors;
  std::vector<Operator> operators;
  std::vector<int64_t> inputs, outputs;
  std::vector<Normalization> normalizations;
  std::vector<FloatPart> floatParts;
};

/// Prints the document that `mct/Export/Tflite.h` describes.
void print(const Model &model, llvm::raw_ostream &os);

} // namespace mct::tflite

#endif // MCT_LIB_EXPORT_TFLITEMODEL_H
