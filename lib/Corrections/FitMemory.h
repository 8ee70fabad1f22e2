// SPDX-License-Identifier: Apache-2.0
//
// Remembers corrections that were fitted to trial networks, so that nothing is
// run again if one of the networks is kept.
#ifndef MCT_LIB_CORRECTIONS_FITMEMORY_H
#define MCT_LIB_CORRECTIONS_FITMEMORY_H

#include "SampleRun.h"

namespace mct::corrections {

/// A fitted correction of the layers of a network, with its measurements.
struct Fit {
  /// The function before and after the correction.
  mlir::OwningOpRef<mlir::func::FuncOp> before, after;
  /// Identify the method of correction, and the samples by a digest of their
  /// values.
  std::string method, samples;
  int64_t unit = 0, numSamples = 0, available = 0;
  /// Networks that own the values of the summaries.
  Layers::Networks networks;
  SampleRun::Float exact;
  std::vector<llvm::SmallVector<quantization::Affine>> changes;
  /// Results of the corrected network, and summaries of its layers.
  SampleRun::Measurement measured;
  /// Comparison of these results with those of the float network of
  /// `FitMemory::reference`; empty if there was none for these samples.
  std::optional<execution::ResultDistance::Comparison> errors;
};

/// Fits of trial networks, shared by the passes of a pipeline
/// (`execution::RunCache`).
class FitMemory {
public:
  /// Makes the memory remember fits while it lives.
  class Trial {
  public:
    /// `reference` is the fit of the network that this one is compared with;
    /// may be null.
    Trial(FitMemory &memory, std::shared_ptr<const Fit> reference)
        : memory(memory) {
      memory.isTrial = true;
      memory.reference = std::move(reference);
      memory.fitted.reset();
    }
    ~Trial() {
      memory.isTrial = false;
      memory.reference.reset();
      memory.fitted.reset();
    }
    /// Returns the last fit if it produced this function; otherwise null.
    std::shared_ptr<Fit> getFit(mlir::func::FuncOp function) const;

  private:
    FitMemory &memory;
  };

  bool remembers() const { return isTrial; }
  const Fit *getReference() const { return reference.get(); }
  void remember(std::shared_ptr<Fit> fit) { fitted = std::move(fit); }

  /// Keeps the fit (may be null) of the network that was chosen.
  void keep(std::shared_ptr<Fit> fit) { kept = std::move(fit); }
  bool isEmpty() const { return !kept; }
  /// Returns the kept fit if it belongs to this function, method and samples;
  /// otherwise null. Forgets it in any case.
  std::shared_ptr<Fit> take(mlir::func::FuncOp function, llvm::StringRef method,
                            llvm::StringRef samples);

private:
  bool isTrial = false;
  std::shared_ptr<const Fit> reference;
  std::shared_ptr<Fit> fitted, kept;
};

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_FITMEMORY_H
