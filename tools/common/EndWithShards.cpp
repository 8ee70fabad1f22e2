// SPDX-License-Identifier: Apache-2.0
#include "EndWithShards.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

int mct::tools::endWithShards(const execution::ShardState &state) {
  constexpr int kShardsAreMissing = 3;
  if (state.written.empty())
    return state.missing.empty() ? EXIT_FAILURE : kShardsAreMissing;
  llvm::errs() << state.written << ": the " << state.missing
               << " of a shard; give it with those of the other shards as "
                  "shards-in\n";
  return EXIT_SUCCESS;
}
