// SPDX-License-Identifier: Apache-2.0
//
// Symbolic arithmetic for findFormulas.
//
// Starting from a value x, every op is evaluated symbolically: its result is a
// polynomial, a sum of products of powers of atoms. Atoms are x, means over
// some of its axes, functions of polynomials, and polynomials of several terms
// as a whole where they are bases of roots. Equal values get one number, so
// that the variance is the same whether it was written as E[(x - E[x])^2] or as
// E[x^2] - E[x]^2.
#ifndef TPC_DIALECT_LOOKUP_POLYNOMIALS_H
#define TPC_DIALECT_LOOKUP_POLYNOMIALS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mct::tpc {

/// A product of constants and powers of atoms.
struct Term {
  double coefficient = 1;
  /// Constants with more than one value, in the order of their addresses.
  llvm::SmallVector<const void *, 2> constants;
  /// Atoms and their exponents, in the order of the atoms.
  llvm::SmallVector<std::pair<unsigned, double>, 3> powers;

  bool isScalar() const { return constants.empty() && powers.empty(); }
  bool hasFactorsOf(const Term &other) const {
    return constants == other.constants && powers == other.powers;
  }
  double getExponent(unsigned atom) const {
    for (auto [number, exponent] : powers)
      if (number == atom)
        return exponent;
    return 0;
  }
};

/// A sum of products.
struct Polynomial {
  llvm::SmallVector<Term, 2> terms;
  /// Number of elements of x that were reduced into each element.
  int64_t count = 1;

  bool isConstant() const {
    return llvm::all_of(terms,
                        [](const Term &term) { return term.powers.empty(); });
  }
};

/// A value that is not expanded further.
struct Atom {
  enum Kind { Input, Mean, Base, Function, Largest, Predicate };
  Kind kind;
  /// Name of a function, or the axes of a mean or a maximum, one digit each.
  std::string name;
  /// Operand of the mean, base of the power, or argument of the function.
  Polynomial argument;
  /// Number of elements of x that share one element.
  int64_t count;
};

/// Multiplies by a power of an atom.
void addPower(Term &term, unsigned atom, double exponent);

/// The atoms of one x, which is atom 0, and the operations on polynomials of
/// them. An operation returns none if its result is not a polynomial of at most
/// `kMaxTerms` terms.
class Polynomials {
public:
  using Result = std::optional<Polynomial>;

  Polynomials() { getAtom(Atom::Input, "", {}, 1); }

  const Atom &operator[](unsigned atom) const { return atoms[atom]; }
  /// Returns the index of an atom; equal atoms have the same index.
  unsigned getAtom(Atom::Kind kind, llvm::StringRef name,
                   const Polynomial &argument, int64_t count);
  static Polynomial atomPower(unsigned atom, double exponent, int64_t count);

  static Result sum(const Polynomial &lhs, const Polynomial &rhs,
                    double factor);
  Result product(const Polynomial &lhs, const Polynomial &rhs);
  Result power(const Polynomial &base, double exponent);
  /// Returns the sum over `size` elements along these axes.
  Result reduced(const Polynomial &polynomial, int64_t size,
                 llvm::StringRef axes);
  Result function(llvm::StringRef name, const Polynomial &argument);

private:
  int64_t countTerms(const Polynomial &polynomial) const;

  std::vector<Atom> atoms;
  llvm::StringMap<unsigned> atomOf;
};

} // namespace mct::tpc

#endif // TPC_DIALECT_LOOKUP_POLYNOMIALS_H
