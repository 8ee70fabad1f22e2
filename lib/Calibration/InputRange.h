// SPDX-License-Identifier: Apache-2.0
//
// Checks whether samples have the range that a network was trained on.
#ifndef MCT_LIB_CALIBRATION_INPUTRANGE_H
#define MCT_LIB_CALIBRATION_INPUTRANGE_H

#include "mct/Calibration/PointStatistics.h"
#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct::calibration {

/// Warns of each argument whose samples seem to have another range than the
/// network was trained on: pixels, or other whole numbers, for a network of
/// numbers from 0 to 1, or vice versa. `statistics` are those of the points of
/// the arguments.
///
/// If the module records a scale (`tpc.preprocessing`), the expected range
/// follows from it. Otherwise the first layers are examined: a layer computes W
/// x + b of its input x, and over the samples W x varies by about sigma(x) |W|,
/// the norm over the inputs of an output channel. In a trained layer (with its
/// batch norm folded into it) that is about as large as the bias. There is a
/// warning if the median of the ratio over all channels is unlike that of
/// trained networks, and would be like it with the preprocessing that the
/// samples seem to lack. Layers without biases give no evidence, and real
/// numbers of any size are not suspected to lack one.
///
/// `followsRecord` is true if samples were scaled as recorded in the module.
void warnOfInputRanges(mlir::func::FuncOp function, const KernelOps &kernels,
                       const StatisticsMap &statistics, bool followsRecord);

} // namespace mct::calibration

#endif // MCT_LIB_CALIBRATION_INPUTRANGE_H
