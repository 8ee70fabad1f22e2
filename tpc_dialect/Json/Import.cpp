// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/ParseJson.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "tpc_dialect/Json/TpcJson.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mct::tpc;

namespace json = llvm::json;

namespace {
/// A value and its position in the document, such as `operator_set[3].name`.
struct Place {
  const json::Value *value;
  std::string path;

  Place operator[](size_t index) const {
    return {&(*value->getAsArray())[index],
            path + "[" + std::to_string(index) + "]"};
  }
};

class Importer {
public:
  Importer(Location loc, MLIRContext *context) : loc(loc), context(context) {}

  OwningOpRef<ModuleOp> read(const json::Value &document);

private:
  class Fields;

  InFlightDiagnostic error(StringRef path) {
    InFlightDiagnostic diagnostic = emitError(loc);
    if (!path.empty())
      diagnostic << path << ": ";
    return diagnostic;
  }

  InFlightDiagnostic unexpected(const Place &place, StringRef expected) {
    InFlightDiagnostic diagnostic = error(place.path);
    std::string text;
    llvm::raw_string_ostream(text) << *place.value;
    constexpr size_t kLongest = 60;
    if (text.size() > kLongest)
      text = text.substr(0, kLongest) + "...";
    diagnostic << "expected " << expected << ", but got " << text;
    return diagnostic;
  }

  template <typename T>
  FailureOr<SmallVector<T>>
  readList(const Place &place, FailureOr<T> (Importer::*read)(const Place &)) {
    const json::Array *array = place.value->getAsArray();
    if (!array)
      return unexpected(place, "a list");
    SmallVector<T> elements;
    for (size_t i = 0; i < array->size(); ++i) {
      FailureOr<T> element = (this->*read)(place[i]);
      if (failed(element))
        return failure();
      elements.push_back(*element);
    }
    return elements;
  }

  FailureOr<bool> readBool(const Place &place);
  FailureOr<int64_t> readInteger(const Place &place);
  FailureOr<StringAttr> readName(const Place &place);
  template <typename Enum>
  FailureOr<Enum> readEnum(const Place &place, int64_t max,
                           std::optional<Enum> (*fromInteger)(uint32_t),
                           std::optional<Enum> (*fromName)(StringRef),
                           StringRef (*toName)(Enum));
  FailureOr<FloatAttr> readReal(const Place &place);
  FailureOr<QuantizationMethod> readMethod(const Place &place);
  FailureOr<Signedness> readSignedness(const Place &place);
  FailureOr<SmallVector<int64_t>> readWidths(const Place &place);
  FailureOr<AttrQuantConfigAttr> readWeight(const Place &place);
  FailureOr<DictionaryAttr> readWeights(const Place &place);
  FailureOr<OpQuantConfigAttr> readConfig(const Place &place);
  FailureOr<SmallVector<OpQuantConfigAttr>> readConfigs(const Place &place);
  FailureOr<QCOptionsAttr> readOptions(const Place &place);
  FailureOr<OperatorSetAttr> readSet(const Place &place);
  FailureOr<ArrayAttr> readSets(const Place &place);
  FailureOr<StringAttr> readSetReference(const Place &place);
  FailureOr<SmallVector<StringAttr>> readMembers(const Place &place);
  FailureOr<Attribute> readGroup(const Place &place);
  FailureOr<SmallVector<Attribute>> readGroups(const Place &place);
  FailureOr<FusingAttr> readPattern(const Place &place);
  FailureOr<ArrayAttr> readPatterns(const Place &place);

  Location loc;
  MLIRContext *context;
  int64_t schema = kCurrentTpcSchema;
  /// Operator sets of the platform, and the positions of their definitions.
  llvm::StringMap<std::pair<OperatorSetAttr, std::string>> sets;
};

/// The fields of one object. All known fields are looked up by name, so a field
/// that was not looked up is an error.
class Importer::Fields {
public:
  Fields(Importer &importer, const Place &place)
      : importer(importer), place(place), object(place.value->getAsObject()) {
    if (!object) {
      importer.unexpected(place, "an object");
      ok = false;
    }
  }

  /// The field, or nothing when it is absent or, unless `isNullable`, null.
  std::optional<Place> get(StringRef key, bool isNullable = true) {
    known.push_back(key);
    const json::Value *value = object ? object->get(key) : nullptr;
    if (!value || (isNullable && value->kind() == json::Value::Null))
      return std::nullopt;
    return Place{value,
                 place.path.empty() ? key.str() : place.path + "." + key.str()};
  }

  /// Reads a field that may be absent or null.
  template <typename T, typename Read>
  void optional(StringRef key, T &result, Read read) {
    if (std::optional<Place> field = get(key))
      store((importer.*read)(*field), result);
  }

  /// Reads a field that may be absent.
  template <typename T, typename Read>
  void withDefault(StringRef key, T &result, Read read) {
    if (std::optional<Place> field = get(key, /*isNullable=*/false))
      store((importer.*read)(*field), result);
  }

  template <typename T, typename Read>
  void required(StringRef key, T &result, Read read) {
    if (std::optional<Place> field = get(key, /*isNullable=*/false))
      return store((importer.*read)(*field), result);
    if (ok)
      importer.error(place.path) << "needs '" << key << "'";
    ok = false;
  }

  /// Checks a field that can only have one value.
  void tag(StringRef key, StringRef value) {
    std::optional<Place> field = get(key, /*isNullable=*/false);
    if (!field || field->value->getAsString() == value)
      return;
    importer.unexpected(*field, "\"" + value.str() + "\"");
    ok = false;
  }

  /// Returns whether all went well, and no field is left over.
  LogicalResult finish() {
    if (!ok)
      return failure();
    SmallVector<StringRef> unknown;
    for (const auto &field : *object)
      if (!llvm::is_contained(known, StringRef(field.first)))
        unknown.push_back(field.first);
    if (unknown.empty())
      return success();
    llvm::sort(unknown);
    llvm::sort(known);
    std::string path = place.path.empty() ? "" : place.path + ".";
    return importer.error(path + unknown.front().str())
           << "unknown key; known: " << llvm::join(known, ", ");
  }

private:
  template <typename From, typename To>
  void store(FailureOr<From> value, To &result) {
    if (failed(value))
      ok = false;
    else
      result = *value;
  }

  Importer &importer;
  const Place &place;
  const json::Object *object;
  SmallVector<StringRef> known;
  bool ok = true;
};
} // namespace

//===----------------------------------------------------------------------===//
// Simple values
//===----------------------------------------------------------------------===//

FailureOr<bool> Importer::readBool(const Place &place) {
  if (std::optional<bool> value = place.value->getAsBoolean())
    return *value;
  return unexpected(place, "true or false");
}

FailureOr<int64_t> Importer::readInteger(const Place &place) {
  if (std::optional<int64_t> value = place.value->getAsInteger())
    return *value;
  return unexpected(place, "an integer");
}

FailureOr<StringAttr> Importer::readName(const Place &place) {
  std::optional<StringRef> value = place.value->getAsString();
  if (value && !value->empty())
    return StringAttr::get(context, *value);
  return unexpected(place, "a string that is not empty");
}

template <typename Enum>
FailureOr<Enum> Importer::readEnum(const Place &place, int64_t max,
                                   std::optional<Enum> (*fromInteger)(uint32_t),
                                   std::optional<Enum> (*fromName)(StringRef),
                                   StringRef (*toName)(Enum)) {
  std::optional<Enum> value;
  if (std::optional<int64_t> number = place.value->getAsInteger();
      number && *number >= 0 && *number <= max)
    value = fromInteger(*number);
  else if (std::optional<StringRef> name = place.value->getAsString())
    value = fromName(name->lower());
  if (value)
    return *value;
  std::string expected = "one of ";
  for (int64_t i = 0; i <= max; ++i)
    expected += (i ? ", " : "") + std::to_string(i) + " or \"" +
                toName(*fromInteger(i)).upper() + "\"";
  return unexpected(place, expected);
}

FailureOr<QuantizationMethod> Importer::readMethod(const Place &place) {
  return readEnum<QuantizationMethod>(
      place, getMaxEnumValForQuantizationMethod(), symbolizeQuantizationMethod,
      symbolizeQuantizationMethod, stringifyQuantizationMethod);
}

FailureOr<Signedness> Importer::readSignedness(const Place &place) {
  return readEnum<Signedness>(place, getMaxEnumValForSignedness(),
                              symbolizeSignedness, symbolizeSignedness,
                              stringifySignedness);
}

FailureOr<FloatAttr> Importer::readReal(const Place &place) {
  if (std::optional<double> value = place.value->getAsNumber())
    return FloatAttr::get(Float64Type::get(context), *value);
  return unexpected(place, "a number");
}

/// One width, or a list of them.
FailureOr<SmallVector<int64_t>> Importer::readWidths(const Place &place) {
  if (std::optional<int64_t> width = place.value->getAsInteger())
    return SmallVector<int64_t>{*width};
  return readList<int64_t>(place, &Importer::readInteger);
}

//===----------------------------------------------------------------------===//
// Configs
//===----------------------------------------------------------------------===//

FailureOr<AttrQuantConfigAttr> Importer::readWeight(const Place &place) {
  Fields fields(*this, place);
  auto method = QuantizationMethod::PowerOfTwo;
  int64_t bits = 32;
  bool perChannel = false, enabled = false;
  std::optional<int64_t> lutValuesBits;
  fields.withDefault("weights_quantization_method", method,
                     &Importer::readMethod);
  fields.withDefault("weights_n_bits", bits, &Importer::readInteger);
  fields.withDefault("weights_per_channel_threshold", perChannel,
                     &Importer::readBool);
  fields.withDefault("enable_weights_quantization", enabled,
                     &Importer::readBool);
  fields.optional("lut_values_bitwidth", lutValuesBits, &Importer::readInteger);
  if (failed(fields.finish()))
    return failure();
  auto config = AttrQuantConfigAttr::getChecked(
      [&] { return error(place.path); }, context,
      QuantizationMethodAttrInterface(MethodAttr::get(context, method)), bits,
      perChannel, enabled, lutValuesBits,
      /*error_tolerance=*/std::optional<int64_t>());
  if (!config)
    return failure();
  return config;
}

/// Returns null for an empty object, since MCT does not distinguish them.
FailureOr<DictionaryAttr> Importer::readWeights(const Place &place) {
  const json::Object *object = place.value->getAsObject();
  if (!object)
    return unexpected(place, "an object");
  SmallVector<StringRef> names;
  for (const auto &field : *object)
    names.push_back(field.first);
  llvm::sort(names);
  SmallVector<NamedAttribute> weights;
  for (StringRef name : names) {
    if (name.empty())
      return error(place.path) << "has a weight without a name";
    FailureOr<AttrQuantConfigAttr> weight =
        readWeight({object->get(name), place.path + "." + name.str()});
    if (failed(weight))
      return failure();
    weights.emplace_back(StringAttr::get(context, name), *weight);
  }
  return weights.empty() ? DictionaryAttr()
                         : DictionaryAttr::get(context, weights);
}

FailureOr<OpQuantConfigAttr> Importer::readConfig(const Place &place) {
  Fields fields(*this, place);
  AttrQuantConfigAttr defaultWeight;
  DictionaryAttr weights;
  auto method = QuantizationMethod::PowerOfTwo;
  int64_t bits = 0;
  SmallVector<int64_t> inputBits;
  bool enabled = true, preserving = false;
  auto signedness = Signedness::Auto;
  std::optional<int64_t> fixedZeroPoint, simdSize;
  fields.required("default_weight_attr_config", defaultWeight,
                  &Importer::readWeight);
  fields.required("attr_weights_configs_mapping", weights,
                  &Importer::readWeights);
  fields.required("activation_quantization_method", method,
                  &Importer::readMethod);
  fields.required("activation_n_bits", bits, &Importer::readInteger);
  fields.required("supported_input_activation_n_bits", inputBits,
                  &Importer::readWidths);
  fields.required("enable_activation_quantization", enabled,
                  &Importer::readBool);
  fields.required("quantization_preserving", preserving, &Importer::readBool);
  fields.required("signedness", signedness, &Importer::readSignedness);
  FloatAttr fixedScale;
  fields.optional("fixed_scale", fixedScale, &Importer::readReal);
  fields.optional("fixed_zero_point", fixedZeroPoint, &Importer::readInteger);
  fields.optional("simd_size", simdSize, &Importer::readInteger);
  if (failed(fields.finish()))
    return failure();
  auto config = OpQuantConfigAttr::getChecked(
      [&] { return error(place.path); }, context,
      QuantizationMethodAttrInterface(MethodAttr::get(context, method)), bits,
      ArrayRef<int64_t>(inputBits), enabled, preserving, signedness, fixedScale,
      fixedZeroPoint, simdSize, weights, defaultWeight);
  if (!config)
    return failure();
  return config;
}

FailureOr<SmallVector<OpQuantConfigAttr>>
Importer::readConfigs(const Place &place) {
  return readList<OpQuantConfigAttr>(place, &Importer::readConfig);
}

FailureOr<QCOptionsAttr> Importer::readOptions(const Place &place) {
  Fields fields(*this, place);
  SmallVector<OpQuantConfigAttr> configs;
  OpQuantConfigAttr base;
  fields.required("quantization_configurations", configs,
                  &Importer::readConfigs);
  fields.optional("base_config", base, &Importer::readConfig);
  if (failed(fields.finish()))
    return failure();
  auto options =
      QCOptionsAttr::getChecked([&] { return error(place.path); }, context,
                                ArrayRef<OpQuantConfigAttr>(configs), base);
  if (!options)
    return failure();
  // MCT fills it in if there is no choice.
  return configs.size() == 1 ? QCOptionsAttr::get(context, configs, {})
                             : options;
}

//===----------------------------------------------------------------------===//
// Operator sets
//===----------------------------------------------------------------------===//

/// The name of an operator set. MCT misspells one, which its own files have to
/// keep.
static StringAttr spellAsMct(StringAttr name) {
  return name.getValue() == "Expand"
             ? StringAttr::get(name.getContext(), "Expend")
             : name;
}

FailureOr<OperatorSetAttr> Importer::readSet(const Place &place) {
  Fields fields(*this, place);
  StringAttr name;
  QCOptionsAttr options;
  bool isOneByOne = false;
  fields.required("name", name, &Importer::readName);
  fields.optional("qc_options", options, &Importer::readOptions);
  fields.optional("one_by_one", isOneByOne, &Importer::readBool);
  fields.tag("type", "OperatorsSet");
  if (failed(fields.finish()))
    return failure();
  auto set =
      OperatorSetAttr::getChecked([&] { return error(place.path); }, context,
                                  spellAsMct(name), options, isOneByOne);
  if (!set)
    return failure();
  return set;
}

FailureOr<ArrayAttr> Importer::readSets(const Place &place) {
  FailureOr<SmallVector<OperatorSetAttr>> list =
      readList<OperatorSetAttr>(place, &Importer::readSet);
  if (failed(list))
    return failure();
  for (auto [index, set] : llvm::enumerate(*list)) {
    auto [it, isNew] =
        sets.try_emplace(set.getName().getValue(), set, place[index].path);
    // P2
    if (!isNew)
      return error(place[index].path)
             << "operator set " << set.getName()
             << " is defined more than once; first in " << it->second.second;
  }
  return ArrayAttr::get(context,
                        SmallVector<Attribute>(list->begin(), list->end()));
}

/// An operator set inside of a fusing pattern. The file holds a copy of the
/// whole set; its name is what counts.
FailureOr<StringAttr> Importer::readSetReference(const Place &place) {
  FailureOr<OperatorSetAttr> set = readSet(place);
  if (failed(set))
    return failure();
  auto known = sets.find(set->getName().getValue());
  // P3
  if (known == sets.end())
    return error(place.path) << "operator set " << set->getName()
                             << " is not in 'operator_set'; add it there";
  auto &[definition, path] = known->second;
  if (set->getOptions() && set->getOptions() != definition.getOptions())
    emitWarning(loc) << place.path << ": options of operator set "
                     << set->getName() << " differ from those in " << path
                     << ", which count";
  return set->getName();
}

FailureOr<SmallVector<StringAttr>> Importer::readMembers(const Place &place) {
  return readList<StringAttr>(place, &Importer::readSetReference);
}

/// The names of the parts in MCT's way, as a pattern or group without a name
/// has it.
static std::string joinNames(ArrayRef<StringAttr> names) {
  return llvm::join(
      llvm::map_range(names, [](StringAttr name) { return name.getValue(); }),
      "_");
}

FailureOr<Attribute> Importer::readGroup(const Place &place) {
  const json::Object *object = place.value->getAsObject();
  if (!object || object->getString("type") != "OperatorSetGroup") {
    FailureOr<StringAttr> name = readSetReference(place);
    if (failed(name))
      return failure();
    return Attribute(*name);
  }
  Fields fields(*this, place);
  SmallVector<StringAttr> members;
  StringAttr name;
  fields.required("operators_set", members, &Importer::readMembers);
  fields.optional("name", name, &Importer::readName);
  fields.tag("type", "OperatorSetGroup");
  if (failed(fields.finish()))
    return failure();
  if (name && name.getValue() == joinNames(members))
    name = {};
  auto group = OperatorSetGroupAttr::getChecked(
      [&] { return error(place.path); }, context, ArrayRef<StringAttr>(members),
      name);
  if (!group)
    return failure();
  return Attribute(group);
}

FailureOr<SmallVector<Attribute>> Importer::readGroups(const Place &place) {
  return readList<Attribute>(place, &Importer::readGroup);
}

FailureOr<FusingAttr> Importer::readPattern(const Place &place) {
  Fields fields(*this, place);
  SmallVector<Attribute> groups;
  OpQuantConfigAttr config;
  StringAttr name;
  fields.required("operator_groups", groups, &Importer::readGroups);
  if (schema >= 2)
    fields.optional("fuse_op_quantization_config", config,
                    &Importer::readConfig);
  fields.optional("name", name, &Importer::readName);
  if (failed(fields.finish()))
    return failure();
  SmallVector<StringAttr> names;
  for (Attribute element : groups)
    if (auto group = dyn_cast<OperatorSetGroupAttr>(element))
      names.push_back(
          group.getName()
              ? group.getName()
              : StringAttr::get(context, joinNames(group.getSets())));
    else
      names.push_back(cast<StringAttr>(element));
  if (name && name.getValue() == joinNames(names))
    name = {};
  auto pattern =
      FusingAttr::getChecked([&] { return error(place.path); }, context,
                             ArrayRef<Attribute>(groups), config, name);
  if (!pattern)
    return failure();
  return pattern;
}

FailureOr<ArrayAttr> Importer::readPatterns(const Place &place) {
  FailureOr<SmallVector<FusingAttr>> list =
      readList<FusingAttr>(place, &Importer::readPattern);
  if (failed(list))
    return failure();
  llvm::StringMap<std::string> pathOfName;
  for (auto [index, pattern] : llvm::enumerate(*list)) {
    if (!pattern.getName())
      continue;
    auto [it, isNew] =
        pathOfName.try_emplace(pattern.getName().getValue(), place[index].path);
    // P4
    if (!isNew)
      return error(place[index].path)
             << "fusing pattern name " << pattern.getName()
             << " is used twice; first in " << it->second;
  }
  return ArrayAttr::get(context,
                        SmallVector<Attribute>(list->begin(), list->end()));
}

//===----------------------------------------------------------------------===//
// The platform
//===----------------------------------------------------------------------===//

OwningOpRef<ModuleOp> Importer::read(const json::Value &document) {
  Place root{&document, ""};
  Fields fields(*this, root);
  fields.withDefault("SCHEMA_VERSION", schema, &Importer::readInteger);
  if (schema < 1 || schema > kCurrentTpcSchema) {
    error("SCHEMA_VERSION")
        << "schema version " << schema << " is not known; known: 1, 2";
    return {};
  }
  QCOptionsAttr defaultOptions;
  auto operatorSets = ArrayAttr::get(context, {});
  ArrayAttr fusing;
  std::optional<int64_t> minorVersion, patchVersion;
  StringAttr type, name = StringAttr::get(context, "default_tpc");
  bool addMetadata = true, simdPadding = false, insertQuantizers = false;
  fields.required("default_qco", defaultOptions, &Importer::readOptions);
  fields.optional("operator_set", operatorSets, &Importer::readSets);
  fields.optional("fusing_patterns", fusing, &Importer::readPatterns);
  fields.optional("tpc_minor_version", minorVersion, &Importer::readInteger);
  fields.optional("tpc_patch_version", patchVersion, &Importer::readInteger);
  fields.optional("tpc_platform_type", type, &Importer::readName);
  fields.withDefault("add_metadata", addMetadata, &Importer::readBool);
  fields.withDefault("name", name, &Importer::readName);
  fields.withDefault("is_simd_padding", simdPadding, &Importer::readBool);
  if (schema >= 2)
    fields.withDefault("insert_preserving_quantizers", insertQuantizers,
                       &Importer::readBool);
  if (failed(fields.finish()))
    return {};
  // P1
  if (size_t count = defaultOptions.getConfigs().size(); count != 1) {
    error("default_qco.quantization_configurations")
        << "the default must be one config, but got " << count;
    return {};
  }

  OpBuilder builder(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto toAttribute = [&](std::optional<int64_t> number) {
    return number ? builder.getI64IntegerAttr(*number) : IntegerAttr();
  };
  auto toUnit = [&](bool flag) {
    return flag ? builder.getUnitAttr() : UnitAttr();
  };
  if (fusing && fusing.empty())
    fusing = {};
  PlatformOp::create(builder, loc, name, type, toAttribute(minorVersion),
                     toAttribute(patchVersion), toUnit(addMetadata),
                     toUnit(simdPadding), toUnit(insertQuantizers),
                     defaultOptions, operatorSets, fusing);
  if (failed(verify(*module)))
    return {};
  return module;
}

OwningOpRef<ModuleOp> mct::tpc::importTpcJson(StringRef text,
                                              StringRef fileName,
                                              MLIRContext *context) {
  context->loadDialect<TpcDialect>();
  Location loc = FileLineColLoc::get(context, fileName, 1, 1);
  llvm::Expected<json::Value> document = support::parseJson(text);
  if (!document) {
    emitError(loc) << "cannot be read as JSON: "
                   << llvm::toString(document.takeError());
    return {};
  }
  return Importer(loc, context).read(*document);
}
