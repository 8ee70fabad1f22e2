// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TRANSFORMS_CONSTANTS_H
#define MCT_TRANSFORMS_CONSTANTS_H

#include "mct/Analysis/Constants.h"

#endif // MCT_TRANSFORMS_CONSTANTS_H
