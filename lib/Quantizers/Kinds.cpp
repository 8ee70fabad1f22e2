// SPDX-License-Identifier: Apache-2.0
#include "mct/Quantizers/Kinds.h"

#include "llvm/ADT/StringSwitch.h"

#include "mct/Quantizers/Kinds.cpp.inc"
