// SPDX-License-Identifier: Apache-2.0
//
// This file is all that it takes to add a quantizer. Levels are 0 and threshold
// / 2^k with either sign, for chips that multiply by shifting. The plugin gives
// it to mct-opt and mct-run:
//
//   mct-opt --load-dialect-plugin=MctLogarithmicQuantizer.so …
//
// `#toy.logarithmic` is the method of a target, `#toy.logarithmic<[1.0, 0.5],
// 3>` a quantizer of 3 bits and two channels, `#toy.logarithmic<[1.0], 2
// unsigned>` one without negative levels.
#include "mct/Quantization/Histogram.h"
#include "mct/Quantizers/Parameters.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mct;

namespace {
struct LogarithmicStorage : public AttributeStorage {
  /// Thresholds (none: the method), bits, whether there are negative levels.
  using KeyTy = std::tuple<tpc::RealList, unsigned, bool>;

  explicit LogarithmicStorage(const KeyTy &key) : key(key) {}
  bool operator==(const KeyTy &other) const { return key == other; }
  static llvm::hash_code hashKey(const KeyTy &key) {
    return llvm::hash_combine(std::get<0>(key), std::get<1>(key),
                              std::get<2>(key));
  }
  static LogarithmicStorage *construct(AttributeStorageAllocator &allocator,
                                       const KeyTy &key) {
    auto [thresholds, bits, isSigned] = key;
    return new (allocator.allocate<LogarithmicStorage>())
        LogarithmicStorage(KeyTy(
            allocator.copyInto(ArrayRef<double>(thresholds)), bits, isSigned));
  }

  KeyTy key;
};

class LogarithmicAttr
    : public Attribute::AttrBase<LogarithmicAttr, Attribute, LogarithmicStorage,
                                 tpc::QuantizerAttrInterface::Trait,
                                 tpc::QuantizationMethodAttrInterface::Trait> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LogarithmicAttr)
  using Base::Base;
  static constexpr StringLiteral name = "toy.logarithmic";

  static LogarithmicAttr get(MLIRContext *context, ArrayRef<double> thresholds,
                             unsigned bits, bool isSigned) {
    return Base::get(context, tpc::RealList(thresholds), bits, isSigned);
  }

  // A quantizer.
  tpc::QuantizationMethodAttrInterface getQuantizationMethod() const {
    return get(getContext(), {}, 0, true);
  }
  unsigned getBits() const { return std::get<1>(getImpl()->key); }
  size_t getNumChannels() const { return getThresholds().size(); }
  bool getIsSigned() const { return std::get<2>(getImpl()->key); }
  ArrayRef<double> getThresholds() const { return std::get<0>(getImpl()->key); }
  SmallVector<float> getLevels(size_t channel) const {
    double threshold = getThresholds()[getNumChannels() == 1 ? 0 : channel];
    int magnitudes = (1 << (getBits() - getIsSigned())) - 1;
    SmallVector<float> levels = {0};
    for (int k = 0; k != magnitudes; ++k) {
      auto level = static_cast<float>(std::ldexp(threshold, -k));
      levels.push_back(level);
      if (getIsSigned())
        levels.push_back(-level);
    }
    llvm::sort(levels);
    return levels;
  }
  bool takesFactors() const { return true; }
  tpc::QuantizerAttrInterface scaledBy(ArrayRef<double> factors) const {
    SmallVector<double> products;
    for (auto [index, threshold] : llvm::enumerate(getThresholds()))
      products.push_back(threshold * factors[factors.size() == 1 ? 0 : index]);
    return get(getContext(), products, getBits(), getIsSigned());
  }

  // A method: the largest magnitude is the threshold.
  llvm::Expected<tpc::QuantizerAttrInterface>
  selectForHistogram(const quantization::Histogram &histogram,
                     const quantization::SelectionOptions &options) const {
    double largest =
        std::max(std::abs(histogram.min()), std::abs(histogram.max()));
    return get(getContext(), largest > 0 ? largest : 1, options.bits,
               options.isSigned);
  }
  llvm::Expected<tpc::QuantizerAttrInterface>
  selectForChannels(ArrayRef<float> rows, size_t channels,
                    const quantization::SelectionOptions &options) const {
    if (options.bits < 2)
      return llvm::createStringError("needs 2 bits for a sign and a magnitude");
    SmallVector<double> thresholds;
    for (size_t channel = 0; channel != channels; ++channel) {
      double largest = 0;
      for (float value : rows.slice(channel * (rows.size() / channels),
                                    rows.size() / channels))
        largest = std::max(largest, std::abs(double(value)));
      thresholds.push_back(largest > 0 ? largest : 1);
    }
    return get(getContext(), thresholds, options.bits, true);
  }
};

class ToyDialect : public Dialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ToyDialect)
  static constexpr StringLiteral getDialectNamespace() { return "toy"; }

  explicit ToyDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<ToyDialect>()) {
    addAttributes<LogarithmicAttr>();
  }

  Attribute parseAttribute(DialectAsmParser &parser, Type) const override {
    if (parser.parseKeyword("logarithmic"))
      return {};
    SmallVector<double> thresholds;
    unsigned bits = 0;
    bool isSigned = true;
    if (succeeded(parser.parseOptionalLess())) {
      if (parser.parseCommaSeparatedList(
              AsmParser::Delimiter::Square,
              [&] { return parser.parseFloat(thresholds.emplace_back()); }) ||
          parser.parseComma() || parser.parseInteger(bits))
        return {};
      isSigned = failed(parser.parseOptionalKeyword("unsigned"));
      if (parser.parseGreater())
        return {};
    }
    return LogarithmicAttr::get(getContext(), thresholds, bits, isSigned);
  }

  void printAttribute(Attribute attribute,
                      DialectAsmPrinter &printer) const override {
    auto logarithmic = cast<LogarithmicAttr>(attribute);
    printer << "logarithmic";
    if (logarithmic.getThresholds().empty())
      return;
    printer << "<[";
    llvm::interleaveComma(
        logarithmic.getThresholds(), printer,
        [&](double value) { printer.printFloat(APFloat(value)); });
    printer << "], " << logarithmic.getBits()
            << (logarithmic.getIsSigned() ? ">" : " unsigned>");
  }
};
} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "LogarithmicQuantizer", "1",
          [](DialectRegistry *registry) {
            registry->insert<ToyDialect>();
            // A target is read by a pass, when it is too late to load dialects.
            registry->addExtension(
                +[](MLIRContext *context, tpc::TpcDialect *) {
                  context->getOrLoadDialect<ToyDialect>();
                });
          }};
}
