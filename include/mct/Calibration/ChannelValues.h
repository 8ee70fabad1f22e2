// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_CALIBRATION_CHANNELVALUES_H
#define MCT_CALIBRATION_CHANNELVALUES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mct::calibration {

/// Numbers as options spell them: `0.5`, or `0.5;0.25;1` for one per channel.
/// Empty text gives none. Fails for anything that is not a finite number;
/// `option` is named in the message.
llvm::Expected<llvm::SmallVector<double>>
parseChannelValues(llvm::StringRef text, llvm::StringRef option);

} // namespace mct::calibration

#endif // MCT_CALIBRATION_CHANNELVALUES_H
