// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TOOLS_COMMON_ENDWITHSHARDS_H
#define MCT_TOOLS_COMMON_ENDWITHSHARDS_H

#include "mct/Execution/Shards.h"

namespace mct::tools {

/// Tells on standard error what comes next where a tool ends because of shards,
/// and returns its exit status: 0 for a shard, 3 where shards have to be asked
/// once more, 1 where something failed.
int endWithShards(const execution::ShardState &state);

} // namespace mct::tools

#endif // MCT_TOOLS_COMMON_ENDWITHSHARDS_H
