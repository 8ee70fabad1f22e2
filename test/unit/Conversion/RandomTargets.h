// SPDX-License-Identifier: Apache-2.0
//
// The targets that random float networks are quantized for.
#ifndef MCT_TEST_UNIT_CONVERSION_RANDOMTARGETS_H
#define MCT_TEST_UNIT_CONVERSION_RANDOMTARGETS_H

#include "../Execution/RandomNetworks.h"
#include "tpc_dialect/targets/Targets.h"

#include <string>
#include <vector>

namespace mct::testing {

/// Names of the targets shipped, without aliases and without those that
/// contradict themselves about reshapes, as MCT ships them.
inline std::vector<std::string> targetNames() {
  std::vector<std::string> names;
  for (const tpc::StockTarget &stock : tpc::listTargets())
    if (!stock.isAlias() && !stock.name.ends_with("_mct"))
      names.push_back(stock.name.str());
  return names;
}

} // namespace mct::testing

#endif // MCT_TEST_UNIT_CONVERSION_RANDOMTARGETS_H
