// SPDX-License-Identifier: Apache-2.0
//
// Recognizes polynomials that are formulas.
#ifndef TPC_DIALECT_LOOKUP_FORMULAPATTERNS_H
#define TPC_DIALECT_LOOKUP_FORMULAPATTERNS_H

#include "tpc_dialect/Lookup/Polynomials.h"

namespace mct::tpc {

/// Classifies polynomials of the atoms of one x.
class FormulaPatterns {
public:
  explicit FormulaPatterns(const Polynomials &atoms) : atoms(atoms) {}

  /// Returns the formula of a polynomial that an op of this name computes,
  /// "norm" for those that differ only in shapes; empty if it is not a formula.
  llvm::StringRef classify(llvm::StringRef opName,
                           const Polynomial &polynomial) const;
  bool isSoftmax(const Term &term) const;
  /// Returns whether a polynomial is mean(x^2) - mean(x)^2, or mean(x^2), plus
  /// a number.
  bool isVariance(const Polynomial &polynomial) const;
  /// Returns whether a polynomial is a power of a maximum.
  bool isMaximum(const Polynomial &polynomial) const;

private:
  /// `square` gets the atom mean(x^2) in it.
  bool isVariance(const Polynomial &polynomial, bool isCentered,
                  unsigned *square) const;
  /// Returns whether the term is a power of one atom that divides by a
  /// deviation: a variance to the power of -1/2, or 1 / (deviation + e).
  bool isNormalizer(const Term &term, bool isCentered, unsigned *square) const;
  /// Returns whether the atom is mean(x^exponent).
  bool isMoment(unsigned atom, double exponent) const;
  bool haveSameAxes(unsigned lhs, unsigned rhs) const {
    return atoms[lhs].count == atoms[rhs].count &&
           atoms[lhs].name == atoms[rhs].name;
  }
  bool isGelu(llvm::ArrayRef<Term> terms) const;
  llvm::StringRef classifyNorm(llvm::ArrayRef<Term> terms) const;

  const Polynomials &atoms;
};

} // namespace mct::tpc

#endif // TPC_DIALECT_LOOKUP_FORMULAPATTERNS_H
