// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/targets/Targets.h"
#include "Fixture.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mct::tpc;
using namespace mlir;

namespace json = llvm::json;

TEST(Targets, AllNamesHaveText) {
  EXPECT_TRUE(llvm::is_sorted(listTargets()));
  for (StringRef name : listTargets())
    EXPECT_TRUE(lookupTarget(name)->contains("tpc.platform")) << name.str();
  EXPECT_EQ(lookupTarget("default"), lookupTarget("imx500_v1_0"));
  EXPECT_FALSE(lookupTarget("no_such_target"));
  EXPECT_TRUE(getStockFramework().contains("tpc.framework @tosa"));
}

//===----------------------------------------------------------------------===//
// Equality with what MCT 2.6.1 exports
//===----------------------------------------------------------------------===//

/// What a config of a weight says, in the words of the JSON.
static json::Value toJson(AttrQuantConfigAttr config) {
  return json::Object{
      {"weights_quantization_method", int64_t(config.getMethod())},
      {"weights_n_bits", config.getBits()},
      {"weights_per_channel_threshold", config.getPerChannel()},
      {"enable_weights_quantization", config.getEnabled()},
      {"lut_values_bitwidth", config.getLutValuesBits()}};
}

static json::Value toJson(OpQuantConfigAttr config) {
  json::Object weights;
  if (config.getWeights())
    for (NamedAttribute entry : config.getWeights())
      weights[entry.getName().getValue()] =
          toJson(cast<AttrQuantConfigAttr>(entry.getValue()));
  std::optional<double> fixedScale;
  if (config.getFixedScale())
    fixedScale = config.getFixedScale().getValueAsDouble();
  return json::Object{
      {"default_weight_attr_config", toJson(config.getDefaultWeight())},
      {"attr_weights_configs_mapping", std::move(weights)},
      {"activation_quantization_method", int64_t(config.getActMethod())},
      {"activation_n_bits", config.getActBits()},
      {"supported_input_activation_n_bits", json::Array(config.getInputBits())},
      {"enable_activation_quantization", config.getActEnabled()},
      {"quantization_preserving", config.getPreserving()},
      {"signedness", int64_t(config.getSignedness())},
      {"fixed_scale", fixedScale},
      {"fixed_zero_point", config.getFixedZeroPoint()},
      {"simd_size", config.getSimdSize()}};
}

static json::Value toJson(QCOptionsAttr options) {
  if (!options)
    return nullptr;
  json::Array configs;
  for (OpQuantConfigAttr config : options.getConfigs())
    configs.push_back(toJson(config));
  return json::Object{{"quantization_configurations", std::move(configs)},
                      {"base_config", toJson(options.getBaseConfig())}};
}

/// The names of the sets that one element of a fusing pattern stands for.
static json::Value groupToJson(const json::Object &group) {
  if (group.getString("type") != "OperatorSetGroup")
    return json::Array{*group.getString("name")};
  json::Array names;
  for (const json::Value &set : *group.getArray("operators_set"))
    names.push_back(*set.getAsObject()->getString("name"));
  return names;
}

static json::Value groupToJson(Attribute group) {
  if (auto name = dyn_cast<StringAttr>(group))
    return json::Array{name.getValue()};
  json::Array names;
  for (StringAttr name : cast<OperatorSetGroupAttr>(group).getSets())
    names.push_back(name.getValue());
  return names;
}

TEST_F(LookupTest, Imx500IsThatOfMct) {
  auto file =
      llvm::MemoryBuffer::getFile(getSharedPath("golden/tpc/imx500_v1_0.json"));
  if (!file)
    GTEST_SKIP() << "no recorded target";
  llvm::Expected<json::Value> parsed = json::parse((*file)->getBuffer());
  ASSERT_TRUE(bool(parsed));
  const json::Object &golden = *parsed->getAsObject();
  parse("module {}");
  TpcLookup lookup = *TpcLookup::create(*module);
  PlatformOp platform = lookup.platform();

  EXPECT_EQ(platform.getSymName(), golden.getString("name"));
  EXPECT_EQ(platform.getPlatformType(), golden.getString("tpc_platform_type"));
  EXPECT_EQ(int64_t(*platform.getMinorVersion()),
            golden.getInteger("tpc_minor_version"));
  EXPECT_EQ(int64_t(*platform.getPatchVersion()),
            golden.getInteger("tpc_patch_version"));
  EXPECT_EQ(platform.getAddMetadata(), golden.getBoolean("add_metadata"));
  EXPECT_EQ(platform.getSimdPadding(), golden.getBoolean("is_simd_padding"));
  EXPECT_EQ(platform.getInsertPreservingQuantizers(),
            golden.getBoolean("insert_preserving_quantizers"));
  EXPECT_EQ(toJson(platform.getDefaultOptions()), *golden.get("default_qco"));

  const json::Array &sets = *golden.getArray("operator_set");
  ASSERT_EQ(platform.getOperatorSets().size(), sets.size());
  for (auto [attribute, value] :
       llvm::zip_equal(platform.getOperatorSets(), sets)) {
    auto set = cast<OperatorSetAttr>(attribute);
    const json::Object &expected = *value.getAsObject();
    EXPECT_EQ(set.getName().getValue(), expected.getString("name"));
    EXPECT_EQ(toJson(set.getOptions()), *expected.get("qc_options"))
        << set.getName().str();
  }

  const json::Array &patterns = *golden.getArray("fusing_patterns");
  ASSERT_EQ(platform.getFusing().size(), patterns.size());
  for (auto [attribute, value] :
       llvm::zip_equal(platform.getFusing(), patterns)) {
    json::Array groups, expected;
    for (Attribute group : cast<FusingAttr>(attribute).getGroups())
      groups.push_back(groupToJson(group));
    for (const json::Value &group :
         *value.getAsObject()->getArray("operator_groups"))
      expected.push_back(groupToJson(*group.getAsObject()));
    EXPECT_EQ(json::Value(std::move(groups)), json::Value(std::move(expected)));
  }
}
