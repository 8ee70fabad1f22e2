// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_CALIBRATION_PASSES_TD
#define MCT_CALIBRATION_PASSES_TD

include "mct/Support/Options.td"

/// Options for sources of statistics other than samples, and for their destination.
defvar Mct_StatisticsOptions = [
  ListOption<"statisticsIn", "statistics-in", "std::string", "Take the statistics from these files, merged; samples "
                                                             "are only used for points that no file has">,
  Option<"statisticsOut", "statistics-out", "std::string", /*default=*/"", "Write the statistics to this file">,
];

def CalibratePass : Pass<"mct-calibrate", "::mlir::ModuleOp"> {
  let summary = "Run the network on samples and record the values of every activation point";
  let description = [{
    Compiles the function, runs it in float on the samples (points are the identity, with or without parameters) and
    records the `statistics` of every activation point. Statistics of the same samples are the same bytes for any number
    of threads, any batch size and any order or split of the samples: counts and sums are exact. In a pipeline, a network
    that an earlier pass has calibrated on the same samples is not run again.

    `calibration-data`: `.npy` files whose first axis is the sample; u8, i8, f16 or f32. Several files are concatenated.
    A network with several inputs takes `name:file`, where the name is that of the argument, or its index. The network
    reads value * scale + offset; one number, or one per channel separated by `;`. If the arguments do not share a
    leading size, there is no batch, and a sample is a whole argument: the file of a tensor<4x1x64xf32> has the shape
    4Nx1x64 or Nx4x1x64.

    `statistics-in`: files written by `statistics-out`, merged exactly, so that shards may be calibrated separately: the
    statistics of all shards are those of all samples, byte for byte. The statistics of a point come either from files
    or from samples; they are never added, because the samples may be those of the files, given for passes that correct
    the quantized network (`mct-ptq`). Samples are run for points that no file has, with a warning; without samples such
    a point is an error. Statistics belong to the network that the points are in: if earlier passes changed the network
    by the samples (equalized channels, corrected deviations), every shard has another network.

    A function that has only weight points needs no samples: a remark says that its activations stay float. Fails for a
    function without any points (run `mct-insert-quantizers` before), and if `statistics-out` is a file that is read.

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
           "Also record mean, mean square, minimum and maximum of each channel (index of the last axis of one sample)">,
    Option<"maxSamples", "max-samples", "uint64_t", /*default=*/"0",
           "Run on about this many samples, chosen by their values; 0: on all">,
    Option<"onlyMissing", "only-missing", "bool", /*default=*/"false",
           "Keep the statistics of points that have some; run nothing if all have">,
  ];
}

def MergeShardsPass : Pass<"mct-merge-shards", "::mlir::ModuleOp"> {
  let summary = "Merge the files of several shards of the samples";
  let description = [{
    Reads files that `shards-out` of other passes wrote, adds up their answers to the same question, exactly, and writes
    one file in their place, with which the passes have the same results. If there are many shards, some may be merged
    on one machine and the resulting files on another one. The module stays as it is.

    Fails if a shard is in two of the files, and if samples were divided in two ways.

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
