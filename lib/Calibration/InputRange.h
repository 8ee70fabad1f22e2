// SPDX-License-Identifier: Apache-2.0
//
// Tells whether samples have the range that a network was trained on.
#ifndef MCT_LIB_CALIBRATION_INPUTRANGE_H
#define MCT_LIB_CALIBRATION_INPUTRANGE_H

#include "mct/Calibration/PointStatistics.h"
#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct::calibration {

/// Warns of each argument whose samples seem to have another range than the
/// network was trained on: numbers from 0 to 1 for a network of pixels from 0
/// to 255, or the other way round. `statistics`: what the points of the
/// arguments saw.
///
/// Where the module has recorded a scale (`tpc.preprocessing`), that says what
/// samples were expected. Otherwise the first layers are asked: one makes W x +
/// b of its input x, and over the samples W x varies by about sigma(x) |W|, the
/// norm over what an output channel reads. In a trained layer (with its batch
/// norm folded into it) that is about as large as the bias; the median of the
/// ratio over all channels is compared with bounds that are a long way from
/// what trained networks have. Layers without biases say nothing.
///
/// `followsRecord`: samples were scaled as the module has recorded.
void warnOfInputRanges(mlir::func::FuncOp function, const KernelOps &kernels,
                       const StatisticsMap &statistics, bool followsRecord);

} // namespace mct::calibration

#endif // MCT_LIB_CALIBRATION_INPUTRANGE_H
