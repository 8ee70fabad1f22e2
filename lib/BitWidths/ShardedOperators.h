// SPDX-License-Identifier: Apache-2.0
//
// Measurements of the alternatives of operators that several shards share.
#ifndef MCT_LIB_BITWIDTHS_SHARDEDOPERATORS_H
#define MCT_LIB_BITWIDTHS_SHARDEDOPERATORS_H

#include "mct/Execution/Shards.h"
#include <vector>

namespace mct::bit_widths {

/// An operator that is measured: its name, and its number of alternatives.
struct MeasuredOperator {
  std::string name;
  size_t alternatives = 0;
};

/// Returns for each of `operators`, which are in program order, whether a shard
/// measures it. The largest amount of work of a shard is as small as possible.
std::vector<bool> selectForShard(llvm::ArrayRef<MeasuredOperator> operators,
                                 const execution::Shard &shard);

/// Returns the measurements of the operators that a shard has measured, to be
/// recorded.
llvm::json::Object
writeDistances(llvm::ArrayRef<MeasuredOperator> operators,
               const std::vector<bool> &own,
               llvm::ArrayRef<std::vector<double>> distances);

/// Adds the recorded measurements of one shard to `distances`, which has one
/// entry for each operator.
llvm::Error readDistances(const llvm::json::Object &recorded,
                          llvm::ArrayRef<MeasuredOperator> operators,
                          llvm::MutableArrayRef<std::vector<double>> distances);

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_SHARDEDOPERATORS_H
