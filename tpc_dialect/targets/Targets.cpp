// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/targets/Targets.h"
#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;
using namespace mct::tpc;

namespace {
struct Embedded {
  StringRef file, text;
};
struct Alias {
  StringRef name, file;
};
struct Warning {
  StringRef file, text;
};
} // namespace

#define MCT_TARGET(NAME, TEXT) {NAME, TEXT},
static constexpr Embedded kEmbedded[] = {
#include "tpc_dialect/targets/EmbeddedTargets.inc"
};

static constexpr StockTarget kDevices[] = {
#undef MCT_TARGET
#define MCT_TARGET(NAME, TEXT) {NAME, NAME, TEXT},
#include "tpc_dialect/targets/EmbeddedDevices.inc"
};
#undef MCT_TARGET

/// Files that describe an IR and no chip.
static constexpr StringRef kVocabularies[] = {"tosa", "linalg"};

// For people who do not care which version, and for those who know the version
// of Sony's converter instead.
static constexpr Alias kAliases[] = {
    {"default", "imx500_v1_0"},   {"latest", "imx500_v1_0"},
    {"imx500", "imx500_v1_0"},    {"tflite", "tflite_v1"},
    {"qnnpack", "qnnpack_v1"},    {"sdsp_3_14", "imx500_v1_0"},
    {"sdsp_3_16", "imx500_v4_0"}, {"sdsp_3_17", "imx500_v5_0"},
    {"sdsp_3_18", "imx500_v5_0"},
};

// For comparisons with MCT, which ships these two.
static constexpr Warning kWarnings[] = {
    {"tflite_v1_mct",
     "refuses networks with operators that move values, such as a reshape; use "
     "tflite"},
    {"qnnpack_v1_mct", "quantizes no weight; use qnnpack"},
};

static StringRef getWarning(StringRef file) {
  for (const Warning &warning : kWarnings)
    if (warning.file == file)
      return warning.text;
  return {};
}

static StringRef getText(StringRef file) {
  for (const Embedded &embedded : kEmbedded)
    if (embedded.file == file)
      return embedded.text;
  return {};
}

llvm::ArrayRef<StockTarget> mct::tpc::listTargets() {
  static const std::vector<StockTarget> targets = [] {
    std::vector<StockTarget> targets;
    for (const Embedded &embedded : kEmbedded)
      if (!llvm::is_contained(kVocabularies, embedded.file))
        targets.push_back({embedded.file, embedded.file, embedded.text,
                           getWarning(embedded.file)});
    for (const Alias &alias : kAliases)
      targets.push_back({alias.name, alias.file, getText(alias.file)});
    llvm::sort(targets, [](const StockTarget &lhs, const StockTarget &rhs) {
      return lhs.name < rhs.name;
    });
    return targets;
  }();
  return targets;
}

void mct::tpc::printTargets(llvm::raw_ostream &os) {
  for (const StockTarget &target : listTargets()) {
    os << target.name;
    if (target.isAlias())
      os << " -> " << target.resolved;
    if (!target.warning.empty())
      os << " (as MCT ships it, for comparisons: " << target.warning << ')';
    os << '\n';
  }
}

const StockTarget *mct::tpc::lookupTarget(StringRef name) {
  for (const StockTarget &target : listTargets())
    if (target.name == name)
      return &target;
  return nullptr;
}

llvm::ArrayRef<StockTarget> mct::tpc::listStockVocabularies() {
  static const std::vector<StockTarget> vocabularies = [] {
    std::vector<StockTarget> vocabularies;
    for (StringRef file : kVocabularies)
      if (StringRef text = getText(file); !text.empty())
        vocabularies.push_back({file, file, text});
    return vocabularies;
  }();
  return vocabularies;
}

llvm::ArrayRef<StockTarget> mct::tpc::listDevices() { return kDevices; }

std::optional<StringRef>
mct::tpc::findNearest(StringRef name, llvm::ArrayRef<StringRef> known) {
  std::optional<StringRef> nearest;
  // One slip in three characters: `imx50` is `imx500`, `vx9` is nothing.
  unsigned bound = name.size() / 3;
  for (StringRef candidate : known) {
    unsigned distance = name.edit_distance_insensitive(
        candidate, /*AllowReplacements=*/true, /*MaxEditDistance=*/bound);
    if (distance > bound || (nearest && distance == bound))
      continue;
    bound = distance;
    nearest = candidate;
  }
  return nearest;
}
