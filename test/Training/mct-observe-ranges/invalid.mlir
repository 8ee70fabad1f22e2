// RUN: not mct-opt %s --mct-observe-ranges="calibration-data=a.npy function=nothing" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not mct-opt %s --mct-observe-ranges="calibration-data=a.npy batch=0" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not mct-opt %s --mct-observe-ranges -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAMPLES
// RUN: not mct-opt %s --mct-observe-ranges="calibration-data=%t.none.npy" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not mct-opt %s --mct-observe-ranges="calibration-data=%S/Inputs/two_batches.npy max-memory=10" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not mct-opt %s --mct-observe-ranges="calibration-data=%S/Inputs/nan.npy" -o /dev/null 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not mct-opt %s --mct-observe-ranges="calibration-data=%S/Inputs/none.npy" -o /dev/null 2>&1 | FileCheck %s --check-prefix=EMPTY

// NOTHING: error: 'func.func' op has no point with a range that follows its values; mct-quantize-apply inserts such points
// BATCH: error: 'func.func' op cannot observe ranges of batches of 0 samples; give batch=32, for example
// SAMPLES: error: 'func.func' op needs samples to observe ranges of; give calibration-data=FILE.npy
// FILE: error: observing ranges: {{.*}}none.npy
// MEMORY: error: max-memory is 10 bytes, and the process has {{[0-9]+}} before it runs the network
// VALUE: error: observing ranges: {{.*}}nan.npy': sample 0: expected finite values, found nan at element 1
// EMPTY: error: observing ranges: {{.*}}none.npy': expected at least one sample, found none
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tpc.quantize %x as "x" activation trainable(#tpc.observed_range<observer = all_values, bits = 8>) : tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

func.func @nothing(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.symmetric<threshold = [8.0], bits = 8>) trainable(#tpc.learned_threshold<bits = 8>) : tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
