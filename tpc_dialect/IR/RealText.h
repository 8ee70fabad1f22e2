// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_IR_REALTEXT_H
#define TPC_DIALECT_IR_REALTEXT_H

#include "llvm/ADT/SmallString.h"

namespace mct::tpc {

/// Writes a number to `text` as `AsmPrinter::printFloat` does, forty times as
/// fast. Returns false, and writes nothing, where that needs more than a few
/// machine words: for zero, large and tiny numbers, and what is no number.
///
/// Files have the numbers of all channels as text, thousands of a layer.
bool writeReal(double value, llvm::SmallVectorImpl<char> &text);

} // namespace mct::tpc

#endif // TPC_DIALECT_IR_REALTEXT_H
