// SPDX-License-Identifier: Apache-2.0
//
// All passes and pipelines that the Python package has functions for.
include "mct/Inspection/Passes.td"
include "mct/Conversion/Passes.td"
include "mct/Pipelines/Options.td"
include "mct/Training/Passes.td"
