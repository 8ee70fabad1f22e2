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
/// network was trained on: numbers from 0 to 1 for a network of pixels from 0
/// to 255, or vice versa. `statistics` are those of the points of the
/// arguments.
///
/// If the module records a scale (`tpc.preprocessing`), the expected range
/// follows from it. Otherwise the first layers are examined: a layer computes W
/// x + b of its input x, and over the samples W x varies by about sigma(x) |W|,
/// the norm over the inputs of an output channel. In a trained layer (with its
/// batch norm folded into it) that is about as large as the bias; the median of
/// the ratio over all channels is compared with bounds that are far from the
/// values of trained networks. Layers without biases give no evidence.
///
/// `followsRecord` is true if samples were scaled as recorded in the module.
void warnOfInputRanges(mlir::func::FuncOp function, const KernelOps &kernels,
                       const StatisticsMap &statistics, bool followsRecord);

} // namespace mct::calibration

#endif // MCT_LIB_CALIBRATION_INPUTRANGE_H
