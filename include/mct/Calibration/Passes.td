// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_CALIBRATION_PASSES_TD
#define MCT_CALIBRATION_PASSES_TD

include "mct/Support/Options.td"

/// Options that tell where statistics come from besides samples, and where they go.
defvar Mct_StatisticsOptions = [
  ListOption<"statisticsIn", "statistics-in", "std::string", "Take the statistics from these files, merged; samples only serve points that no file knows">,
  Option<"statisticsOut", "statistics-out", "std::string", /*default=*/"", "Write the statistics to this file">,
];

def CalibratePass : Pass<"mct-calibrate", "::mlir::ModuleOp"> {
  let summary = "Run the network on samples and record what every activation point saw";
  let description = [{
    Compiles the function, runs it in float on the samples (points are the identity, with or without parameters) and
    writes the `statistics` of every activation point. Statistics of the same samples are the same bytes for any number
    of threads, any batch size and any order or split of the samples: counts and sums are exact.

    `calibration-data`: `.npy` files whose first axis is the sample; u8, i8, f16 or f32. Several files follow each other.
    A network with several inputs takes `name:file`, where the name is that of the argument, or its index. The network
    reads value * scale + offset; one number, or one per channel separated by `;`. Where arguments have leading sizes
    of their own, so that there is no batch, a sample is a whole argument: the file of a tensor<4x1x64xf32> has the shape
    4Nx1x64 or Nx4x1x64.

    `statistics-in`: files written by `statistics-out`, merged exactly, so that shards may be calibrated apart: the
    statistics of all shards are those of all samples, byte for byte. The statistics of a point come either from files or from samples; nothing is added from samples, which may be those of the files, given for passes that correct what is quantized
    (`mct-ptq`). Samples are run for points that no file knows, with a warning; without samples such a point is an error.
    Statistics belong to the network that the points are in: what is changed by the samples before (channels made equal,
    deviations corrected) is another network with every shard.

    A function whose points are all of weights needs no samples: a remark says that its activations stay float. Fails
    for a function without any points (run `mct-insert-quantizers` before), and when `statistics-out` is a file that is
    read.

    Source: MCT `statistics_collector`, whose bins depend on the batches.

    Before:
    ```mlir
    %1 = tpc.quantize %0 as "exp" activation config(#act8) : tensor<1x4xf32>
    ```

    After:
    ```mlir
    %1 = tpc.quantize %0 as "exp" activation config(#act8)
           statistics(#tpc.statistics<count = 8, zeros = 0, min = 1.0, max = 2.0, histogram = …>) : tensor<1x4xf32>
    ```
  }];
  let options = Mct_SampleOptions # Mct_StatisticsOptions # [
    Option<"channelStatistics", "channel-statistics", "bool", /*default=*/"false",
           "Also record mean, mean square, minimum and maximum of each channel, an element of the last axis of one sample">,
    Option<"onlyMissing", "only-missing", "bool", /*default=*/"false",
           "Leave points alone that have statistics; run nothing where all have">,
  ];
}

def MergeShardsPass : Pass<"mct-merge-shards", "::mlir::ModuleOp"> {
  let summary = "Make one file of what several shards of the samples say";
  let description = [{
    Reads files that `shards-out` of other passes has written, adds up what they say of the same question, exactly, and
    writes one file in their place: the passes make the same of it. Some of many shards are merged on one machine and
    their files on another one, and so on. The module stays as it is.

    Fails where a shard is in two of the files, and where samples were divided in two ways.

    Before:
    ```mlir
    module {
    }
    ```

    After:
    ```mlir
    module {
    }
    ```
  }];
  let options = [
    ListOption<"shardsIn", "shards-in", "std::string", "The files to merge">,
    Option<"shardsOut", "shards-out", "std::string", /*default=*/"", "The file to write">,
  ];
}

#endif // MCT_CALIBRATION_PASSES_TD
