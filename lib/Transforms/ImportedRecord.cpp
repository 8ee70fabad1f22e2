// SPDX-License-Identifier: Apache-2.0
#include "ImportedRecord.h"
#include "mct/IR/ConstantTensor.h"
#include "mct/Quantization/Selection.h"
#include "mct/Quantizers/Channels.h"
#include "mct/Quantizers/Grid.h"
#include "mct/Support/RowMajor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <cmath>

using namespace mlir;
using namespace mct;

namespace {
using EmitError = llvm::function_ref<InFlightDiagnostic()>;

/// Scales, zero points and type of the codes as they are in the file.
struct FileParameters {
  ArrayRef<double> scales;
  ArrayRef<int64_t> zeroPoints;
  int64_t bits = 0;
  bool isSigned = true;

  int64_t lowest() const { return isSigned ? -(int64_t(1) << (bits - 1)) : 0; }
  int64_t highest() const { return lowest() + (int64_t(1) << bits) - 1; }
  double scaleOf(size_t channel) const {
    return scales[scales.size() == 1 ? 0 : channel];
  }
  int64_t zeroPointOf(size_t channel) const {
    return zeroPoints[zeroPoints.size() == 1 ? 0 : channel];
  }
};
} // namespace

/// f32 does not represent codes of more bits exactly, so quantizers have at
/// most this many.
static constexpr int64_t kMaxPointBits = 23;

static FailureOr<FileParameters> readParameters(DictionaryAttr record,
                                                EmitError emitError) {
  FileParameters read;
  auto scales = record.getAs<DenseF64ArrayAttr>("scale");
  auto zeroPoints = record.getAs<DenseI64ArrayAttr>("zero_point");
  auto bits = record.getAs<IntegerAttr>("bits");
  auto isSigned = record.getAs<BoolAttr>("is_signed");
  if (!scales || !zeroPoints || !bits || !isSigned || scales.empty() ||
      zeroPoints.empty()) {
    emitError() << "needs 'scale', an f64 array, 'zero_point', an i64 array, "
                   "'bits' and 'is_signed', or 'parameters'";
    return failure();
  }
  read.scales = scales.asArrayRef();
  read.zeroPoints = zeroPoints.asArrayRef();
  read.bits = bits.getInt();
  read.isSigned = isSigned.getValue();
  if (read.bits < 1 || read.bits > 32) {
    emitError() << "has codes of " << read.bits << " bits, not 1 to 32";
    return failure();
  }
  for (double scale : read.scales)
    if (!(scale > 0) || !std::isfinite(scale)) {
      emitError() << "has the scale " << scale
                  << ", which is not positive and finite";
      return failure();
    }
  for (int64_t zeroPoint : read.zeroPoints)
    if (zeroPoint < read.lowest() || zeroPoint > read.highest()) {
      emitError() << "has the zero point " << zeroPoint << " outside of ["
                  << read.lowest() << ", " << read.highest() << "]";
      return failure();
    }
  if (read.zeroPoints.size() != 1 &&
      read.zeroPoints.size() != read.scales.size()) {
    emitError() << "has " << read.zeroPoints.size() << " zero points for "
                << read.scales.size() << " scales";
    return failure();
  }
  return read;
}

/// Creates the quantizer with the grid of the file. It has thresholds if all
/// zero points are 0.
static tpc::QuantizerAttrInterface createQuantizer(MLIRContext *context,
                                                   const FileParameters &file,
                                                   tpc::RoundingMode rounding) {
  bool isSymmetric =
      llvm::all_of(file.zeroPoints, [](int64_t z) { return z == 0; });
  quantization::SelectionOptions options;
  options.bits = file.bits;
  options.isSigned = file.isSigned;
  SmallVector<quantization::SelectedParameters> channels;
  for (auto [channel, scale] : llvm::enumerate(file.scales)) {
    quantization::SelectedParameters &each = channels.emplace_back();
    each.step = scale;
    each.zeroPoint = file.zeroPointOf(channel) - file.lowest();
    each.threshold = std::ldexp(scale, int(file.bits) - int(file.isSigned));
  }
  auto method = tpc::MethodAttr::get(
      context, isSymmetric ? tpc::QuantizationMethod::Symmetric
                           : tpc::QuantizationMethod::Uniform);
  return tpc::QuantizationMethodAttrInterface(method)
      .createQuantizer(channels, options)
      .withRoundingMode(rounding == tpc::RoundingMode::HalfUp
                            ? quantization::Rounding::HalfUp
                            : quantization::Rounding::HalfToEven);
}

std::vector<size_t> mct::numberChannels(ArrayRef<int64_t> shape,
                                        ArrayRef<int64_t> axes) {
  std::vector<size_t> channels;
  support::forEachPosition<1>(
      shape, {support::getStridesAlong(shape, axes)},
      [&](auto channel) { channels.push_back(channel[0]); });
  return channels;
}

/// Dequantizes the stored integers to f32, as every runtime does.
static LogicalResult dequantize(ElementsAttr codes, const FileParameters &file,
                                ArrayRef<size_t> channelOf,
                                ImportedRecord &record, EmitError emitError) {
  std::optional<ConstantTensor> tensor = ConstantTensor::get(codes);
  auto stored = dyn_cast<IntegerType>(codes.getElementType());
  if (!tensor || !stored || !stored.isSignless() ||
      int64_t(stored.getWidth()) < file.bits)
    return emitError() << "has codes of type " << codes.getShapedType()
                       << ", not of signless integers that hold " << file.bits
                       << " bits";
  std::vector<int64_t> integers = tensor->decode<int64_t>();
  int64_t mask = int64_t(uint64_t(-1) >> (64 - stored.getWidth()));
  record.values.resize(channelOf.size());
  for (size_t i = 0; i != record.values.size(); ++i) {
    int64_t code = integers[integers.size() == 1 ? 0 : i];
    if (!file.isSigned)
      code &= mask;
    if (code < file.lowest() || code > file.highest())
      return emitError() << "has the code " << code << " at element " << i
                         << ", outside of [" << file.lowest() << ", "
                         << file.highest() << "]";
    int64_t steps = code - file.zeroPointOf(channelOf[i]);
    record.values[i] = float(double(steps) * file.scaleOf(channelOf[i]));
    if (steps != int64_t(float(steps)))
      ++record.numInexact;
  }
  return success();
}

static LogicalResult readAxes(DictionaryAttr attribute, RankedTensorType type,
                              ImportedRecord &record, EmitError emitError) {
  Attribute axes = attribute.get("axes");
  if (!axes)
    return success();
  auto array = dyn_cast<DenseI64ArrayAttr>(axes);
  int64_t last = -1;
  if (array)
    for (int64_t axis : array.asArrayRef()) {
      if (axis <= last || axis >= type.getRank())
        array = nullptr;
      last = axis;
      if (!array)
        break;
    }
  if (!array)
    return emitError() << "has the axes " << axes
                       << ", which are not ascending axes of " << type;
  record.axes.assign(array.asArrayRef().begin(), array.asArrayRef().end());
  return success();
}

/// Checks that each dequantized value is a level of the quantizer, which must
/// not change it.
static LogicalResult checkGrid(const ImportedRecord &record,
                               RankedTensorType type, EmitError emitError) {
  std::vector<float> again(record.values.size());
  record.parameters.fakeQuantize(type.getShape(), record.axes,
                                 record.values.data(), again.data());
  for (auto [index, values] :
       llvm::enumerate(llvm::zip_equal(record.values, again)))
    if (std::get<0>(values) != std::get<1>(values))
      return emitError() << "has the code of " << std::get<0>(values)
                         << " at element " << index
                         << ", which is not a level of its quantizer";
  return success();
}

static LogicalResult readConstant(DictionaryAttr attribute,
                                  RankedTensorType type,
                                  const FileParameters *file,
                                  ImportedRecord &record, EmitError emitError) {
  auto codes = attribute.getAs<ElementsAttr>("codes");
  auto values = attribute.getAs<ElementsAttr>("values");
  if (!type.hasStaticShape() || bool(codes) == bool(values))
    return emitError() << "of a constant needs a static shape, and 'codes' or "
                          "'values'";
  ArrayRef<int64_t> shape = (codes ? codes : values).getShapedType().getShape();
  if (shape != type.getShape())
    return emitError() << "has elements of type "
                       << (codes ? codes : values).getShapedType()
                       << " for an argument of type " << type;
  int64_t channels = quantization::channelCount(shape, record.axes);
  size_t given = file ? file->scales.size()
                      : (record.parameters ? record.parameters.getNumChannels()
                                           : size_t(1));
  if (given != 1 && int64_t(given) != channels)
    return emitError() << "has " << given << " parameters for " << channels
                       << " channels";
  if (codes) {
    if (!file)
      return emitError() << "has codes, whose 'scale' and 'zero_point' are "
                            "missing";
    if (failed(dequantize(codes, *file, numberChannels(shape, record.axes),
                          record, emitError)))
      return failure();
    return record.parameters ? checkGrid(record, type, emitError) : success();
  }
  std::optional<ConstantTensor> tensor = ConstantTensor::get(values);
  if (!tensor || !values.getElementType().isF32())
    return emitError() << "has values of type " << values.getShapedType()
                       << ", not of f32";
  record.values = tensor->decode<float>();
  if (record.values.size() == 1)
    record.values.resize(type.getNumElements(), record.values.front());
  return success();
}

FailureOr<ImportedRecord>
mct::readImportedRecord(Attribute attribute, Type type,
                        llvm::function_ref<InFlightDiagnostic()> emitError) {
  auto refuse = [&] { return emitError() << "'tpc.imported' "; };
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!dictionary || !tensor || !tensor.getElementType().isF32())
    return refuse() << "must be a dictionary at a ranked tensor of f32, but "
                       "stands at one of type "
                    << type;
  ImportedRecord record;
  record.point = dictionary.getAs<StringAttr>("point");
  if (failed(readAxes(dictionary, tensor, record, refuse)))
    return failure();

  std::optional<FileParameters> file;
  if (Attribute parameters = dictionary.get("parameters")) {
    record.parameters = dyn_cast<tpc::QuantizerAttrInterface>(parameters);
    if (!record.parameters)
      return refuse() << "has 'parameters' that are not a quantizer: "
                      << parameters;
  } else if (record.point || dictionary.get("scale")) {
    FailureOr<FileParameters> read = readParameters(dictionary, refuse);
    if (failed(read))
      return failure();
    file = *read;
    auto rounding = dictionary.getAs<StringAttr>("rounding");
    std::optional<tpc::RoundingMode> mode =
        rounding ? tpc::symbolizeRoundingMode(rounding.getValue())
                 : tpc::RoundingMode::HalfEven;
    if (!mode)
      return refuse() << "has the rounding " << rounding
                      << ", not \"half_even\" or \"half_up\"";
    if (file->bits <= kMaxPointBits)
      record.parameters = createQuantizer(type.getContext(), *file, *mode);
  }
  if (record.point) {
    if (!record.parameters || record.parameters.getNumChannels() != 1)
      return refuse() << "of a point needs one quantizer of at most "
                      << kMaxPointBits << " bits for the tensor";
    return record;
  }
  if (failed(readConstant(dictionary, tensor, file ? &*file : nullptr, record,
                          refuse)))
    return failure();
  return record;
}
