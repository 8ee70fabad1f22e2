// SPDX-License-Identifier: Apache-2.0
//
// A device that adds and multiplies bytes, and has no memory for its arguments.
tpc.device @toy title("the toy") integer_only {
  tpc.refuse ["tosa.matmul"] where(#tpc.predicate<"$bits" eq 16>)
    reason("multiplies matrices of 16 bits") remedy("rescale the factors to 8 bits before")
  tpc.refuse ["tosa.rescale", "tosa.table"]
    reason("looks up or scales codes") remedy("choose steps that are equal")
}
