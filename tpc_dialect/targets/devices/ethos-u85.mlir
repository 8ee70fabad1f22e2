// SPDX-License-Identifier: Apache-2.0
//
// Arm Ethos-U85, as Arm's Vela 5.2 maps networks onto it.
tpc.device @"ethos-u85" configurations ["ethos-u85-256"] integer_only {
  // In cycles; fitted as those of Ethos-U55.
  tpc.repeated_layers result 0.9 product 0.019230769230769232 weight 0.15 sum 3.0
  tpc.compressed_weights byte 0.3 order "ethos-u85"
  // Arguments lie in DRAM, from where convolutions fetch a few bytes at a time and several times over. Below 1024 bytes the
  // copy costs more than it saves: 64 bytes take 800 cycles longer in Vela's model, 3072 take 1700 less.
  // Where results do not fit into the 384 KiB of Vela's memory mode, writing them to DRAM takes as long as before, and the
  // copy comes on top.
  tpc.staged_arguments burst 16 smallest 1024 memory 393216
  // Of the same blocks as on Ethos-U55: those of up to 32 channels take from 0.1 % more to 12 % fewer cycles, with 64 up to 2 % more.
  tpc.strided_layers channels 32
  // Of the same means as on Ethos-U55: 128 to 1280 channels take 12 to 37 % fewer cycles, 40 channels from 1 % more to 16 % fewer, and fewer
  // channels up to 42 % more.
  tpc.column_sums channels 16 positions 64
}
