// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/Lookup/FormulaPatterns.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cmath>

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using namespace mct::tpc;

/// Importers compute constants in half precision too.
static constexpr double kTolerance = 2e-3;

static bool isNear(double value, double expected) {
  return std::abs(value - expected) <= kTolerance * std::abs(expected);
}

bool FormulaPatterns::isMoment(unsigned atom, double exponent) const {
  const Atom &mean = atoms[atom];
  return mean.kind == Atom::Mean && mean.argument.terms.size() == 1 &&
         mean.argument.terms.front().coefficient == 1 &&
         mean.argument.terms.front().powers.size() == 1 &&
         mean.argument.terms.front().powers.front() == std::pair(0u, exponent);
}

bool FormulaPatterns::isVariance(const Polynomial &polynomial, bool isCentered,
                                 unsigned *square) const {
  const Term *ofSquare = nullptr, *ofMean = nullptr;
  for (const Term &term : polynomial.terms) {
    if (term.isScalar())
      continue;
    if (!term.constants.empty() || term.powers.size() != 1)
      return false;
    auto [atom, exponent] = term.powers.front();
    if (!ofSquare && exponent == 1 && isMoment(atom, 2))
      ofSquare = &term;
    else if (isCentered && !ofMean && exponent == 2 && isMoment(atom, 1))
      ofMean = &term;
    else
      return false;
  }
  if (!ofSquare || bool(ofMean) != isCentered || ofSquare->coefficient <= 0)
    return false;
  *square = ofSquare->powers.front().first;
  // The divisor of a variance may be n - 1. Without the mean, a sum with
  // another divisor is another operator.
  if (!isCentered)
    return isNear(ofSquare->coefficient, 1);
  return isNear(-ofMean->coefficient, ofSquare->coefficient) &&
         haveSameAxes(ofMean->powers.front().first, *square);
}

bool FormulaPatterns::isVariance(const Polynomial &polynomial) const {
  unsigned square;
  return isVariance(polynomial, /*isCentered=*/true, &square) ||
         isVariance(polynomial, /*isCentered=*/false, &square);
}

bool FormulaPatterns::isMaximum(const Polynomial &polynomial) const {
  return polynomial.terms.size() == 1 &&
         polynomial.terms.front().powers.size() == 1 &&
         atoms[polynomial.terms.front().powers.front().first].kind ==
             Atom::Largest;
}

bool FormulaPatterns::isNormalizer(const Term &term, bool isCentered,
                                   unsigned *square) const {
  if (term.powers.size() != 1)
    return false;
  auto [atom, exponent] = term.powers.front();
  *square = atom;
  if (!isCentered && exponent == -0.5 && isMoment(atom, 2))
    return true;
  if (atoms[atom].kind != Atom::Base)
    return false;
  if (exponent == -0.5)
    return isVariance(atoms[atom].argument, isCentered, square);
  // 1 / (deviation + e)
  bool found = false;
  for (const Term &part : atoms[atom].argument.terms) {
    if (part.isScalar())
      continue;
    if (found || part.powers.size() != 1 || !part.constants.empty())
      return false;
    auto [inner, root] = part.powers.front();
    *square = inner;
    found = root == 0.5 &&
            ((!isCentered && isMoment(inner, 2)) ||
             (atoms[inner].kind == Atom::Base &&
              isVariance(atoms[inner].argument, isCentered, square)));
    if (!found)
      return false;
  }
  return found && exponent == -1;
}

bool FormulaPatterns::isGelu(ArrayRef<Term> terms) const {
  if (terms.size() != 2)
    return false;
  const Term *plain = &terms[0], *product = &terms[1];
  if (plain->powers.size() != 1)
    std::swap(plain, product);
  if (plain->powers.size() != 1 || plain->getExponent(0) != 1 ||
      product->powers.size() != 2 || product->getExponent(0) != 1 ||
      product->powers.back().second != 1 || !isNear(plain->coefficient, 0.5) ||
      !isNear(product->coefficient, 0.5) || !plain->constants.empty() ||
      !product->constants.empty())
    return false;
  const Atom &function = atoms[product->powers.back().first];
  if (function.kind != Atom::Function)
    return false;
  auto has = [&](double exponent, double coefficient) {
    return llvm::any_of(function.argument.terms, [&](const Term &term) {
      return term.constants.empty() && term.powers.size() == 1 &&
             term.getExponent(0) == exponent &&
             isNear(term.coefficient, coefficient);
    });
  };
  if (function.name == "erf")
    return function.argument.terms.size() == 1 && has(1, std::sqrt(0.5));
  return function.name == "tanh" && function.argument.terms.size() == 2 &&
         has(1, std::sqrt(2 / M_PI)) && has(3, 0.044715 * std::sqrt(2 / M_PI));
}

bool FormulaPatterns::isSoftmax(const Term &term) const {
  if (term.powers.size() != 2 || !term.constants.empty())
    return false;
  auto exponential = term.powers[0], mean = term.powers[1];
  if (atoms[exponential.first].kind != Atom::Function)
    std::swap(exponential, mean);
  const Atom &function = atoms[exponential.first];
  const Atom &sum = atoms[mean.first];
  if (function.kind != Atom::Function || function.name != "exp" ||
      exponential.second != 1 || sum.kind != Atom::Mean || mean.second != -1 ||
      sum.argument.terms.size() != 1 ||
      sum.argument.terms.front().powers.size() != 1 ||
      sum.argument.terms.front().powers.front() !=
          std::pair(exponential.first, 1.0) ||
      !isNear(term.coefficient, 1 / double(sum.count)))
    return false;
  // The argument is x, or x minus its maximum along the same axes.
  bool hasInput = false;
  for (const Term &part : function.argument.terms) {
    if (!part.constants.empty() || part.powers.size() != 1)
      return false;
    auto [atom, exponent] = part.powers.front();
    if (atom == 0 && exponent == 1 && isNear(part.coefficient, 1))
      hasInput = true;
    else if (atoms[atom].kind != Atom::Largest || exponent != 1 ||
             !haveSameAxes(atom, mean.first) || !isNear(part.coefficient, -1))
      return false;
  }
  return hasInput;
}

StringRef FormulaPatterns::classify(StringRef name,
                                    const Polynomial &polynomial) const {
  bool isProduct = name == "tosa.mul";
  if (!isProduct &&
      !llvm::is_contained(
          {"tosa.add", "tosa.sub", "tosa.select", "tosa.reduce_sum"}, name))
    return "";
  SmallVector<Term> terms;
  bool hasConstants = false;
  for (const Term &term : polynomial.terms) {
    if (term.powers.empty())
      hasConstants = true;
    else
      terms.push_back(term);
  }
  if (terms.size() == 1 && !hasConstants) {
    const Term &term = terms.front();
    if (isSoftmax(term))
      return "softmax";
    if ((isProduct || name == "tosa.reduce_sum") && term.powers.size() == 1 &&
        term.powers.front().second == 1 && term.constants.empty() &&
        isNear(term.coefficient, 1) && isMoment(term.powers.front().first, 1))
      return "mean";
  }
  if (!hasConstants && isGelu(terms))
    return "gelu";
  if (name == "tosa.select" || name == "tosa.reduce_sum")
    return "";
  return classifyNorm(terms);
}

/// Returns the normalization in which x - mean(x), or x, is multiplied by the
/// normalizing factor; empty if there is none.
StringRef FormulaPatterns::classifyNorm(ArrayRef<Term> terms) const {
  if (terms.empty() || terms.size() > 2)
    return "";
  const Term *plain = &terms.front(), *mean = nullptr;
  if (terms.size() == 2) {
    mean = &terms.back();
    if (plain->getExponent(0) != 1)
      std::swap(plain, mean);
  }
  if (plain->getExponent(0) != 1)
    return "";
  unsigned square = 0;
  Term normalizer = *plain;
  addPower(normalizer, 0, -1);
  if (!isNormalizer(normalizer, bool(mean), &square))
    return "";
  if (!mean)
    return "rms_norm";
  Term other = *mean;
  for (auto [atom, exponent] : mean->powers)
    if (exponent == 1 && isMoment(atom, 1) && haveSameAxes(atom, square)) {
      addPower(other, atom, -1);
      break;
    }
  if (!other.hasFactorsOf(normalizer) ||
      !isNear(-mean->coefficient, plain->coefficient))
    return "";
  return "norm";
}
