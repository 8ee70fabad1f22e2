// SPDX-License-Identifier: Apache-2.0
//
// Statistics, and corrections with a kernel, have an encoding of their own:
// inside an attribute that bytecode stores as text, a reference to a resource
// is read back without its data. Parameters and selections have one since they
// hold numbers of all channels, whose text takes longer to write than the
// weights themselves. All other attributes are fine as text.
#include "tpc_dialect/IR/TpcBytecode.h"
#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/Diagnostics.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mct::tpc;

namespace {
/// Written in front of each attribute; part of the format.
enum class AttributeCode : uint64_t {
  Histogram = 0,
  Statistics = 1,
  Corrections = 2,
  Selection = 3,
  PowerOfTwo = 4,
  Symmetric = 5,
  Uniform = 6,
  LookupTable = 7,
};

/// Reads one attribute field by field. After an error, all fields are zero.
class FieldReader {
public:
  explicit FieldReader(DialectBytecodeReader &reader) : reader(reader) {}

  bool hasFailed() const { return failed; }

  double real() {
    FailureOr<APFloat> value =
        reader.readAPFloatWithKnownSemantics(APFloat::IEEEdouble());
    return check(value) ? value->convertToDouble() : 0;
  }
  std::optional<Real> optionalReal() {
    return boolean() ? std::optional<Real>(real()) : std::nullopt;
  }
  SmallVector<double> reals() {
    SmallVector<double> values;
    // Not reserved: a damaged file may contain any number.
    for (uint64_t i = 0, count = number(); i != count && !failed; ++i)
      values.push_back(real());
    return values;
  }
  SmallVector<int64_t> integers() {
    SmallVector<int64_t> values;
    for (uint64_t i = 0, count = number(); i != count && !failed; ++i)
      values.push_back(integer());
    return values;
  }
  int64_t integer() {
    int64_t value = 0;
    check(reader.readSignedVarInt(value));
    return value;
  }
  unsigned bits() {
    uint64_t value = number();
    return unsigned(std::min<uint64_t>(value, ~0u));
  }
  bool boolean() {
    bool value = false;
    check(reader.readBool(value));
    return value;
  }
  /// Reads an enumeration, which is written as its word.
  template <typename Enum>
  Enum word(std::optional<Enum> (*symbolize)(StringRef)) {
    StringRef text;
    if (!check(reader.readString(text)))
      return Enum();
    std::optional<Enum> value = symbolize(text);
    if (!value) {
      failed = true;
      reader.emitError() << "unknown word '" << text << "' of the tpc dialect";
    }
    return value.value_or(Enum());
  }

private:
  template <typename Result> bool check(const Result &result) {
    failed |= mlir::failed(result);
    return !failed;
  }
  uint64_t number() {
    uint64_t value = 0;
    check(reader.readVarInt(value));
    return value;
  }

  DialectBytecodeReader &reader;
  bool failed = false;
};

struct TpcBytecode : public BytecodeDialectInterface {
  explicit TpcBytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  LogicalResult writeAttribute(Attribute attribute,
                               DialectBytecodeWriter &writer) const override {
    if (auto histogram = dyn_cast<HistogramAttr>(attribute)) {
      writer.writeVarInt(uint64_t(AttributeCode::Histogram));
      writer.writeSignedVarInt(histogram.getStepExponent());
      writer.writeSignedVarInt(histogram.getFirst());
      writer.writeAttribute(histogram.getCounts());
      return success();
    }
    if (auto statistics = dyn_cast<StatisticsAttr>(attribute)) {
      writer.writeVarInt(uint64_t(AttributeCode::Statistics));
      writer.writeSignedVarInt(statistics.getCount());
      writer.writeSignedVarInt(statistics.getZeros());
      writer.writeAPFloatWithKnownSemantics(APFloat(statistics.getMin()));
      writer.writeAPFloatWithKnownSemantics(APFloat(statistics.getMax()));
      writer.writeOptionalAttribute(statistics.getHistogram());
      writer.writeOptionalAttribute(statistics.getChannelMean());
      writer.writeOptionalAttribute(statistics.getChannelMeanSquare());
      writer.writeOptionalAttribute(statistics.getChannelMin());
      writer.writeOptionalAttribute(statistics.getChannelMax());
      return success();
    }
    auto corrections = dyn_cast<CorrectionsAttr>(attribute);
    if (corrections && corrections.getKernel()) {
      writer.writeVarInt(uint64_t(AttributeCode::Corrections));
      writer.writeVarInt(corrections.getApplied().size());
      for (StringAttr name : corrections.getApplied())
        writer.writeAttribute(name);
      writeReals(corrections.getBiasOffset(), writer);
      writeReals(corrections.getKernelScale(), writer);
      writer.writeSignedVarInt(corrections.getSamples().value_or(0));
      writer.writeAttribute(corrections.getKernel());
      return success();
    }
    return writeParameters(attribute, writer);
  }

  Attribute readAttribute(DialectBytecodeReader &reader) const override {
    uint64_t code;
    if (failed(reader.readVarInt(code)))
      return {};
    switch (static_cast<AttributeCode>(code)) {
    case AttributeCode::Histogram:
      return readHistogram(reader);
    case AttributeCode::Statistics:
      return readStatistics(reader);
    case AttributeCode::Corrections:
      return readCorrections(reader);
    case AttributeCode::Selection:
      return readSelection(reader);
    case AttributeCode::PowerOfTwo:
      return readThresholds<PowerOfTwoAttr>(reader);
    case AttributeCode::Symmetric:
      return readThresholds<SymmetricAttr>(reader);
    case AttributeCode::Uniform:
      return readUniform(reader);
    case AttributeCode::LookupTable:
      return readLookupTable(reader);
    }
    reader.emitError() << "unknown attribute code " << code
                       << " of the tpc dialect";
    return {};
  }

  void writeVersion(DialectBytecodeWriter &writer) const override {
    writer.writeVarInt(BytecodeVersion::kLatest);
  }

  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const override {
    uint64_t number;
    if (failed(reader.readVarInt(number)))
      return nullptr;
    if (number > BytecodeVersion::kLatest) {
      reader.emitError() << "has version " << number
                         << " of the tpc dialect, of which this program knows "
                         << BytecodeVersion::kLatest
                         << " at most; read it with the program that wrote it";
      return nullptr;
    }
    return std::make_unique<BytecodeVersion>(number);
  }

private:
  static void writeReals(ArrayRef<double> values,
                         DialectBytecodeWriter &writer) {
    writer.writeVarInt(values.size());
    for (double value : values)
      writer.writeAPFloatWithKnownSemantics(APFloat(value));
  }

  static void writeIntegers(ArrayRef<int64_t> values,
                            DialectBytecodeWriter &writer) {
    writer.writeVarInt(values.size());
    for (int64_t value : values)
      writer.writeSignedVarInt(value);
  }
  static void writeOptionalReal(std::optional<Real> value,
                                DialectBytecodeWriter &writer) {
    writer.writeOwnedBool(value.has_value());
    if (value)
      writer.writeAPFloatWithKnownSemantics(APFloat(double(*value)));
  }

  /// Writes an attribute of parameters, or of how they were found; fails for
  /// another.
  static LogicalResult writeParameters(Attribute attribute,
                                       DialectBytecodeWriter &writer) {
    auto begin = [&](AttributeCode code) {
      writer.writeVarInt(uint64_t(code));
    };
    auto writeThresholds = [&](auto quantizer) {
      writeReals(quantizer.getThreshold(), writer);
      writer.writeVarInt(quantizer.getBits());
      writer.writeOwnedBool(quantizer.getIsSigned());
      writer.writeOwnedString(stringifyEnum(quantizer.getRounding()));
    };
    return TypeSwitch<Attribute, LogicalResult>(attribute)
        .Case([&](SelectionAttr selection) {
          begin(AttributeCode::Selection);
          writer.writeOwnedString(stringifyEnum(selection.getErrorMethod()));
          writeOptionalReal(selection.getNorm(), writer);
          writeOptionalReal(selection.getPercentile(), writer);
          writeReals(selection.getCovers(), writer);
          writeReals(selection.getError(), writer);
          writer.writeOwnedString(stringifyEnum(selection.getCertificate()));
          writeOptionalReal(selection.getBound(), writer);
          return success();
        })
        .Case([&](PowerOfTwoAttr quantizer) {
          begin(AttributeCode::PowerOfTwo);
          writeThresholds(quantizer);
          return success();
        })
        .Case([&](SymmetricAttr quantizer) {
          begin(AttributeCode::Symmetric);
          writeThresholds(quantizer);
          return success();
        })
        .Case([&](UniformAttr quantizer) {
          begin(AttributeCode::Uniform);
          writeReals(quantizer.getScale(), writer);
          writeIntegers(quantizer.getZeroPoint(), writer);
          writer.writeVarInt(quantizer.getBits());
          writer.writeOwnedString(stringifyEnum(quantizer.getRounding()));
          return success();
        })
        .Case([&](LookupTableAttr quantizer) {
          begin(AttributeCode::LookupTable);
          writer.writeOwnedString(stringifyEnum(quantizer.getMethod()));
          writeReals(quantizer.getThreshold(), writer);
          writeIntegers(quantizer.getTable(), writer);
          writer.writeVarInt(quantizer.getBits());
          writer.writeOwnedBool(quantizer.getIsSigned());
          writer.writeVarInt(quantizer.getTableBits());
          return success();
        })
        .Default([](Attribute) { return failure(); });
  }

  /// Creates an attribute from fields that were read; reports an error on
  /// failure.
  template <typename Attr, typename... Fields>
  Attribute create(DialectBytecodeReader &reader, const FieldReader &read,
                   Fields &&...fields) const {
    if (read.hasFailed())
      return {};
    return Attr::getChecked([&] { return reader.emitError(); }, getContext(),
                            std::forward<Fields>(fields)...);
  }

  Attribute readSelection(DialectBytecodeReader &reader) const {
    FieldReader read(reader);
    auto method =
        read.word<ErrorMethod>(mct::quantization::symbolizeErrorMethod);
    std::optional<Real> norm = read.optionalReal(),
                        percentile = read.optionalReal();
    SmallVector<double> covers = read.reals(), error = read.reals();
    auto certificate =
        read.word<Certificate>(mct::quantization::symbolizeCertificate);
    std::optional<Real> bound = read.optionalReal();
    return create<SelectionAttr>(reader, read, method, norm, percentile,
                                 RealList(covers), RealList(error), certificate,
                                 bound);
  }

  template <typename Attr>
  Attribute readThresholds(DialectBytecodeReader &reader) const {
    FieldReader read(reader);
    SmallVector<double> thresholds = read.reals();
    unsigned bits = read.bits();
    bool isSigned = read.boolean();
    auto rounding = read.word<RoundingMode>(symbolizeRoundingMode);
    return create<Attr>(reader, read, RealList(thresholds), bits, isSigned,
                        rounding);
  }

  Attribute readUniform(DialectBytecodeReader &reader) const {
    FieldReader read(reader);
    SmallVector<double> scales = read.reals();
    SmallVector<int64_t> zeroPoints = read.integers();
    unsigned bits = read.bits();
    auto rounding = read.word<RoundingMode>(symbolizeRoundingMode);
    return create<UniformAttr>(reader, read, RealList(scales),
                               ArrayRef<int64_t>(zeroPoints), bits, rounding);
  }

  Attribute readLookupTable(DialectBytecodeReader &reader) const {
    FieldReader read(reader);
    auto method = read.word<QuantizationMethod>(
        mct::quantization::symbolizeQuantizationMethod);
    SmallVector<double> thresholds = read.reals();
    SmallVector<int64_t> table = read.integers();
    unsigned bits = read.bits();
    bool isSigned = read.boolean();
    unsigned tableBits = read.bits();
    return create<LookupTableAttr>(reader, read, method, RealList(thresholds),
                                   ArrayRef<int64_t>(table), bits, isSigned,
                                   tableBits);
  }

  Attribute readCorrections(DialectBytecodeReader &reader) const {
    uint64_t count;
    if (failed(reader.readVarInt(count)))
      return {};
    SmallVector<StringAttr> applied;
    for (uint64_t i = 0; i != count; ++i) {
      StringAttr name;
      if (failed(reader.readAttribute(name)))
        return {};
      applied.push_back(name);
    }
    FieldReader read(reader);
    SmallVector<double> offsets = read.reals(), scales = read.reals();
    int64_t samples = read.integer();
    ElementsAttr kernel;
    if (read.hasFailed() || failed(reader.readAttribute(kernel)))
      return {};
    std::optional<int64_t> thinned;
    if (samples != 0)
      thinned = samples;
    return create<CorrectionsAttr>(reader, read, ArrayRef<StringAttr>(applied),
                                   RealList(offsets), RealList(scales), thinned,
                                   kernel);
  }

  Attribute readHistogram(DialectBytecodeReader &reader) const {
    int64_t stepExponent, first;
    ElementsAttr counts;
    if (failed(reader.readSignedVarInt(stepExponent)) ||
        failed(reader.readSignedVarInt(first)) ||
        failed(reader.readAttribute(counts)))
      return {};
    return HistogramAttr::getChecked([&] { return reader.emitError(); },
                                     getContext(), stepExponent, first, counts);
  }

  Attribute readStatistics(DialectBytecodeReader &reader) const {
    int64_t count, zeros;
    if (failed(reader.readSignedVarInt(count)) ||
        failed(reader.readSignedVarInt(zeros)))
      return {};
    FailureOr<APFloat> min =
        reader.readAPFloatWithKnownSemantics(APFloat::IEEEdouble());
    FailureOr<APFloat> max =
        reader.readAPFloatWithKnownSemantics(APFloat::IEEEdouble());
    HistogramAttr histogram;
    ElementsAttr mean, meanSquare, channelMin, channelMax;
    if (failed(min) || failed(max) ||
        failed(reader.readOptionalAttribute(histogram)) ||
        failed(reader.readOptionalAttribute(mean)) ||
        failed(reader.readOptionalAttribute(meanSquare)) ||
        failed(reader.readOptionalAttribute(channelMin)) ||
        failed(reader.readOptionalAttribute(channelMax)))
      return {};
    return StatisticsAttr::getChecked(
        [&] { return reader.emitError(); }, getContext(), count, zeros,
        Real(min->convertToDouble()), Real(max->convertToDouble()), histogram,
        mean, meanSquare, channelMin, channelMax);
  }
};
} // namespace

uint64_t BytecodeVersion::get(const DialectBytecodeReader &reader) {
  FailureOr<const DialectVersion *> version =
      reader.getDialectVersion<TpcDialect>();
  return succeeded(version)
             ? static_cast<const BytecodeVersion *>(*version)->number
             : 0;
}

void mct::tpc::addBytecodeInterface(TpcDialect *dialect) {
  dialect->addInterfaces<TpcBytecode>();
}
