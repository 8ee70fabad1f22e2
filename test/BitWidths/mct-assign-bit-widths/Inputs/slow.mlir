// Computes for a million cycles for each result.
tpc.device @slow {
  tpc.repeated_layers result 1000000.0 product 1.0 weight 1.0 sum 1.0
  tpc.compressed_weights byte 1.0
}
