// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/Lookup/Polynomials.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>
#include <tuple>

using llvm::StringRef;
using llvm::Twine;
using namespace mct::tpc;

/// A square of three terms has six.
static constexpr size_t kMaxTerms = 6;

void mct::tpc::addPower(Term &term, unsigned atom, double exponent) {
  auto *it =
      llvm::lower_bound(term.powers, atom,
                        [](const std::pair<unsigned, double> &power,
                           unsigned atom) { return power.first < atom; });
  if (it == term.powers.end() || it->first != atom)
    term.powers.insert(it, {atom, exponent});
  else if ((it->second += exponent) == 0)
    term.powers.erase(it);
}

static std::string describe(const Polynomial &polynomial) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const Term &term : polynomial.terms) {
    stream << llvm::format("%+.5g", term.coefficient);
    for (const void *constant : term.constants)
      stream << " c" << constant;
    for (auto [atom, exponent] : term.powers)
      stream << " " << atom << "^" << exponent;
  }
  return text;
}

unsigned Polynomials::getAtom(Atom::Kind kind, StringRef name,
                              const Polynomial &argument, int64_t count) {
  std::string key = (Twine(unsigned(kind)) + " " + name + " " + Twine(count) +
                     ": " + describe(argument))
                        .str();
  auto [it, isNew] = atomOf.try_emplace(key, atoms.size());
  if (isNew)
    atoms.push_back({kind, name.str(), argument, count});
  return it->second;
}

Polynomial Polynomials::atomPower(unsigned atom, double exponent,
                                  int64_t count) {
  Polynomial result;
  result.terms.push_back({1, {}, {{atom, exponent}}});
  result.count = count;
  return result;
}

/// Returns the least number of elements that share one element of an atom.
int64_t Polynomials::countTerms(const Polynomial &polynomial) const {
  int64_t count = std::numeric_limits<int64_t>::max();
  for (const Term &term : polynomial.terms)
    for (auto [atom, exponent] : term.powers)
      count = std::min(count, atoms[atom].count);
  return count;
}

/// Returns how many elements of x go into a sum or product of two: a constant
/// varies with nothing.
static int64_t countOfBoth(const Polynomial &lhs, const Polynomial &rhs) {
  if (lhs.isConstant())
    return rhs.count;
  return rhs.isConstant() ? lhs.count : std::min(lhs.count, rhs.count);
}

Polynomials::Result Polynomials::sum(const Polynomial &lhs,
                                     const Polynomial &rhs, double factor) {
  Polynomial result = lhs;
  for (Term term : rhs.terms) {
    term.coefficient *= factor;
    auto *same = llvm::find_if(result.terms, [&](const Term &other) {
      return other.hasFactorsOf(term);
    });
    if (same == result.terms.end()) {
      result.terms.push_back(std::move(term));
      continue;
    }
    double larger =
        std::max(std::abs(same->coefficient), std::abs(term.coefficient));
    same->coefficient += term.coefficient;
    if (std::abs(same->coefficient) <= 1e-6 * larger)
      result.terms.erase(same);
  }
  llvm::erase_if(result.terms,
                 [](const Term &term) { return term.coefficient == 0; });
  if (result.terms.size() > kMaxTerms)
    return std::nullopt;
  // Sort the terms, so that equal sums compare equal.
  llvm::sort(result.terms, [](const Term &lhs, const Term &rhs) {
    return std::tie(lhs.powers, lhs.constants) <
           std::tie(rhs.powers, rhs.constants);
  });
  result.count = countOfBoth(lhs, rhs);
  return result;
}

Polynomials::Result Polynomials::product(const Polynomial &lhs,
                                         const Polynomial &rhs) {
  // A root is often written as v * rsqrt(v).
  for (auto [sum, single] : {std::pair(&lhs, &rhs), std::pair(&rhs, &lhs)}) {
    if (sum->terms.size() < 2 || single->terms.size() != 1)
      continue;
    for (auto [atom, exponent] : single->terms.front().powers)
      if (atoms[atom].kind == Atom::Base &&
          describe(atoms[atom].argument) == describe(*sum)) {
        Polynomial result = *single;
        addPower(result.terms.front(), atom, 1);
        return result;
      }
  }
  Polynomial result;
  result.count = lhs.count;
  for (const Term &left : lhs.terms)
    for (const Term &right : rhs.terms) {
      Polynomial one;
      Term &term = one.terms.emplace_back(left);
      term.coefficient *= right.coefficient;
      term.constants.append(right.constants);
      llvm::sort(term.constants);
      for (auto [atom, exponent] : right.powers)
        addPower(term, atom, exponent);
      Result added = sum(result, one, 1);
      if (!added)
        return std::nullopt;
      result = std::move(*added);
    }
  result.count = countOfBoth(lhs, rhs);
  return result;
}

Polynomials::Result Polynomials::power(const Polynomial &base,
                                       double exponent) {
  if (exponent == 1)
    return base;
  if (base.terms.size() == 1) {
    Polynomial result = base;
    Term &term = result.terms.front();
    bool isWhole = exponent == std::floor(exponent);
    if (!term.constants.empty() || (term.coefficient <= 0 && !isWhole) ||
        term.coefficient == 0)
      return std::nullopt;
    term.coefficient = std::pow(term.coefficient, exponent);
    for (auto &[atom, present] : term.powers) {
      // The root of a square is not a power.
      if (!isWhole && std::fmod(present, 2) == 0)
        return std::nullopt;
      present *= exponent;
    }
    return result;
  }
  if (exponent == 2 || exponent == 3) {
    Result square = product(base, base);
    if (!square || exponent == 2)
      return square;
    return product(*square, base);
  }
  if (base.terms.empty())
    return std::nullopt;
  return atomPower(getAtom(Atom::Base, "", base, countTerms(base)), exponent,
                   base.count);
}

Polynomials::Result Polynomials::function(StringRef name,
                                          const Polynomial &argument) {
  return atomPower(
      getAtom(Atom::Function, name, argument, countTerms(argument)), 1,
      argument.count);
}

Polynomials::Result Polynomials::reduced(const Polynomial &polynomial,
                                         int64_t size, StringRef axes) {
  int64_t before = polynomial.count, after = before * size;
  Polynomial result;
  result.count = after;
  for (const Term &term : polynomial.terms) {
    if (!term.constants.empty())
      return std::nullopt;
    Term outside, inside;
    outside.coefficient = term.coefficient * double(size);
    for (auto [atom, exponent] : term.powers) {
      int64_t count = atoms[atom].count;
      addPower(count >= after && count % after == 0 ? outside : inside, atom,
               exponent);
    }
    if (!inside.powers.empty()) {
      Polynomial argument;
      std::string allAxes = axes.str();
      auto [first, exponent] = inside.powers.front();
      if (llvm::all_of(inside.powers, [&](std::pair<unsigned, double> power) {
            return before == 1 && atoms[power.first].count == 1;
          }))
        argument.terms.push_back(inside);
      else if (inside.powers.size() == 1 && exponent == 1 &&
               atoms[first].kind == Atom::Mean &&
               atoms[first].count == before) {
        argument = atoms[first].argument;
        allAxes += atoms[first].name;
        llvm::sort(allAxes);
      } else {
        return std::nullopt;
      }
      argument.count = 1;
      addPower(outside, getAtom(Atom::Mean, allAxes, argument, after), 1);
    }
    Polynomial one;
    one.terms.push_back(std::move(outside));
    Result added = sum(result, one, 1);
    if (!added)
      return std::nullopt;
    result = std::move(*added);
  }
  result.count = after;
  return result;
}
