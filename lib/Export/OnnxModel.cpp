// SPDX-License-Identifier: Apache-2.0
#include "OnnxModel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/MathExtras.h"

using namespace mct::onnx;
using llvm::ArrayRef;
using llvm::raw_ostream;
using llvm::StringRef;

const NodeAttribute *Node::lookup(StringRef attribute) const {
  for (const NodeAttribute &candidate : attributes)
    if (candidate.name == attribute)
      return &candidate;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

unsigned mct::onnx::bitsOf(ElementType type) {
  switch (type) {
  case ElementType::UInt2:
  case ElementType::Int2:
    return 2;
  case ElementType::UInt4:
  case ElementType::Int4:
    return 4;
  case ElementType::UInt8:
  case ElementType::Int8:
  case ElementType::Bool:
    return 8;
  case ElementType::UInt16:
  case ElementType::Int16:
    return 16;
  case ElementType::Float:
  case ElementType::Int32:
    return 32;
  case ElementType::Int64:
    return 64;
  }
  llvm_unreachable("unknown type");
}

bool mct::onnx::isSigned(ElementType type) {
  switch (type) {
  case ElementType::UInt2:
  case ElementType::UInt4:
  case ElementType::UInt8:
  case ElementType::UInt16:
  case ElementType::Bool:
    return false;
  default:
    return true;
  }
}

int64_t Tensor::size() const { return llvm::product_of(shape); }

uint64_t Tensor::countBytes() const {
  return type == ElementType::Float ? floats.size() * sizeof(float)
                                    : packed.size();
}

void Tensor::pack(llvm::function_ref<int64_t(int64_t)> get) {
  const unsigned bits = bitsOf(type);
  const int64_t count = size();
  packed.assign((uint64_t(count) * bits + 7) / 8, 0);
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<uint64_t>(get(i));
    const uint64_t begin = uint64_t(i) * bits;
    if (bits < 8)
      packed[begin / 8] |= (value & ((1u << bits) - 1)) << (begin % 8);
    else
      for (unsigned byte = 0; byte < bits / 8; ++byte)
        packed[begin / 8 + byte] = uint8_t(value >> (8 * byte));
  }
}

int64_t Tensor::unpack(int64_t index) const {
  const unsigned bits = bitsOf(type);
  const uint64_t begin = uint64_t(index) * bits;
  uint64_t value = 0;
  for (unsigned byte = 0; byte < (bits + 7) / 8; ++byte)
    value |= uint64_t(packed[begin / 8 + byte]) << (8 * byte);
  value >>= begin % 8;
  return isSigned(type)
             ? llvm::SignExtend64(value, bits)
             : int64_t(value & llvm::maskTrailingOnes<uint64_t>(bits));
}

// Files are mapped into memory, so elements begin at page boundaries. Constants
// that are smaller than most of a page stay in the model.
static constexpr uint64_t kPageBytes = 4096, kSmallestMovedBytes = 1024;

void mct::onnx::moveData(Model &model, StringRef dataName) {
  model.dataName = dataName.str();
  uint64_t offset = 0;
  for (Tensor &tensor : model.graph.initializers) {
    const uint64_t size = tensor.countBytes();
    if (size < kSmallestMovedBytes)
      continue;
    tensor.dataOffset = offset;
    offset = llvm::alignTo(offset + size, kPageBytes);
  }
}

//===----------------------------------------------------------------------===//
// Wire format of protobuf
//===----------------------------------------------------------------------===//

namespace {
/// Writes the fields of a message. A nested message is written twice, first to
/// determine its size, so that constants are never copied.
class Writer {
public:
  explicit Writer(raw_ostream *os) : os(os) {}
  uint64_t getSize() const { return size; }

  void integer(unsigned field, uint64_t value) {
    varint(uint64_t(field) << 3);
    varint(value);
  }
  void real(unsigned field, float value) {
    varint(uint64_t(field) << 3 | 5);
    char bytes[sizeof(float)];
    llvm::support::endian::write(bytes, value, llvm::endianness::little);
    raw({bytes, sizeof(bytes)});
  }
  void bytes(unsigned field, StringRef value) {
    start(field, value.size());
    raw(value);
  }
  /// Writes elements in little-endian order.
  template <typename T> void elements(unsigned field, ArrayRef<T> values) {
    start(field, values.size() * sizeof(T));
    raw(values);
  }
  template <typename T> void raw(ArrayRef<T> values) {
    if constexpr (llvm::endianness::native == llvm::endianness::little)
      return raw({reinterpret_cast<const char *>(values.data()),
                  values.size() * sizeof(T)});
    for (T value : values) {
      char bytes[sizeof(T)];
      llvm::support::endian::write(bytes, value, llvm::endianness::little);
      raw({bytes, sizeof(bytes)});
    }
  }
  template <typename Fill> void message(unsigned field, Fill fill) {
    Writer measured(nullptr);
    fill(measured);
    start(field, measured.getSize());
    if (!os) {
      size += measured.getSize();
      return;
    }
    fill(*this);
  }

private:
  void start(unsigned field, uint64_t length) {
    varint(uint64_t(field) << 3 | 2);
    varint(length);
  }
  void varint(uint64_t value) {
    size += llvm::getULEB128Size(value);
    if (os)
      llvm::encodeULEB128(value, *os);
  }
  void raw(StringRef value) {
    size += value.size();
    if (os)
      os->write(value.data(), value.size());
  }

  raw_ostream *os;
  uint64_t size = 0;
};
} // namespace

// The numbers are those of the fields in onnx.proto3.

static void fill(Writer &writer, const NodeAttribute &attribute) {
  writer.bytes(1, attribute.name);
  if (const auto *integer = std::get_if<int64_t>(&attribute.value)) {
    writer.integer(3, *integer);
    writer.integer(20, 2);
  } else if (const auto *real = std::get_if<float>(&attribute.value)) {
    writer.real(2, *real);
    writer.integer(20, 1);
  } else if (const auto *text = std::get_if<std::string>(&attribute.value)) {
    writer.bytes(4, *text);
    writer.integer(20, 3);
  } else {
    for (int64_t value : std::get<std::vector<int64_t>>(attribute.value))
      writer.integer(8, value);
    writer.integer(20, 7);
  }
}

static void fill(Writer &writer, const Node &node) {
  for (const std::string &name : node.inputs)
    writer.bytes(1, name);
  for (const std::string &name : node.outputs)
    writer.bytes(2, name);
  writer.bytes(3, node.name);
  writer.bytes(4, node.opType);
  for (const NodeAttribute &attribute : node.attributes)
    writer.message(5, [&](Writer &inner) { fill(inner, attribute); });
  if (!node.domain.empty())
    writer.bytes(7, node.domain);
}

static void fill(Writer &writer, const Tensor &tensor, StringRef dataName) {
  for (int64_t size : tensor.shape)
    writer.integer(1, size);
  writer.integer(2, static_cast<uint64_t>(tensor.type));
  writer.bytes(8, tensor.name);
  if (tensor.dataOffset) {
    auto entry = [&](StringRef key, const std::string &value) {
      writer.message(13, [&](Writer &inner) {
        inner.bytes(1, key);
        inner.bytes(2, value);
      });
    };
    entry("location", dataName.str());
    entry("offset", std::to_string(*tensor.dataOffset));
    entry("length", std::to_string(tensor.countBytes()));
    writer.integer(14, 1);
  } else if (tensor.type == ElementType::Float) {
    writer.elements(9, ArrayRef(tensor.floats));
  } else {
    writer.elements(9, ArrayRef(tensor.packed));
  }
}

static void fill(Writer &writer, const ValueInfo &value) {
  writer.bytes(1, value.name);
  writer.message(2, [&](Writer &type) {
    type.message(1, [&](Writer &tensor) {
      tensor.integer(1, static_cast<uint64_t>(value.type));
      tensor.message(2, [&](Writer &shape) {
        for (int64_t size : value.shape)
          shape.message(1, [&](Writer &dimension) {
            if (size == kDynamic)
              dimension.bytes(2, "batch");
            else
              dimension.integer(1, size);
          });
      });
    });
  });
}

static void fill(Writer &writer, const Model &model, const Graph &graph) {
  auto all = [&](unsigned field, const auto &entries) {
    for (const auto &entry : entries)
      writer.message(field, [&](Writer &inner) { fill(inner, entry); });
  };
  all(1, graph.nodes);
  writer.bytes(2, graph.name);
  for (const Tensor &tensor : graph.initializers)
    writer.message(5,
                   [&](Writer &inner) { fill(inner, tensor, model.dataName); });
  all(11, graph.inputs);
  all(12, graph.outputs);
  all(13, graph.values);
}

static void fill(Writer &writer, const Model &model) {
  writer.integer(1, model.irVersion);
  writer.bytes(2, model.producerName);
  writer.bytes(3, model.producerVersion);
  writer.message(7, [&](Writer &inner) { fill(inner, model, model.graph); });
  for (const auto &[domain, version] : model.operatorSets)
    writer.message(8, [&, &domain = domain, &version = version](Writer &inner) {
      inner.bytes(1, domain);
      inner.integer(2, version);
    });
  for (const auto &[key, value] : model.metadata)
    writer.message(14, [&, &key = key, &value = value](Writer &inner) {
      inner.bytes(1, key);
      inner.bytes(2, value);
    });
}

void mct::onnx::writeModel(const Model &model, raw_ostream &os) {
  Writer writer(&os);
  fill(writer, model);
}

void mct::onnx::writeData(const Model &model, raw_ostream &os) {
  uint64_t written = 0;
  for (const Tensor &tensor : model.graph.initializers) {
    if (!tensor.dataOffset)
      continue;
    os.write_zeros(unsigned(*tensor.dataOffset - written));
    Writer writer(&os);
    if (tensor.type == ElementType::Float)
      writer.raw(ArrayRef(tensor.floats));
    else
      writer.raw(ArrayRef(tensor.packed));
    written = *tensor.dataOffset + writer.getSize();
  }
}

uint64_t mct::onnx::countBytes(const Model &model) {
  Writer writer(nullptr);
  fill(writer, model);
  return writer.getSize();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static StringRef nameOf(ElementType type) {
  switch (type) {
  case ElementType::Float:
    return "float";
  case ElementType::UInt8:
    return "uint8";
  case ElementType::Int8:
    return "int8";
  case ElementType::UInt16:
    return "uint16";
  case ElementType::Int16:
    return "int16";
  case ElementType::Int32:
    return "int32";
  case ElementType::Int64:
    return "int64";
  case ElementType::Bool:
    return "bool";
  case ElementType::UInt4:
    return "uint4";
  case ElementType::Int4:
    return "int4";
  case ElementType::UInt2:
    return "uint2";
  case ElementType::Int2:
    return "int2";
  }
  llvm_unreachable("unknown type");
}

static void printType(ElementType type, ArrayRef<int64_t> shape,
                      raw_ostream &os) {
  os << nameOf(type);
  if (shape.empty())
    return;
  os << '[';
  llvm::interleave(
      shape, os,
      [&](int64_t size) {
        if (size == kDynamic)
          os << "batch";
        else
          os << size;
      },
      ",");
  os << ']';
}

static void printReal(float value, raw_ostream &os) {
  os << llvm::format("%.9g", static_cast<double>(value));
}

static void print(const Tensor &tensor, raw_ostream &os) {
  constexpr int64_t kMost = 8;
  printType(tensor.type, tensor.shape, os);
  os << ' ' << tensor.name << " = {";
  const int64_t count = tensor.size();
  for (int64_t i = 0; i < std::min(count, kMost); ++i) {
    os << (i ? ", " : "");
    if (tensor.type == ElementType::Float)
      printReal(tensor.floats[i], os);
    else
      os << tensor.unpack(i);
  }
  os << (count > kMost ? ", ...}" : "}");
}

static void print(const ValueInfo &value, raw_ostream &os) {
  printType(value.type, value.shape, os);
  os << ' ' << value.name;
}

static void print(const NodeAttribute &attribute, raw_ostream &os) {
  os << attribute.name << " = ";
  if (const auto *integer = std::get_if<int64_t>(&attribute.value)) {
    os << *integer;
  } else if (const auto *real = std::get_if<float>(&attribute.value)) {
    printReal(*real, os);
  } else if (const auto *text = std::get_if<std::string>(&attribute.value)) {
    os << '"' << *text << '"';
  } else {
    os << '[';
    llvm::interleaveComma(std::get<std::vector<int64_t>>(attribute.value), os);
    os << ']';
  }
}

static void print(const Node &node, raw_ostream &os) {
  os << "  [" << node.name << "] ";
  llvm::interleaveComma(node.outputs, os);
  os << " = " << node.domain << (node.domain.empty() ? "" : ".") << node.opType;
  if (!node.attributes.empty()) {
    os << " <";
    llvm::interleaveComma(node.attributes, os, [&](const NodeAttribute &entry) {
      print(entry, os);
    });
    os << '>';
  }
  os << " (";
  llvm::interleaveComma(node.inputs, os);
  os << ")\n";
}

void mct::onnx::printModel(const Model &model, raw_ostream &os) {
  os << "<ir_version: " << model.irVersion << ", opset_import: [";
  llvm::interleaveComma(model.operatorSets, os, [&](const auto &entry) {
    os << '"' << entry.first << "\" : " << entry.second;
  });
  os << "],\n producer_name: \"" << model.producerName
     << "\", producer_version: \"" << model.producerVersion
     << "\",\n metadata_props: [";
  llvm::interleaveComma(model.metadata, os, [&](const auto &entry) {
    os << '"' << entry.first << "\" : \"" << entry.second << '"';
  });
  os << "]>\n" << model.graph.name << " (";
  auto list = [&](const std::vector<ValueInfo> &values) {
    llvm::interleaveComma(values, os,
                          [&](const ValueInfo &value) { print(value, os); });
  };
  list(model.graph.inputs);
  os << ") => (";
  list(model.graph.outputs);
  os << ")\n<\n";
  for (const Tensor &tensor : model.graph.initializers) {
    os << "  ";
    print(tensor, os);
    os << '\n';
  }
  for (const ValueInfo &value : model.graph.values) {
    os << "  ";
    print(value, os);
    os << '\n';
  }
  os << ">\n{\n";
  for (const Node &node : model.graph.nodes)
    print(node, os);
  os << "}\n";
}
