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
  /// Files, each as `PATH`, or `NAME:PATH` with an argument's name or number.
  /// Files of the same input are concatenated.
  llvm::SmallVector<std::string> files;
  /// Tensors, with an argument's name (or none, for the only one), behind the
  /// files of the same input.
  struct Tensor {
    std::string input;
    std::shared_ptr<const support::StoredTensor> tensor;
  };
  std::vector<Tensor> tensors;
  /// Network input = value * scale + offset: one value for all, or one per
  /// channel (last axis). Empty: what the module has recorded for the input,
  /// or 1 and 0. Applies to the f32 inputs; an input of another type takes the
  /// values as they are stored.
  llvm::SmallVector<double> scale, offset;
  /// Preprocessing by index of the input, in place of the one that the module
  /// has recorded. May be empty.
  Preprocessings preprocessing;
  /// Records by index of the input: one with a record reads samples as if it
  /// were of f32, and gets them on its grid, in its integers. May be empty.
  QuantizedValues quantized;
  /// Records by index of the input: a file of the signed type that stores a
  /// record's integers (i8 up to 8 bits, i16 up to 16, i32) holds those, and is
  /// read as what they stand for, without preprocessing, unless there is a
  /// `scale` or `offset`.
  QuantizedValues codes;
  /// Largest number of samples that are used; negative: all.
  int64_t limit = -1;

  /// Reads what users write: `scale` and `offset` are `0.5`, or `0.5;0.25;1`
  /// for one number per channel; no samples in `limit` means all. Fails for
  /// anything but finite numbers, naming the option.
  static llvm::Expected<SampleOptions> parse(llvm::ArrayRef<std::string> files,
                                             llvm::StringRef scale,
                                             llvm::StringRef offset,
                                             uint64_t limit);

  /// Returns the paths that `files` may mean: only the network tells whether
  /// NAME is that of an input or part of the path.
  static std::vector<std::string> getPaths(llvm::ArrayRef<std::string> files);
};

class RunCache;

/// Provides samples as a network reads them. Thread safe.
class SampleSource {
public:
  virtual ~SampleSource();

  /// Opens samples in `.npy` files and other stored tensors.
  /// `unit`: samples that one tensor of the types in `inputs` holds. A sample
  /// is what the leading dimension holds divided by the unit: one row of a
  /// batch; for a function whose arguments do not share a batch, of unit 1, all
  /// rows that one call reads, which may be another number for each argument.
  /// For a tensor<4x1x64xf32>, a recurrent state say, a file then has the shape
  /// 4Nx1x64 or Nx4x1x64. A scalar is read from a file of shape N.
  ///
  /// `cache`, which may be null, has files that are open already.
  ///
  /// Errors name the file, what was expected and what was found.
  static llvm::Expected<std::unique_ptr<SampleSource>>
  open(const SampleOptions &options, llvm::ArrayRef<TensorSpec> inputs,
       int64_t unit, RunCache *cache = nullptr);

  /// Returns the number of samples to read: of all, or `SampleOptions::limit`.
  virtual int64_t numSamples() const = 0;
  /// Returns the number of samples that there are.
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
/// 32 hexadecimal digits. It is a sum of hashes of the samples, so that their
/// order, and how they lie in files, do not matter. It is not cryptographic.
llvm::Expected<std::string> digestSamples(const SampleSource &samples);
/// Makes the digest of some samples that of others as well; empty: of none.
/// Fails for what is not a digest.
llvm::Error addDigest(std::string &digest, llvm::StringRef other);

/// Order of chosen samples: that of the source, or one that, like the choice,
/// depends on their values alone, so that rounded sums are the same however the
/// samples lie in files.
enum class SampleOrder { AsTheyAre, ByValue };

/// Returns `count` of the samples, and a few more where equal ones are at
/// stake. They are chosen by their values and not by their order, as good as at
/// random. 0 < `count` <= number of samples.
llvm::Expected<std::shared_ptr<const SampleSource>>
thinSamples(std::shared_ptr<const SampleSource> samples, int64_t count,
            SampleOrder order = SampleOrder::AsTheyAre);

/// A part of the samples, chosen by their values: something is fitted to one
/// half and judged on the other.
enum class SampleHalf { All, First, Second };

/// Returns that half, or all samples where one half would be empty.
llvm::Expected<std::shared_ptr<const SampleSource>>
takeHalf(std::shared_ptr<const SampleSource> samples, SampleHalf half);

} // namespace mct::execution

#endif // MCT_EXECUTION_SAMPLESOURCE_H
