// SPDX-License-Identifier: Apache-2.0
//
// The integer profile of TOSA.
tpc.device @pro_int integer_only {
}
