// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_EXECUTION_SAMPLESOURCE_H
#define MCT_EXECUTION_SAMPLESOURCE_H

#include "mct/Execution/Executor.h"
#include "mct/IR/QuantizedValues.h"
#include "mct/Support/Npy.h"

#include <deque>
#include <optional>

namespace mct::execution {

/// Sources of the values of the network inputs.
struct SampleOptions {
  /// Files, each given as `PATH`, or `NAME:PATH` with an argument's name or
  /// number. Files of the same input are concatenated.
  llvm::SmallVector<std::string> files;
  /// Tensors, each with an argument's name (or none, for the only argument),
  /// appended to the files of the same input.
  struct Tensor {
    std::string input;
    std::shared_ptr<const support::StoredTensor> tensor;
  };
  std::vector<Tensor> tensors;
  /// Network input = value * scale + offset: one value for all, or one per
  /// channel (last axis). Empty: the values recorded in the module for the
  /// input, or 1 and 0. Applies to f32 inputs; an input of another type takes
  /// the values as they are stored.
  llvm::SmallVector<double> scale, offset;
  /// Preprocessing by index of the input, in place of the one recorded in the
  /// module. May be empty.
  Preprocessings preprocessing;
  /// Records by index of the input: samples of an input with a record are read
  /// as f32 and converted to its integers on its grid. May be empty.
  QuantizedValues quantized;
  /// Records by index of the input: if a file has the signed type that stores
  /// the integers of a record (i8 up to 8 bits, i16 up to 16, i32), it holds
  /// such integers, which are converted to the real values they stand for,
  /// without preprocessing, unless there is a `scale` or `offset`.
  QuantizedValues codes;
  /// Largest number of samples that are used; negative for all.
  int64_t limit = -1;

  /// Parses the options as users write them: `scale` and `offset` are `0.5`, or
  /// `0.5;0.25;1` for one number per channel; 0 in `limit` means all samples.
  /// Fails for anything but finite numbers, naming the option.
  static llvm::Expected<SampleOptions> parse(llvm::ArrayRef<std::string> files,
                                             llvm::StringRef scale,
                                             llvm::StringRef offset,
                                             uint64_t limit);

  /// Returns the paths that `files` may mean: only the network determines
  /// whether NAME is that of an input or part of the path.
  static std::vector<std::string> getPaths(llvm::ArrayRef<std::string> files);
};

class RunCache;

/// Provides samples in the form in which a network reads them. Thread safe.
class SampleSource {
public:
  virtual ~SampleSource();

  /// Opens samples in `.npy` files and other stored tensors. `unit` is the
  /// number of samples that one tensor of the types in `inputs` holds. The
  /// leading dimension divided by the unit is the size of a sample: one row of
  /// a batch. A function whose arguments do not share a batch has the unit 1; a
  /// sample then has all rows that one call reads, possibly a different number
  /// for each argument. A file for tensor<4x1x64xf32>, for example a recurrent
  /// state, then has the shape 4Nx1x64 or Nx4x1x64. A scalar is read from a
  /// file of shape N.
  ///
  /// `cache` holds files that are open already; it may be null.
  ///
  /// Errors name the file, the expected and the actual contents.
  static llvm::Expected<std::unique_ptr<SampleSource>>
  open(const SampleOptions &options, llvm::ArrayRef<TensorSpec> inputs,
       int64_t unit, RunCache *cache = nullptr);

  /// Returns the number of samples to read: all, or `SampleOptions::limit`.
  virtual int64_t numSamples() const = 0;
  /// Returns the number of available samples.
  virtual int64_t numAvailable() const = 0;
  virtual size_t numInputs() const = 0;
  /// Returns the size in bytes of one sample of one input.
  virtual size_t sampleBytes(size_t input) const = 0;

  /// Writes samples [first, first + count) of one input to `buffer`. Fails for
  /// a value that is NaN or infinite, naming file, sample and value.
  virtual llvm::Error load(size_t input, int64_t first, int64_t count,
                           void *buffer) const = 0;
};

/// Returns a digest of the values of all samples, as the network reads them, in
/// 32 hexadecimal digits. It is a sum of hashes of the samples, so that neither
/// their order nor their division into files matters. It is not cryptographic.
llvm::Expected<std::string> digestSamples(const SampleSource &samples);
/// Adds the digest of other samples to `digest`; an empty digest is that of no
/// samples. Fails if a text is not a digest.
llvm::Error addDigest(std::string &digest, llvm::StringRef other);

/// Order of chosen samples: that of the source, or an order that, like the
/// choice, depends on their values alone, so that rounded sums do not depend on
/// the division of the samples into files.
enum class SampleOrder { AsTheyAre, ByValue };

/// Returns `count` of the samples, or a few more if the choice would separate
/// equal ones. They are chosen by their values and not by their order,
/// practically at random. 0 < `count` <= number of samples.
llvm::Expected<std::shared_ptr<const SampleSource>>
thinSamples(std::shared_ptr<const SampleSource> samples, int64_t count,
            SampleOrder order = SampleOrder::AsTheyAre);

/// A part of the samples, chosen by their values: corrections are fitted to one
/// half and judged on the other.
enum class SampleHalf { All, First, Second };

/// Returns that half, or all samples if one half would be empty.
llvm::Expected<std::shared_ptr<const SampleSource>>
takeHalf(std::shared_ptr<const SampleSource> samples, SampleHalf half);

} // namespace mct::execution

#endif // MCT_EXECUTION_SAMPLESOURCE_H
