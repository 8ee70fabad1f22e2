// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/ConstantTensor.h"
#include "mct/IR/ResourceKeys.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <cstdlib>
#include <cstring>
#include <type_traits>

using namespace mlir;
using namespace mct;

static constexpr size_t kAlignment = 64;
// Number of elements that does not fit into the address space for any type.
static constexpr int64_t kMaxElements = int64_t(1) << 56;

bool ConstantTensor::isSupported(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() ||
      !tensor.getElementType().isIntOrFloat())
    return false;
  unsigned width = tensor.getElementTypeBitWidth();
  bool isInteger = tensor.getElementType().isInteger();
  if (width != 8 && width != 16 && width != 32 && width != 64 &&
      !(isInteger && (width == 1 || width == 2 || width == 4)))
    return false;
  int64_t count = 1;
  for (int64_t size : tensor.getShape()) {
    std::optional<int64_t> product = llvm::checkedMul(count, size);
    if (!product || *product > kMaxElements)
      return false;
    count = *product;
  }
  return true;
}

std::pair<std::shared_ptr<const void>, MutableArrayRef<char>>
ConstantTensor::allocate(size_t bytes) {
  size_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  auto *data = static_cast<char *>(std::aligned_alloc(kAlignment, size));
  if (size != 0 && !data)
    llvm::report_bad_alloc_error("no memory for a constant");
  return {std::shared_ptr<const void>(data, [](void *p) { std::free(p); }),
          MutableArrayRef<char>(data, bytes)};
}

ConstantTensor ConstantTensor::create(RankedTensorType type,
                                      ArrayRef<char> bytes,
                                      std::shared_ptr<const void> owner) {
  ConstantTensor tensor;
  tensor.type = type;
  tensor.elementSize = (type.getElementTypeBitWidth() + 7) / 8;
  tensor.bytes = bytes;
  tensor.owner = std::move(owner);
  return tensor;
}

//===----------------------------------------------------------------------===//
// Numbers and their stored form
//===----------------------------------------------------------------------===//

/// Returns the value of a float of at most 16 bits.
static float decodeSmallFloat(FloatType type, uint16_t bits) {
  APFloat value(type.getFloatSemantics(), APInt(type.getWidth(), bits));
  bool losesInfo;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToFloat();
}

namespace {
/// Table of all floats of a type of at most 16 bits, created if there are many
/// to decode.
class SmallFloats {
public:
  SmallFloats(FloatType type, int64_t count) : type(type) {
    if (count < (int64_t(1) << type.getWidth()))
      return;
    table.resize(size_t(1) << type.getWidth());
    for (auto [bits, value] : llvm::enumerate(table))
      value = decodeSmallFloat(type, bits);
  }
  float operator()(uint16_t bits) const {
    return table.empty() ? decodeSmallFloat(type, bits) : table[bits];
  }

private:
  FloatType type;
  std::vector<float> table;
};
} // namespace

template <typename Stored, typename Visit>
static void forEachStored(ArrayRef<char> bytes, Visit visit) {
  for (size_t at = 0; at != bytes.size(); at += sizeof(Stored)) {
    Stored element;
    std::memcpy(&element, bytes.data() + at, sizeof(Stored));
    visit(element);
  }
}

template <typename T> std::vector<T> ConstantTensor::decode() const {
  std::vector<T> values;
  values.reserve(getNumStored());
  auto append = [&](auto element) { values.push_back(T(element)); };
  Type element = type.getElementType();
  if (auto floatType = dyn_cast<FloatType>(element)) {
    if (floatType.getWidth() == 32) {
      forEachStored<float>(bytes, append);
    } else if (floatType.getWidth() == 64) {
      forEachStored<double>(bytes, append);
    } else {
      SmallFloats table(floatType, getNumStored());
      auto appendSmall = [&](auto bits) { append(table(bits)); };
      if (elementSize == 2)
        forEachStored<uint16_t>(bytes, appendSmall);
      else
        forEachStored<uint8_t>(bytes, appendSmall);
    }
    return values;
  }
  bool isUnsigned = element.isUnsignedInteger();
  switch (elementSize) {
  case 1:
    isUnsigned ? forEachStored<uint8_t>(bytes, append)
               : forEachStored<int8_t>(bytes, append);
    break;
  case 2:
    isUnsigned ? forEachStored<uint16_t>(bytes, append)
               : forEachStored<int16_t>(bytes, append);
    break;
  case 4:
    isUnsigned ? forEachStored<uint32_t>(bytes, append)
               : forEachStored<int32_t>(bytes, append);
    break;
  default:
    isUnsigned ? forEachStored<uint64_t>(bytes, append)
               : forEachStored<int64_t>(bytes, append);
  }
  return values;
}

template std::vector<int64_t> ConstantTensor::decode() const;
template std::vector<float> ConstantTensor::decode() const;
template std::vector<double> ConstantTensor::decode() const;

/// Returns the lowest `width` bits, sign-extended unless they are unsigned or a
/// single bit.
static int64_t wrap(int64_t value, unsigned width, bool isUnsigned) {
  if (width == 64)
    return value;
  int64_t low = value & ((int64_t(1) << width) - 1);
  if (isUnsigned || width == 1)
    return low;
  return llvm::SignExtend64(low, width);
}

template <typename T>
ConstantTensor ConstantTensor::create(RankedTensorType type,
                                      std::vector<T> values) {
  Type element = type.getElementType();
  if (std::is_same_v<T, float> && element.isF32()) {
    auto owner = std::make_shared<std::vector<T>>(std::move(values));
    ArrayRef<char> bytes(reinterpret_cast<const char *>(owner->data()),
                         owner->size() * sizeof(T));
    return create(type, bytes, std::move(owner));
  }
  size_t size = (type.getElementTypeBitWidth() + 7) / 8;
  auto [owner, bytes] = allocate(values.size() * size);
  char *target = bytes.data();
  auto store = [&](auto stored) {
    std::memcpy(target, &stored, size);
    target += size;
  };
  auto floatType = dyn_cast<FloatType>(element);
  unsigned width = type.getElementTypeBitWidth();
  bool isUnsigned = element.isUnsignedInteger();
  for (T value : values) {
    if (!floatType) {
      // Little-endian: the low bytes come first.
      store(wrap(int64_t(value), width, isUnsigned));
    } else if (width == 64) {
      store(double(value));
    } else if (width == 32) {
      store(float(value));
    } else {
      APFloat number{double(value)};
      bool losesInfo;
      number.convert(floatType.getFloatSemantics(),
                     APFloat::rmNearestTiesToEven, &losesInfo);
      store(number.bitcastToAPInt().getZExtValue());
    }
  }
  return create(type, bytes, std::move(owner));
}

template ConstantTensor ConstantTensor::create(RankedTensorType,
                                               std::vector<int64_t>);
template ConstantTensor ConstantTensor::create(RankedTensorType,
                                               std::vector<float>);
template ConstantTensor ConstantTensor::create(RankedTensorType,
                                               std::vector<double>);

ArrayRef<float> ConstantTensor::getFloats() const {
  if (!type.getElementType().isF32())
    return {};
  return ArrayRef(reinterpret_cast<const float *>(bytes.data()),
                  bytes.size() / sizeof(float));
}

bool ConstantTensor::isUniformly(double number) const {
  auto isNumber = [&](double value) { return value == number; };
  if (type.getElementType().isF32())
    return llvm::all_of(getFloats(), isNumber);
  return llvm::all_of(decode<double>(), isNumber);
}

ConstantTensor ConstantTensor::reshape(RankedTensorType newType) const {
  ConstantTensor result = *this;
  result.type = newType;
  return result;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static bool isAligned(ArrayRef<char> bytes, size_t alignment) {
  return reinterpret_cast<uintptr_t>(bytes.data()) % alignment == 0;
}

static std::optional<ConstantTensor>
readResource(DenseResourceElementsAttr attribute, RankedTensorType type,
             bool &isWhole) {
  AsmResourceBlob *blob = attribute.getRawHandle().getBlob();
  if (!blob)
    return std::nullopt;
  ArrayRef<char> data = blob->getData();
  size_t count = type.getNumElements();
  unsigned width = type.getElementTypeBitWidth();
  if (width >= 8) {
    size_t size = width / 8;
    if (data.size() / size != count || data.size() % size != 0)
      return std::nullopt;
    if (isAligned(data, size)) {
      isWhole = true;
      return ConstantTensor::create(type, data, nullptr);
    }
    auto [owner, bytes] = ConstantTensor::allocate(data.size());
    llvm::copy(data, bytes.begin());
    return ConstantTensor::create(type, bytes, std::move(owner));
  }
  // One byte per element, or packed from the lowest bits on.
  unsigned perByte = data.size() == count ? 1 : 8 / width;
  if (data.size() != (count + perByte - 1) / perByte)
    return std::nullopt;
  std::vector<int64_t> values(count);
  for (size_t element = 0; element != count; ++element)
    values[element] = uint8_t(data[element / perByte]) >>
                      (perByte == 1 ? 0 : element % perByte * width);
  return ConstantTensor::create(type, std::move(values));
}

std::optional<ConstantTensor> ConstantTensor::get(ElementsAttr attribute) {
  if (!isSupported(attribute.getType()))
    return std::nullopt;
  auto type = cast<RankedTensorType>(attribute.getType());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    bool isWhole = false;
    std::optional<ConstantTensor> tensor =
        readResource(resource, type, isWhole);
    if (isWhole)
      tensor->resource = resource.getRawHandle();
    return tensor;
  }
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  if (!dense)
    return std::nullopt;
  if (type.getNumElements() == 0)
    return create(type, ArrayRef<char>(), nullptr);
  if (type.getElementTypeBitWidth() >= 8) {
    ArrayRef<char> data = dense.getRawData();
    size_t size = type.getElementTypeBitWidth() / 8;
    size_t count = dense.isSplat() ? 1 : type.getNumElements();
    if (data.size() != count * size || !isAligned(data, size))
      return std::nullopt;
    return create(type, data, nullptr);
  }
  std::vector<int64_t> values;
  if (dense.isSplat())
    values.push_back(dense.getSplatValue<APInt>().getZExtValue());
  else
    for (const APInt &value : dense.getValues<APInt>())
      values.push_back(value.getZExtValue());
  return create(type, std::move(values));
}

std::optional<ConstantTensor> ConstantTensor::get(Value value) {
  ElementsAttr attribute;
  if (!isSupported(value.getType()) ||
      !matchPattern(value, m_Constant(&attribute)) ||
      attribute.getType() != value.getType())
    return std::nullopt;
  return get(attribute);
}

ElementsAttr ConstantTensor::toAttribute(StringRef name) const {
  if (resource)
    return DenseResourceElementsAttr::get(type, *resource);
  unsigned width = type.getElementTypeBitWidth();
  if (width < 8) {
    SmallVector<APInt> values;
    for (int64_t value : decode<int64_t>())
      values.emplace_back(width, value, /*isSigned=*/true,
                          /*implicitTrunc=*/true);
    return DenseElementsAttr::get(type, values);
  }
  if (isSplat() || getNumElements() <= kInlineElements)
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  if (!owner)
    return createResource(
        type, name,
        HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, kAlignment));
  return createResource(type, name,
                        AsmResourceBlob(
                            bytes, elementSize,
                            [owner = owner](void *, size_t, size_t) {},
                            /*dataIsMutable=*/false));
}
