// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_REPORT_DESCRIBE_H
#define MCT_LIB_REPORT_DESCRIBE_H

#include "mct/Planning/KernelOp.h"
#include "mct/Quantization/Histogram.h"
#include "mct/Report/Report.h"
#include "mct/Support/Threads.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/IR/TpcDialect.h"

namespace mct::report {

/// Describes the IR of a quantized function without running it: operators,
/// points, memory and operations. `function` must have names (`assignNames`);
/// its arguments are operators, too. If the module has no target, or one that
/// does not match it, operators have ops but no operator sets. Fails with a
/// diagnostic if the function has several blocks. The result does not depend on
/// the number of threads. `kernels`: those of the function's module.
mlir::LogicalResult describe(mlir::func::FuncOp function,
                             const KernelOps &kernels,
                             const support::Threads &threads, Report &report);

/// Describes one point: shape, statistics, parameters and how they were found,
/// and the channels of a weight. May be called concurrently for different
/// points. Does not set `group`, `owner` and `decisions`. `channelAxes`: axes
/// of the output channels of a weight with one set of parameters.
void describePoint(tpc::QuantizeOp op, llvm::ArrayRef<int64_t> channelAxes,
                   Point &point);

/// Returns the counts, range and distribution, without channels.
Statistics toStatistics(const quantization::Histogram &histogram);

} // namespace mct::report

#endif // MCT_LIB_REPORT_DESCRIBE_H
