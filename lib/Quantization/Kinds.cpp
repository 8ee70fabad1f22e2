// SPDX-License-Identifier: Apache-2.0
#include "mct/Quantization/Kinds.h"

#include "llvm/ADT/StringSwitch.h"

#include "mct/Quantization/Kinds.cpp.inc"
