// SPDX-License-Identifier: Apache-2.0
//
// Remembers what corrections of networks have found that were only tried, so
// that nothing is run again when one of the networks stays.
#ifndef MCT_LIB_CORRECTIONS_FITMEMORY_H
#define MCT_LIB_CORRECTIONS_FITMEMORY_H

#include "SampleRun.h"

namespace mct::corrections {

/// A correction of the layers of a network, and what it has seen.
struct Fit {
  /// The function that was corrected, and what it became.
  mlir::OwningOpRef<mlir::func::FuncOp> before, after;
  /// Names how it was corrected, and the samples by their values.
  std::string method, samples;
  int64_t unit = 0, numSamples = 0, available = 0;
  /// Holds the values that the summaries are of.
  Layers::Networks networks;
  SampleRun::Float exact;
  std::vector<llvm::SmallVector<quantization::Affine>> changes;
  /// The results of the corrected network, and its layers.
  SampleRun::Seen seen;
  /// The same results compared with those of the float network of
  /// `FitMemory::reference`; empty: there was none for these samples.
  std::optional<execution::ResultDistance::Found> errors;
};

/// The fits of networks that are tried, for the passes of a pipeline
/// (`execution::RunCache`).
class FitMemory {
public:
  /// While it lives, what is fitted is remembered.
  class Trial {
  public:
    /// `reference`: the fit of the network that this one is compared with;
    /// null: none.
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
    /// Returns the last fit if it has made this function; else null.
    std::shared_ptr<Fit> fitOf(mlir::func::FuncOp function) const;

  private:
    FitMemory &memory;
  };

  bool remembers() const { return isTrial; }
  const Fit *getReference() const { return reference.get(); }
  void remember(std::shared_ptr<Fit> fit) { fitted = std::move(fit); }

  /// Keeps the fit (null: none) of the network that stays.
  void keep(std::shared_ptr<Fit> fit) { kept = std::move(fit); }
  bool isEmpty() const { return !kept; }
  /// Returns the fit that was kept, if it is the one of this function; in any
  /// case it is forgotten.
  std::shared_ptr<Fit> take(mlir::func::FuncOp function, llvm::StringRef method,
                            llvm::StringRef samples);

private:
  bool isTrial = false;
  std::shared_ptr<const Fit> reference;
  std::shared_ptr<Fit> fitted, kept;
};

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_FITMEMORY_H
