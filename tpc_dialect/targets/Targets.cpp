// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/targets/Targets.h"
#include <array>
#include <iterator>

using llvm::StringRef;

namespace {
struct Embedded {
  StringRef file, text;
};
struct Target {
  StringRef name, file;
};
} // namespace

#define MCT_TARGET(NAME, TEXT) {NAME, TEXT},
static constexpr Embedded kEmbedded[] = {
#include "tpc_dialect/targets/EmbeddedTargets.inc"
};
#undef MCT_TARGET

// A target of one version and the name for people who do not care which.
static constexpr Target kTargets[] = {
    {"default", "imx500_v1_0"},
    {"imx500", "imx500_v1_0"},
    {"imx500_v1_0", "imx500_v1_0"},
};

static StringRef getText(StringRef file) {
  for (const Embedded &embedded : kEmbedded)
    if (embedded.file == file)
      return embedded.text;
  return {};
}

std::optional<StringRef> mct::tpc::lookupTarget(StringRef name) {
  for (const Target &target : kTargets)
    if (target.name == name)
      return getText(target.file);
  return std::nullopt;
}

llvm::ArrayRef<StringRef> mct::tpc::listTargets() {
  static constexpr auto names = [] {
    std::array<StringRef, std::size(kTargets)> names{};
    for (size_t i = 0; i < names.size(); ++i)
      names[i] = kTargets[i].name;
    return names;
  }();
  return names;
}

StringRef mct::tpc::getStockFramework() { return getText("tosa"); }
