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

/// Describes the IR of a quantized function, without running anything:
/// operators, points, memory and operations. `function` is named
/// (`assignNames`), and its arguments are operators, too. Where the module has
/// no target, or one that does not fit it, operators say what they compute and
/// nothing about sets. Fails with a diagnostic where the function has several
/// blocks. The same for any number of threads. `kernels`: of its module.
mlir::LogicalResult describe(mlir::func::FuncOp function,
                             const KernelOps &kernels,
                             const support::Threads &threads, Report &report);

/// Describes one point: shape, statistics, parameters, how they were found, and
/// the channels of a weight. Several threads may call it for different points.
/// `group`, `owner` and `decisions` are left alone. `channelAxes`: of a weight
/// with one set of parameters, the axes of its output channels.
void describePoint(tpc::QuantizeOp op, llvm::ArrayRef<int64_t> channelAxes,
                   Point &point);

/// Returns the counts, range and distribution; no channels.
Statistics toStatistics(const quantization::Histogram &histogram);

} // namespace mct::report

#endif // MCT_LIB_REPORT_DESCRIBE_H
