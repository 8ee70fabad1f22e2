// SPDX-License-Identifier: Apache-2.0
//
// Costs of the alternatives of a function's operators, and the resources that
// they use.
#ifndef MCT_LIB_BITWIDTHS_BITWIDTHMODEL_H
#define MCT_LIB_BITWIDTHS_BITWIDTHMODEL_H

#include "Budget.h"
#include "Sensitivities.h"
#include "mct/Quantization/Allocation.h"

namespace mct::bit_widths {

/// Returns the width of a point in an alternative of its operator, in bits; 32
/// if the alternative leaves it in float.
int64_t getBitsIn(tpc::QuantizeOp point, int64_t alternative);

class BitWidthModel {
public:
  /// `allowed` has for each operator the alternatives that it may take, at
  /// least one, ascending. `choices` must outlive the model.
  BitWidthModel(mlir::func::FuncOp function, const KernelOps &kernels,
                llvm::ArrayRef<OperatorPoints> choices,
                std::vector<std::vector<unsigned>> allowed,
                llvm::ArrayRef<std::vector<double>> sensitivities);

  /// Returns the resources that operators use with these alternatives.
  ResourceUse getUse(llvm::ArrayRef<unsigned> alternatives) const;
  /// Returns the use with 8 bits everywhere.
  ResourceUse getUseAt8Bits() const;

  /// Sets the compressed bits of each operator in each of its alternatives, and
  /// those of all other weights.
  void setCompressed(std::vector<std::vector<int64_t>> bits, int64_t others) {
    compressed = std::move(bits);
    otherCompressed = others;
  }

  /// Sets the cycles of each operator in each of its alternatives, and those of
  /// everything else.
  void setCycles(std::vector<std::vector<int64_t>> ofOperators,
                 int64_t others) {
    cycles = std::move(ofOperators);
    otherCycles = others;
  }
  /// Returns the fewest cycles of any allowed alternatives.
  int64_t getLeastCycles() const;

  /// Returns the problem whose choices are the indices of allowed alternatives.
  /// It has a resource for each limit, and for each cut that a limit applies
  /// to.
  quantization::AllocationProblem createProblem(const Budget &budget) const;
  /// Returns the problem with the weights as its only resource.
  quantization::AllocationProblem createWeightProblem() const;
  /// Returns the problem whose only resource has these amounts of each operator
  /// in each of its alternatives.
  quantization::AllocationProblem
  createProblem(llvm::ArrayRef<std::vector<int64_t>> amounts) const;
  std::vector<unsigned> toAlternatives(llvm::ArrayRef<unsigned> choices) const;
  unsigned toAlternative(size_t group, size_t choice) const {
    return allowed[group][choice];
  }

private:
  quantization::AllocatedResource createWeights() const;
  quantization::AllocatedResource createBops() const;
  quantization::AllocatedResource createCompressed() const;
  quantization::AllocatedResource createCycles() const;
  quantization::AllocatedResource
  createCut(const ResourceModel::Step &step) const;
  quantization::AllocatedResource createResource(std::string name) const;
  /// `given` has the amounts of each operator in each of its alternatives.
  quantization::AllocatedResource
  createResource(llvm::ArrayRef<std::vector<int64_t>> given) const;
  void add(quantization::AllocatedResource &resource, tpc::QuantizeOp point,
           int64_t elements) const;
  /// Returns the group that determines the width of a point, or none.
  std::optional<size_t> findGroup(tpc::QuantizeOp point) const;

  ResourceModel model;
  llvm::ArrayRef<OperatorPoints> choices;
  std::vector<std::vector<unsigned>> allowed;
  llvm::ArrayRef<std::vector<double>> sensitivities;
  std::vector<std::vector<int64_t>> compressed;
  int64_t otherCompressed = 0;
  std::vector<std::vector<int64_t>> cycles;
  int64_t otherCycles = 0;
  llvm::DenseMap<mlir::Operation *, size_t> groups;
};

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_BITWIDTHMODEL_H
