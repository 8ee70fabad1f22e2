// SPDX-License-Identifier: Apache-2.0
//
// Finds layers whose result is one summand of an addition: such a layer can
// compensate an error of the other summand.
#ifndef MCT_LIB_CORRECTIONS_SHORTCUTS_H
#define MCT_LIB_CORRECTIONS_SHORTCUTS_H

#include "Layerwise.h"

namespace mct::corrections {

/// Returns for each of `layers` (values of a function for `runLayerwise`) the
/// other operand of the `tosa.add` that is its only user (possibly after a
/// point), if it has the same shape; null if there is none, or if it is not
/// known yet when the layer is run, because it depends on layers that are run
/// with it or later.
///
/// Ops that compute such a value are moved before the layer, so that it can be
/// observed (`compileLayerwise`): the caller must not use the function
/// otherwise.
llvm::SmallVector<mlir::Value>
makeOtherSummands(llvm::ArrayRef<ChannelValue> layers);

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_SHORTCUTS_H
