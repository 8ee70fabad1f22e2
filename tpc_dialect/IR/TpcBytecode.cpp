// SPDX-License-Identifier: Apache-2.0
//
// Statistics, and corrections with a kernel, have an encoding of their own:
// inside an attribute that bytecode stores as text, a reference to a resource
// is read back without its data. All other attributes are fine as text.
#include "tpc_dialect/IR/TpcBytecode.h"
#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/Diagnostics.h"
#include "tpc_dialect/IR/TpcDialect.h"

using namespace mlir;
using namespace mct::tpc;

namespace {
/// Written in front of each attribute; part of the format.
enum class AttributeCode : uint64_t {
  Histogram = 0,
  Statistics = 1,
  Corrections = 2,
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
    return failure();
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

  static LogicalResult readReals(DialectBytecodeReader &reader,
                                 SmallVectorImpl<double> &values) {
    uint64_t count;
    if (failed(reader.readVarInt(count)))
      return failure();
    // Not reserved: a damaged file may ask for any number.
    for (uint64_t i = 0; i != count; ++i) {
      FailureOr<APFloat> value =
          reader.readAPFloatWithKnownSemantics(APFloat::IEEEdouble());
      if (failed(value))
        return failure();
      values.push_back(value->convertToDouble());
    }
    return success();
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
    SmallVector<double> offsets, scales;
    int64_t samples;
    ElementsAttr kernel;
    if (failed(readReals(reader, offsets)) ||
        failed(readReals(reader, scales)) ||
        failed(reader.readSignedVarInt(samples)) ||
        failed(reader.readAttribute(kernel)))
      return {};
    std::optional<int64_t> thinned;
    if (samples != 0)
      thinned = samples;
    return CorrectionsAttr::getChecked(
        [&] { return reader.emitError(); }, getContext(),
        ArrayRef<StringAttr>(applied), RealList(offsets), RealList(scales),
        thinned, kernel);
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
