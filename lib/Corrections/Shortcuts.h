// SPDX-License-Identifier: Apache-2.0
//
// Finds layers whose result is one summand: an error of the other one can be
// made up for by the layer.
#ifndef MCT_LIB_CORRECTIONS_SHORTCUTS_H
#define MCT_LIB_CORRECTIONS_SHORTCUTS_H

#include "Layerwise.h"

namespace mct::corrections {

/// Returns for each of `layers` values of a function that `runLayerwise` is to
/// show, the value that nothing but it is added to (`tosa.add`, perhaps behind
/// a point), and that has the same shape; null where there is none, or where it
/// is not known yet when the layer is run, because it depends on layers that
/// are run with it or later.
///
/// Ops that make such a value are moved in front of the layer, so that it can
/// be shown (`compileLayerwise`): the function is the caller's to throw away.
llvm::SmallVector<mlir::Value>
makeOtherSummands(llvm::ArrayRef<ChannelValue> layers);

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_SHORTCUTS_H
