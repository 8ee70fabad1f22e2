// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_EXECUTION_SAMPLESOURCE_H
#define MCT_EXECUTION_SAMPLESOURCE_H

#include "mct/Execution/Executor.h"
#include "mct/Execution/Npy.h"
#include "mct/IR/QuantizedValues.h"

#include <deque>
#include <optional>

namespace mct::execution {

/// Where the values of the network inputs come from.
struct SampleOptions {
  /// Files, each as `PATH`, or `NAME:PATH` with an argument's name or number.
  /// Files of the same input are concatenated.
  llvm::SmallVector<std::string> files;
  /// Tensors, with an argument's name (or none, for the only one), behind the
  /// files of the same input.
  struct Tensor {
    std::string input;
    std::shared_ptr<const StoredTensor> tensor;
  };
  std::vector<Tensor> tensors;
  /// Network input = value * scale + offset: one value for all, or one per
  /// channel (last axis). Empty: what the module has recorded for the input,
  /// or 1 and 0. Applies to the f32 inputs; an input of another type takes the
  /// values as they are stored.
  llvm::SmallVector<double> scale, offset;
  /// By number of the input: takes the place of what the module has recorded.
  /// Empty: nothing does.
  Preprocessings preprocessing;
  /// By number of the input: one with a record reads samples as if it were of
  /// f32, and gets them on its grid, in its integers. Empty: no input has one.
  QuantizedValues quantized;
  /// By number of the input: a file of the signed type that stores a record's
  /// integers (i8 up to 8 bits, i16 up to 16, i32) holds those, and is read as
  /// what they stand for, without preprocessing, unless there is a `scale` or
  /// `offset`.
  QuantizedValues codes;
  /// Use at most so many samples; negative: all.
  int64_t limit = -1;

  /// Reads what users write: `scale` and `offset` are `0.5`, or `0.5;0.25;1`
  /// for one number per channel; no samples in `limit` means all. Fails for
  /// anything but finite numbers, naming the option.
  static llvm::Expected<SampleOptions> parse(llvm::ArrayRef<std::string> files,
                                             llvm::StringRef scale,
                                             llvm::StringRef offset,
                                             uint64_t limit);

  /// The paths that `files` may mean: whether NAME is one of an input or part
  /// of the path only the network tells.
  static std::vector<std::string> getPaths(llvm::ArrayRef<std::string> files);
};

class RunCache;

/// Samples as a network reads them, wherever they come from. Thread safe.
class SampleSource {
public:
  virtual ~SampleSource();

  /// Samples in `.npy` files and other stored tensors.
  /// `unit`: samples that one tensor of the types in `inputs` holds. A sample
  /// is what the leading dimension holds divided by the unit: one row of a
  /// batch; for a function whose arguments do not share a batch, of unit 1, all
  /// rows that one call reads, which may be another number for each argument.
  /// For a tensor<4x1x64xf32>, a recurrent state say, a file then has the shape
  /// 4Nx1x64 or Nx4x1x64. A scalar is read from a file of shape N.
  ///
  /// `cache` (null: none): where files are that are open already.
  ///
  /// Errors name the file, what was expected and what was found.
  static llvm::Expected<std::unique_ptr<SampleSource>>
  open(const SampleOptions &options, llvm::ArrayRef<TensorSpec> inputs,
       int64_t unit, RunCache *cache = nullptr);

  /// Samples to read: those that there are, or `SampleOptions::limit`.
  virtual int64_t numSamples() const = 0;
  /// Samples that there are.
  virtual int64_t numAvailable() const = 0;
  virtual size_t numInputs() const = 0;
  /// Bytes of one sample of one input.
  virtual size_t sampleBytes(size_t input) const = 0;

  /// Writes samples [first, first + count) of one input to `buffer`. Fails for
  /// a value that is NaN or infinite, naming file, sample and value.
  virtual llvm::Error load(size_t input, int64_t first, int64_t count,
                           void *buffer) const = 0;
};

/// Of the values of all samples, as the network reads them: 32 hexadecimal
/// digits. A sum of hashes of the samples: their order, and how they lie in
/// files, do not matter. Tells apart what is not made to deceive.
llvm::Expected<std::string> digestSamples(const SampleSource &samples);

/// In which order chosen samples come: that of the source, or one that, like
/// the choice, depends on their values alone. Sums that are rounded are the
/// same then, however the samples lie in files.
enum class SampleOrder { AsTheyAre, ByValue };

/// So many of the samples; a few more where equal ones are at stake. Which ones
/// depends on their values and not on their order: they are as good as drawn by
/// lot. 0 < `count` <= number of samples.
llvm::Expected<std::shared_ptr<const SampleSource>>
thinSamples(std::shared_ptr<const SampleSource> samples, int64_t count,
            SampleOrder order = SampleOrder::AsTheyAre);

/// A part of the samples, chosen by their values: on one half something is
/// fitted, on the other one judged.
enum class SampleHalf { All, First, Second };

/// That half; all of them where one would be empty.
llvm::Expected<std::shared_ptr<const SampleSource>>
takeHalf(std::shared_ptr<const SampleSource> samples, SampleHalf half);

} // namespace mct::execution

#endif // MCT_EXECUTION_SAMPLESOURCE_H
