// SPDX-License-Identifier: Apache-2.0
#include "mct/Calibration/ChannelValues.h"
#include <cmath>

llvm::Expected<llvm::SmallVector<double>>
mct::calibration::parseChannelValues(llvm::StringRef text,
                                     llvm::StringRef option) {
  llvm::SmallVector<double> values;
  if (text.empty())
    return values;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ';');
  for (llvm::StringRef part : parts)
    if (part.trim().getAsDouble(values.emplace_back()) ||
        !std::isfinite(values.back()))
      return llvm::createStringError(
          option +
          ": expected a number, or numbers separated by ';', but got '" + text +
          "'");
  return values;
}
