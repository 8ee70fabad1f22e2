// RUN: mct-opt %s --split-input-file --verify-diagnostics

tpc.device @costs {
  // expected-note @below {{the first one is here}}
  tpc.staged_arguments burst 16 smallest 1024 memory 4096
  // expected-error @below {{stands in a device more than once}}
  tpc.staged_arguments burst 32 smallest 1024 memory 4096
}

// -----

tpc.device @everything {
  // expected-error @below {{refuses all ops; name some, or give a filter}}
  tpc.refuse reason("is an op") remedy("write none")
}

// -----

tpc.device @free {
  // expected-error @below {{has a cost of 0.000000e+00, which is not positive}}
  tpc.repeated_layers result 1.0 product 0.0 weight 1.0 sum 1.0
}

// -----

tpc.device @empty_bursts {
  // expected-error @below {{has a burst of 0 bytes, a smallest copy of 16 and a memory of 4096; all are positive}}
  tpc.staged_arguments burst 0 smallest 16 memory 4096
}

// -----

tpc.device @no_time {
  // expected-error @below {{has a cost of -1.000000e+00, which is not positive}}
  tpc.compressed_weights byte -1.0
}

// -----

tpc.device @unknown_order {
  // expected-error @below {{attribute 'order' failed to satisfy constraint: order of weights, ethos-u55 or ethos-u85}}
  tpc.compressed_weights byte 1.0 order "ethos-u65"
}

// -----

tpc.device @no_memory {
  // expected-error @below {{has a burst of 16 bytes, a smallest copy of 16 and a memory of 0; all are positive}}
  tpc.staged_arguments burst 16 smallest 16 memory 0
}

// -----

tpc.device @no_channels {
  // expected-error @below {{has 1 to 0 channels and a smallest image of 1 bytes; all are positive, in this order}}
  tpc.strided_layers channels 0
}

// -----

tpc.device @channels_in_another_order {
  // expected-error @below {{has 32 to 16 channels and a smallest image of 1 bytes}}
  tpc.strided_layers channels 16 fewest 32
}

// -----

tpc.device @no_smallest_image {
  // expected-error @below {{has 1 to 16 channels and a smallest image of 0 bytes}}
  tpc.strided_layers channels 16 smallest 0
}

// -----

tpc.device @odd_columns {
  // expected-error @below {{has columns of 5 channels and up to 64 positions; both are positive, the first one even}}
  tpc.column_sums channels 5 positions 64
}

// -----

tpc.device @no_positions {
  // expected-error @below {{has columns of 8 channels and up to 0 positions}}
  tpc.column_sums channels 8 positions 0
}

// -----

tpc.device @other {
  // expected-error @below {{is not a fact about a device}}
  %0 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
}

// -----

tpc.device @no_memory {
  // expected-error @below {{has a batch of 1 and a memory of 0 bytes; both are positive}}
  tpc.onnx_limits batch 1 bytes 0 signed [8] unsigned [8] weights [8]
}

// -----

tpc.device @no_bits {
  // expected-error @below {{has values of 0 bits; widths are positive}}
  tpc.onnx_limits batch 1 bytes 1024 signed [8] unsigned [8] weights [8, 0]
}

// -----

tpc.device @no_file {
  // expected-error @below {{names no file; give the path of a table of costs}}
  tpc.cost_table ""
}
