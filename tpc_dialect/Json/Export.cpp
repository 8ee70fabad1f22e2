// SPDX-License-Identifier: Apache-2.0
#include "mlir/IR/Diagnostics.h"
#include "tpc_dialect/Json/TpcJson.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <charconv>

using namespace mlir;
using namespace mct::tpc;

namespace json = llvm::json;

/// The shortest decimal that reads back as `value`, in the notation of MCT's
/// JSON library: plain from 1e-5 to 1e16, else with an exponent.
static std::string formatReal(double value) {
  char buffer[32];
  std::to_chars_result end =
      std::to_chars(std::begin(buffer), std::end(buffer), value,
                    std::chars_format::scientific);
  auto [mantissa, exponentText] =
      StringRef(buffer, end.ptr - buffer).split('e');
  std::string text = mantissa.starts_with("-") ? "-" : "";
  std::string digits;
  for (char c : mantissa)
    if (llvm::isDigit(c))
      digits += c;
  int exponent = 0;
  exponentText.consume_front("+");
  if (exponentText.getAsInteger(10, exponent))
    return text + digits;

  int numDigits = digits.size(), numBeforePoint = exponent + 1;
  if (numBeforePoint <= -5 || numBeforePoint > 16) {
    if (numDigits > 1)
      digits.insert(1, ".");
    return text + digits + "e" + std::to_string(exponent);
  }
  if (numBeforePoint <= 0)
    return text + "0." + std::string(-numBeforePoint, '0') + digits;
  if (numBeforePoint >= numDigits)
    return text + digits + std::string(numBeforePoint - numDigits, '0') + ".0";
  return text + digits.insert(numBeforePoint, ".");
}

namespace {
class Exporter {
public:
  Exporter(PlatformOp platform, raw_ostream &os, int64_t schema)
      : platform(platform), out(os, /*IndentSize=*/4), schema(schema) {}

  void write() {
    out.object([&] {
      out.attributeBegin("default_qco");
      write(platform.getDefaultOptions());
      out.attributeEnd();
      // MCT writes null for a platform without sets, as for one without
      // patterns.
      if (platform.getOperatorSets().empty())
        out.attribute("operator_set", nullptr);
      else
        out.attributeArray("operator_set", [&] {
          for (auto set :
               platform.getOperatorSets().getAsRange<OperatorSetAttr>())
            write(set);
        });
      writeFusing();
      write("tpc_minor_version", platform.getMinorVersion());
      write("tpc_patch_version", platform.getPatchVersion());
      if (auto type = platform.getPlatformType())
        write("tpc_platform_type", *type);
      else
        out.attribute("tpc_platform_type", nullptr);
      out.attribute("add_metadata", platform.getAddMetadata());
      write("name", platform.getSymName());
      out.attribute("is_simd_padding", platform.getSimdPadding());
      if (schema >= 2)
        out.attribute("insert_preserving_quantizers",
                      platform.getInsertPreservingQuantizers());
      out.attribute("SCHEMA_VERSION", schema);
    });
  }

private:
  void write(StringRef key, StringRef text) {
    out.attribute(key, json::isUTF8(text) ? text.str() : json::fixUTF8(text));
  }

  template <typename Integer>
  void write(StringRef key, std::optional<Integer> number) {
    if (number)
      out.attribute(key, int64_t(*number));
    else
      out.attribute(key, nullptr);
  }

  /// Every method is known: `exportTpcJson` has checked.
  static int64_t getCode(QuantizationMethodAttrInterface method) {
    return int64_t(cast<MethodAttr>(method).getValue());
  }

  void write(AttrQuantConfigAttr config) {
    out.object([&] {
      out.attribute("weights_quantization_method", getCode(config.getMethod()));
      out.attribute("weights_n_bits", config.getBits());
      out.attribute("weights_per_channel_threshold", config.getPerChannel());
      out.attribute("enable_weights_quantization", config.getEnabled());
      write("lut_values_bitwidth", config.getLutValuesBits());
    });
  }

  /// MCT writes weights in the order of their definition, which is this one in
  /// all targets that it ships; an MLIR dictionary is sorted.
  static SmallVector<NamedAttribute> getWeights(OpQuantConfigAttr config) {
    SmallVector<NamedAttribute> weights;
    if (DictionaryAttr dictionary = config.getWeights())
      llvm::append_range(weights, dictionary);
    auto rank = [](NamedAttribute weight) {
      static constexpr StringLiteral kOrder[] = {"kernel_attr", "bias_attr",
                                                 "pos_attr"};
      StringRef name = weight.getName().getValue();
      return std::pair(llvm::find(kOrder, name) - std::begin(kOrder), name);
    };
    llvm::sort(weights, [&](NamedAttribute lhs, NamedAttribute rhs) {
      return rank(lhs) < rank(rhs);
    });
    return weights;
  }

  void write(OpQuantConfigAttr config) {
    out.object([&] {
      out.attributeBegin("default_weight_attr_config");
      write(config.getDefaultWeight());
      out.attributeEnd();
      out.attributeObject("attr_weights_configs_mapping", [&] {
        for (NamedAttribute weight : getWeights(config)) {
          out.attributeBegin(weight.getName().getValue());
          write(cast<AttrQuantConfigAttr>(weight.getValue()));
          out.attributeEnd();
        }
      });
      out.attribute("activation_quantization_method",
                    getCode(config.getActMethod()));
      out.attribute("activation_n_bits", config.getActBits());
      out.attributeArray("supported_input_activation_n_bits", [&] {
        for (int64_t bits : config.getInputBits())
          out.value(bits);
      });
      out.attribute("enable_activation_quantization", config.getActEnabled());
      out.attribute("quantization_preserving", config.getPreserving());
      out.attribute("signedness", int64_t(config.getSignedness()));
      out.attributeBegin("fixed_scale");
      if (FloatAttr scale = config.getFixedScale())
        out.rawValue(formatReal(scale.getValueAsDouble()));
      else
        out.value(nullptr);
      out.attributeEnd();
      write("fixed_zero_point", config.getFixedZeroPoint());
      write("simd_size", config.getSimdSize());
    });
  }

  void write(QCOptionsAttr options) {
    out.object([&] {
      out.attributeArray("quantization_configurations", [&] {
        for (OpQuantConfigAttr config : options.getConfigs())
          write(config);
      });
      out.attributeBegin("base_config");
      write(options.getBaseConfig());
      out.attributeEnd();
    });
  }

  void write(OperatorSetAttr set) {
    out.object([&] {
      write("name", set.getName().getValue());
      out.attributeBegin("qc_options");
      if (set.getOptions())
        write(set.getOptions());
      else
        out.value(nullptr);
      out.attributeEnd();
      out.attribute("type", "OperatorsSet");
      // MCT ignores keys that it does not know.
      if (set.getOneByOne())
        out.attribute("one_by_one", true);
    });
  }

  /// An element of a fusing pattern, with the whole of each set; returns its
  /// name.
  std::string writeGroup(Attribute element) {
    if (auto name = dyn_cast<StringAttr>(element)) {
      write(platform.lookupOperatorSet(name.getValue()));
      return name.str();
    }
    auto group = cast<OperatorSetGroupAttr>(element);
    std::string name = group.getName()
                           ? group.getName().str()
                           : llvm::join(llvm::map_range(group.getSets(),
                                                        [](StringAttr set) {
                                                          return set.getValue();
                                                        }),
                                        "_");
    out.object([&] {
      out.attributeArray("operators_set", [&] {
        for (StringAttr set : group.getSets())
          write(platform.lookupOperatorSet(set.getValue()));
      });
      write("name", name);
      out.attribute("type", "OperatorSetGroup");
    });
    return name;
  }

  void writeFusing() {
    if (platform.getFusing().empty())
      return out.attribute("fusing_patterns", nullptr);
    out.attributeArray("fusing_patterns", [&] {
      for (auto pattern : platform.getFusing().getAsRange<FusingAttr>())
        out.object([&] {
          SmallVector<std::string> names;
          out.attributeArray("operator_groups", [&] {
            for (Attribute group : pattern.getGroups())
              names.push_back(writeGroup(group));
          });
          if (schema >= 2) {
            out.attributeBegin("fuse_op_quantization_config");
            if (pattern.getConfig())
              write(pattern.getConfig());
            else
              out.value(nullptr);
            out.attributeEnd();
          }
          write("name", pattern.getName() ? pattern.getName().str()
                                          : llvm::join(names, "_"));
        });
    });
  }

  PlatformOp platform;
  json::OStream out;
  int64_t schema;
};
} // namespace

LogicalResult mct::tpc::exportTpcJson(PlatformOp platform, raw_ostream &os,
                                      int64_t schema) {
  if (schema < 1 || schema > kCurrentTpcSchema)
    return platform.emitOpError() << "cannot be written in schema version "
                                  << schema << "; known: 1, 2";
  if (schema == 1 && platform.getInsertPreservingQuantizers())
    return platform.emitOpError()
           << "has 'insert_preserving_quantizers', which schema version 1 "
              "cannot say; write version 2";
  for (auto [index, pattern] :
       llvm::enumerate(platform.getFusing().getAsRange<FusingAttr>()))
    if (schema == 1 && pattern.getConfig())
      return platform.emitOpError()
             << "has a config in fusing pattern #" << index
             << ", which schema version 1 cannot say; write version 2";
  QuantizationMethodAttrInterface unknown;
  std::optional<int64_t> tolerance;
  platform->getAttrDictionary().walk([&](Attribute attribute) {
    if (auto config = dyn_cast<AttrQuantConfigAttr>(attribute);
        config && config.getErrorTolerance())
      tolerance = config.getErrorTolerance();
    auto method = dyn_cast<QuantizationMethodAttrInterface>(attribute);
    if (method && !isa<MethodAttr>(attribute))
      unknown = method;
  });
  if (tolerance)
    return platform.emitOpError()
           << "has an 'error_tolerance' of " << *tolerance
           << ", which the JSON of MCT cannot say; leave it out";
  if (unknown)
    return platform.emitOpError()
           << "asks for the method " << unknown.getMethodName()
           << ", which MCT's JSON has no number for";
  Exporter(platform, os, schema).write();
  return success();
}
