// SPDX-License-Identifier: Apache-2.0
//
// Arm Ethos-U55, as Arm's Vela 5.2 maps networks onto it: the forms that it refuses were found by trying.
tpc.device @"ethos-u55" configurations ["ethos-u55-256"] integer_only {
  tpc.refuse where(#tpc.predicate<"$conditions" gt 0>)
    reason("computes with conditions") remedy("write a maximum, a minimum, a clamp or a table instead")
  tpc.refuse ["tosa.intdiv"]
    reason("divides integers") remedy("multiply by a reciprocal, as softmax=integer does")
  tpc.refuse ["tosa.bitwise_and", "tosa.bitwise_or", "tosa.bitwise_xor", "tosa.bitwise_not", "tosa.logical_right_shift"]
    reason("computes with bits") remedy("round halves up, which a rescale alone does")
  tpc.refuse ["tosa.logical_left_shift"] where(#tpc.predicate<"$bits" ne 32>)
    reason("shifts values of less than 32 bits") remedy("cast them to i32 before")
  tpc.refuse ["tosa.reduce_max", "tosa.reduce_min"] where(#tpc.predicate<"$bits" eq 32>)
    reason("reduces values of 32 bits to their maximum or minimum") remedy("move it before the rescale, to 8 bits")
  tpc.refuse ["tosa.gather", "tosa.scatter"]
    reason("reads or writes by index") remedy("split the network before it")
  tpc.refuse ["tosa.argmax"] where(#tpc.predicate<"$bits" eq 16>)
    reason("looks for a maximum among values of 16 bits") remedy("rescale them to 8 bits before")
  tpc.refuse ["tosa.matmul"] where(#tpc.predicate<"$bits" eq 16>)
    reason("multiplies matrices of 16 bits") remedy("rescale the factors to 8 bits before")
  tpc.refuse ["tosa.conv2d", "tosa.conv3d", "tosa.depthwise_conv2d", "tosa.transpose_conv2d"]
    where(#tpc.predicate<"$argument_kernel" eq 1>)
    reason("reads weights that are not constant") remedy("write them into a tosa.const")
  tpc.refuse ["tosa.resize"] where(#tpc.predicate<mode eq #tosa.resize_mode<BILINEAR>>)
    reason("interpolates") remedy("resize by nearest neighbours")
  tpc.refuse ["tosa.resize"] where(#tpc.predicate<"$centred_enlargement" eq 0>)
    reason("resizes otherwise than by a power of two between centres")
    remedy("write scale [2n, 2, 2n, 2], offset [1 - n, 1 - n] and border [n - 1, n - 1] for n = 2, 4, 8")
  // In cycles. Fitted to what Vela 5.2.0 says of convolutions with 9 to 2304 products for each of 10 to 65536 results, on
  // 256 MACs; where both forms are about as fast, the usual one is taken.
  tpc.repeated_layers result 0.65 product 0.004296875 weight 1.4 sum 2.0
  // Of blocks with a 3x3 convolution beside it, on images of 16 to 96 pixels a side: 12 to 20 channels take from 0.6 % more to
  // 12 % fewer cycles from 12 KiB on, and up to 4 % more below; with 8 channels it is up to 32 % more, with 64 up to 5 %.
  tpc.strided_layers channels 20 fewest 12 smallest 12288
  // Of means over images of 2 to 8 pixels a side behind a 1x1 convolution: 24 to 1280 channels take 2 to 27 % fewer cycles, 16 and 8
  // channels up to 30 % more.
  tpc.column_sums channels 8 positions 64
  // Flash hands over a byte for each cycle.
  tpc.compressed_weights byte 1.0
}
