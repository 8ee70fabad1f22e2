// SPDX-License-Identifier: Apache-2.0
#include "mct/Conversion/IntegerBuilder.h"
#include "mct/IR/ConstantTensor.h"
#include "mct/IR/Names.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"

using namespace mlir;
using namespace mct;
using quantization::Rescale;
using quantization::ShortRescale;

RankedTensorType IntegerBuilder::getType(Value value, unsigned bits) {
  return cast<RankedTensorType>(value.getType()).clone(getIntegerType(bits));
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value IntegerBuilder::createConstant(ArrayRef<int64_t> shape, unsigned bits,
                                     ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get(shape, getIntegerType(bits));
  ElementsAttr attribute;
  if (bits == 48) {
    SmallVector<APInt> wide;
    for (int64_t value : values)
      wide.emplace_back(48, uint64_t(value), /*isSigned=*/true);
    attribute = DenseElementsAttr::get(type, wide);
  } else {
    StringAttr name = getName(getLoc());
    attribute = ConstantTensor::create<int64_t>(
                    type, std::vector<int64_t>(values.begin(), values.end()))
                    .toAttribute(name ? name.getValue() : "integers");
  }
  return tosa::ConstOp::create(*this, type, attribute);
}

Value IntegerBuilder::createNumber(Value like, int64_t number) {
  return createAlongLastAxis(like, number);
}

Value IntegerBuilder::createAlongLastAxis(Value like,
                                          ArrayRef<int64_t> numbers) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(like.getType()).getRank(),
                             1);
  if (!shape.empty())
    shape.back() = int64_t(numbers.size());
  return createConstant(shape, 32, numbers);
}

Value IntegerBuilder::createShape(ArrayRef<int64_t> sizes) {
  return tosa::getTosaConstShape(*this, sizes);
}

Value IntegerBuilder::createFloat(float value, int64_t rank) {
  auto type =
      RankedTensorType::get(SmallVector<int64_t>(rank, 1), getF32Type());
  return tosa::ConstOp::create(*this, type,
                               DenseElementsAttr::get(type, value));
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Value IntegerBuilder::reshape(Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  return tosa::ReshapeOp::create(*this, type.clone(shape), value,
                                 createShape(shape));
}

Value IntegerBuilder::multiply(Value a, Value b, int64_t shift) {
  return tosa::MulOp::create(*this, a.getType(), a, b,
                             createConstant(1, 8, shift));
}

Value IntegerBuilder::add(Value a, Value b) {
  return tosa::AddOp::create(*this, a.getType(), a, b);
}

Value IntegerBuilder::subtract(Value a, Value b) {
  return tosa::SubOp::create(*this, a.getType(), a, b);
}

Value IntegerBuilder::bitwiseAnd(Value a, Value b) {
  return tosa::BitwiseAndOp::create(*this, a.getType(), a, b);
}

Value IntegerBuilder::rescale(Value value, int64_t from,
                              ArrayRef<double> factors, int64_t to,
                              unsigned bits,
                              quantization::FactorRounding rounding,
                              bool roundsTwice, unsigned droppedBits) {
  unsigned fromBits = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
  if (llvm::all_equal(factors))
    factors = factors.take_front();
  bool isWide = fromBits == 48;
  SmallVector<int64_t> multipliers, shifts;
  auto append = [&](const auto &parts) {
    if (parts) {
      multipliers.push_back(parts->multiplier);
      shifts.push_back(parts->shift);
    }
    return parts.has_value();
  };
  for (double factor : factors)
    if (!(isWide ? append(ShortRescale::get(factor))
                 : append(Rescale::get(factor, rounding))))
      return nullptr;
  for (auto [multiplier, shift] : llvm::zip_equal(multipliers, shifts)) {
    multiplier >>= droppedBits;
    shift -= droppedBits;
  }
  // Up to this shift, both rounding modes are equal.
  constexpr int64_t kLastSingle = 31;
  roundsTwice &= !isWide && llvm::any_of(shifts, [](int64_t shift) {
    return shift > kLastSingle;
  });
  auto count = int64_t(factors.size());
  return tosa::RescaleOp::create(
      *this, getType(value, bits), value,
      createConstant(count, isWide ? 16 : 32, multipliers),
      createConstant(count, 8, shifts), createConstant(1, fromBits, from),
      createConstant(1, bits, to), /*scale32=*/!isWide,
      roundsTwice ? tosa::RoundingMode::DOUBLE_ROUND
                  : tosa::RoundingMode::SINGLE_ROUND,
      /*per_channel=*/count > 1,
      /*input_unsigned=*/false, /*output_unsigned=*/false);
}

Value IntegerBuilder::widen(const StoredIntegers &stored, double factor) {
  return rescale(stored.value, stored.encoding.zeroPoint, factor, 0, 32);
}

Value IntegerBuilder::clamp(Value value, int64_t low, int64_t high,
                            const Encoding &encoding) {
  int64_t limit = int64_t(1) << (encoding.storageBits - 1);
  if (low <= -limit && high >= limit - 1)
    return value;
  auto type = getIntegerType(encoding.storageBits);
  // Merge two clamps in a row.
  if (auto before = value.getDefiningOp<tosa::ClampOp>()) {
    int64_t first = cast<IntegerAttr>(before.getMinVal()).getInt();
    int64_t last = cast<IntegerAttr>(before.getMaxVal()).getInt();
    low = std::clamp(first, low, high);
    high = std::clamp(last, low, high);
    value = before.getInput();
  }
  return tosa::ClampOp::create(
      *this, value.getType(), value, getIntegerAttr(type, low),
      getIntegerAttr(type, high), tosa::NanPropagationMode::PROPAGATE);
}

Value IntegerBuilder::limit(Value value, int64_t low, int64_t high) {
  value = tosa::MinimumOp::create(*this, value.getType(), value,
                                  createNumber(value, high),
                                  tosa::NanPropagationMode::PROPAGATE);
  return tosa::MaximumOp::create(*this, value.getType(), value,
                                 createNumber(value, low),
                                 tosa::NanPropagationMode::PROPAGATE);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Value IntegerBuilder::dequantize(const StoredIntegers &stored) {
  auto type = cast<RankedTensorType>(stored.value.getType());
  auto floats = type.clone(getF32Type());
  Value result = tosa::CastOp::create(*this, floats, stored.value);
  if (stored.encoding.zeroPoint != 0)
    result = subtract(
        result, createFloat(float(stored.encoding.zeroPoint), type.getRank()));
  return multiply(result,
                  createFloat(float(stored.encoding.scale), type.getRank()));
}

Value IntegerBuilder::quantize(Value value, const Encoding &encoding) {
  auto type = cast<RankedTensorType>(value.getType());
  auto createFloats = [&](float number) {
    return createFloat(number, type.getRank());
  };
  // Computed in the same way as in the simulation.
  Value scaled = multiply(value, createFloats(1 / float(encoding.scale)));
  auto zero = float(encoding.zeroPoint);
  Value level = tosa::ClampOp::create(
      *this, type, scaled, getF32FloatAttr(float(encoding.low) - zero),
      getF32FloatAttr(float(encoding.high) - zero),
      tosa::NanPropagationMode::IGNORE);
  RankedTensorType to = getType(value, encoding.storageBits);
  if (encoding.rounding == quantization::Rounding::HalfUp) {
    // floor(x + 0.5) would round the sum: 0.49999997 would become 1.
    Value floor = tosa::FloorOp::create(*this, type, level);
    Value rest = subtract(level, floor);
    Value isUp = tosa::GreaterEqualOp::create(*this, type.clone(getI1Type()),
                                              rest, createFloats(0.5f));
    Value up = add(floor, createFloats(1));
    level = tosa::SelectOp::create(*this, type, isUp, up, floor);
    if (zero != 0)
      level = add(level, createFloats(zero));
    return tosa::CastOp::create(*this, to, level);
  }
  // `cast` rounds half to even, so add the zero point afterwards: it may be
  // odd.
  Value wide = tosa::CastOp::create(*this, getType(value, 32), level);
  if (zero != 0)
    wide = add(wide, createNumber(wide, encoding.zeroPoint));
  return tosa::CastOp::create(*this, to, wide);
}
