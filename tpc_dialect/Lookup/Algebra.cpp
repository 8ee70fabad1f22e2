// SPDX-License-Identifier: Apache-2.0
//
// From a value x on, every op is computed symbolically: its result is a
// polynomial, a sum of products of powers of atoms. Atoms are x, means over
// some of its axes, functions of polynomials, and polynomials of several terms
// as a whole where they are bases of roots. What is equal gets one number, so
// that the variance is the same whether it was written as E[(x - E[x])^2] or as
// E[x^2] - E[x]^2.
#include "tpc_dialect/Lookup/Algebra.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>
#include <set>

using namespace mlir;
using namespace mct::tpc;

static constexpr Formula kFormulas[] = {
    {"layer_norm", "(x - mean(x)) / sqrt(variance(x) + e) * c + c"},
    {"group_norm", "layer_norm, reshape, * c + c"},
    {"instance_norm", "layer_norm over the axes of an image"},
    {"rms_norm", "x / sqrt(mean(x * x) + e) * c + c"},
    {"gelu", "x / 2 * (1 + erf(x / sqrt(2))), "
             "x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))"},
    {"softmax", "exp(x - max(x)) / sum(exp(x - max(x)))"},
    {"global_avg_pool", "mean(x) over the axes of an image"},
    {"mean", "mean(x)"},
};

ArrayRef<Formula> mct::tpc::listFormulas() { return kFormulas; }

/// Ops that are looked at from one x on: twice what the longest formula has.
static constexpr unsigned kMaxOps = 64;
/// A square of three terms has six.
static constexpr size_t kMaxTerms = 6;
/// Importers compute constants in half precision too.
static constexpr double kTolerance = 2e-3;

static bool isNear(double value, double expected) {
  return std::abs(value - expected) <= kTolerance * std::abs(expected);
}

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

namespace {

struct Term {
  double coefficient = 1;
  /// Constants with more than one value, in the order of their addresses.
  SmallVector<const void *, 2> constants;
  /// Atoms and their exponents, in the order of the atoms.
  SmallVector<std::pair<unsigned, double>, 3> powers;

  bool isScalar() const { return constants.empty() && powers.empty(); }
  bool hasFactorsOf(const Term &other) const {
    return constants == other.constants && powers == other.powers;
  }
  double exponentOf(unsigned atom) const {
    for (auto [number, exponent] : powers)
      if (number == atom)
        return exponent;
    return 0;
  }
};

struct Polynomial {
  SmallVector<Term, 2> terms;
  /// Elements of x that went into each element by reductions.
  int64_t count = 1;

  bool isConstant() const {
    return llvm::all_of(terms,
                        [](const Term &term) { return term.powers.empty(); });
  }
};

struct Atom {
  enum Kind { Input, Mean, Base, Function, Largest, Predicate };
  Kind kind;
  /// Of a function; the axes of a mean or a maximum, a digit each.
  std::string name;
  /// What the mean is of, the base, or the argument.
  Polynomial argument;
  /// Elements of x that share one element.
  int64_t count;
};

/// What a value x becomes.
class Algebra {
public:
  explicit Algebra(Value input) : input(input), block(input.getParentBlock()) {
    getAtom(Atom::Input, "", {}, 1);
    Polynomial x;
    x.terms.push_back({1, {}, {{0, 1.0}}});
    known[input] = x;
  }

  /// Computes what follows from x, and calls `found` for every formula. Returns
  /// how many ops it computed with.
  unsigned run(llvm::function_ref<void(FormulaMatch)> found);

private:
  unsigned getAtom(Atom::Kind kind, StringRef name, const Polynomial &argument,
                   int64_t count);
  std::string describe(const Polynomial &polynomial) const;
  Polynomial atomPower(unsigned atom, double exponent, int64_t count) const {
    Polynomial result;
    result.terms.push_back({1, {}, {{atom, exponent}}});
    result.count = count;
    return result;
  }

  using Result = std::optional<Polynomial>;
  Result compute(Operation *op);
  Result constant(Value value, unsigned depth = 0);
  Result operand(Value value) {
    auto it = known.find(value);
    return it != known.end() ? Result(it->second) : constant(value);
  }
  Result applyTo(Operation *op, ArrayRef<Polynomial> operands);
  static Result sum(const Polynomial &lhs, const Polynomial &rhs,
                    double factor);
  Result product(const Polynomial &lhs, const Polynomial &rhs);
  Result power(const Polynomial &base, double exponent);
  Result reduced(const Polynomial &polynomial, int64_t size, StringRef axes);
  Result function(StringRef name, const Polynomial &argument);
  int64_t countOf(const Term &term) const;

  /// The formula of a polynomial, "norm" for those that differ in shapes alone;
  /// empty when it is none.
  StringRef classify(Operation *root, const Polynomial &polynomial) const;
  /// `square`: the atom mean(x^2) in it.
  bool isNormalizer(const Term &term, bool isCentered, unsigned *square) const;
  /// Whether the atom is mean(x^exponent).
  bool isMoment(unsigned atom, double exponent) const;
  bool isVariance(const Polynomial &polynomial, bool isCentered,
                  unsigned *square) const;
  bool haveSameAxes(unsigned lhs, unsigned rhs) const {
    return atoms[lhs].count == atoms[rhs].count &&
           atoms[lhs].name == atoms[rhs].name;
  }
  bool isGelu(ArrayRef<Term> terms) const;
  bool isSoftmax(const Term &term) const;
  StringRef nameNorm(ArrayRef<Operation *> ops) const;
  llvm::SmallSetVector<int64_t, 4> reducedAxes(ArrayRef<Operation *> ops) const;
  bool isImage(const llvm::SmallSetVector<int64_t, 4> &axes) const;
  std::optional<SmallVector<Operation *>> collect(Operation *root) const;
  /// Whether the ops see nothing but x in another shape: that is their x then.
  bool onlyReshapes(ArrayRef<Operation *> ops) const;

  Value input;
  Block *block;
  llvm::DenseMap<Value, Polynomial> known;
  std::vector<Atom> atoms;
  llvm::StringMap<unsigned> atomOf;
};

} // namespace

std::string Algebra::describe(const Polynomial &polynomial) const {
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

unsigned Algebra::getAtom(Atom::Kind kind, StringRef name,
                          const Polynomial &argument, int64_t count) {
  std::string key = (Twine(unsigned(kind)) + " " + name + " " + Twine(count) +
                     ": " + describe(argument))
                        .str();
  auto [it, isNew] = atomOf.try_emplace(key, atoms.size());
  if (isNew)
    atoms.push_back({kind, name.str(), argument, count});
  return it->second;
}

int64_t Algebra::countOf(const Term &term) const {
  int64_t count = std::numeric_limits<int64_t>::max();
  for (auto [atom, exponent] : term.powers)
    count = std::min(count, atoms[atom].count);
  return count;
}

Algebra::Result Algebra::sum(const Polynomial &lhs, const Polynomial &rhs,
                             double factor) {
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
  // One order for equal sums.
  llvm::sort(result.terms, [](const Term &lhs, const Term &rhs) {
    return std::tie(lhs.powers, lhs.constants) <
           std::tie(rhs.powers, rhs.constants);
  });
  // A constant varies with nothing.
  result.count = lhs.isConstant()   ? rhs.count
                 : rhs.isConstant() ? lhs.count
                                    : std::min(lhs.count, rhs.count);
  return result;
}

/// Multiplies by a power of an atom.
static void addPower(Term &term, unsigned atom, double exponent) {
  auto *it =
      llvm::lower_bound(term.powers, atom,
                        [](const std::pair<unsigned, double> &power,
                           unsigned atom) { return power.first < atom; });
  if (it == term.powers.end() || it->first != atom)
    term.powers.insert(it, {atom, exponent});
  else if ((it->second += exponent) == 0)
    term.powers.erase(it);
}

Algebra::Result Algebra::product(const Polynomial &lhs, const Polynomial &rhs) {
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
  result.count = lhs.isConstant()   ? rhs.count
                 : rhs.isConstant() ? lhs.count
                                    : std::min(lhs.count, rhs.count);
  return result;
}

Algebra::Result Algebra::power(const Polynomial &base, double exponent) {
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
      // The root of a square is no power.
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
  int64_t count = std::numeric_limits<int64_t>::max();
  for (const Term &term : base.terms)
    count = std::min(count, countOf(term));
  return atomPower(getAtom(Atom::Base, "", base, count), exponent, base.count);
}

Algebra::Result Algebra::function(StringRef name, const Polynomial &argument) {
  int64_t count = std::numeric_limits<int64_t>::max();
  for (const Term &term : argument.terms)
    count = std::min(count, countOf(term));
  return atomPower(getAtom(Atom::Function, name, argument, count), 1,
                   argument.count);
}

/// The sum over `size` elements along these axes.
Algebra::Result Algebra::reduced(const Polynomial &polynomial, int64_t size,
                                 StringRef axes) {
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

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

std::optional<double> mct::tpc::getSplatNumber(ElementsAttr elements) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(elements);
  if (dense && dense.isSplat() && isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APFloat>().convertToDouble();
  // A small constant may be held as a resource, as the large ones are.
  auto resource = dyn_cast_or_null<DenseF32ResourceElementsAttr>(elements);
  if (!resource)
    return std::nullopt;
  std::optional<ArrayRef<float>> values = resource.tryGetAsArrayRef();
  if (!values || values->empty() || !llvm::all_equal(*values))
    return std::nullopt;
  return values->front();
}

static bool isFloat(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

/// Whether the op changes the place of elements at most.
static bool isMove(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (name == "tosa.cast")
    return isFloat(op->getOperand(0).getType()) &&
           isFloat(op->getResult(0).getType());
  return llvm::is_contained({"tosa.reshape", "tosa.identity", "tosa.transpose"},
                            name);
}

Algebra::Result Algebra::constant(Value value, unsigned depth) {
  Polynomial result;
  if (getConstantOp(value)) {
    ElementsAttr elements = getConstant(value);
    if (!elements)
      return std::nullopt;
    Term &term = result.terms.emplace_back();
    if (std::optional<double> number = getSplatNumber(elements)) {
      term.coefficient = *number;
      if (*number == 0)
        result.terms.clear();
    } else {
      // One address for equal constants.
      term.constants.push_back(elements.getAsOpaquePointer());
    }
    return result;
  }
  constexpr unsigned kMaxDepth = 4;
  Operation *op = value.getDefiningOp();
  if (!op || depth == kMaxDepth || op->getNumRegions() != 0 ||
      op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      isa<QuantizeOp>(op))
    return std::nullopt;
  // What is computed of constants alone.
  SmallVector<Polynomial> operands;
  for (Value each : op->getOperands()) {
    if (!isa<TensorType>(each.getType()))
      continue;
    Result one = constant(each, depth + 1);
    if (!one)
      return std::nullopt;
    operands.push_back(std::move(*one));
  }
  if (operands.empty())
    return std::nullopt;
  if (Result applied = applyTo(op, operands))
    return applied;
  result.terms.emplace_back().constants.push_back(op);
  return result;
}

Algebra::Result Algebra::applyTo(Operation *op, ArrayRef<Polynomial> operands) {
  StringRef name = op->getName().getStringRef();
  const Polynomial &first = operands.front();
  if (isMove(op))
    return first;
  if (!name.consume_front("tosa."))
    return std::nullopt;
  if (name == "add")
    return sum(first, operands[1], 1);
  if (name == "sub")
    return sum(first, operands[1], -1);
  if (name == "mul")
    return product(first, operands[1]);
  if (name == "negate")
    return sum({}, first, -1);
  if (name == "reciprocal")
    return power(first, -1);
  if (name == "rsqrt")
    return power(first, -0.5);
  if (name == "pow") {
    const Polynomial &exponent = operands[1];
    if (exponent.terms.size() != 1 || !exponent.terms.front().isScalar())
      return std::nullopt;
    return power(first, exponent.terms.front().coefficient);
  }
  if (name == "tanh" || name == "erf" || name == "exp")
    return function(name, first);
  if (name == "maximum" || name == "clamp") {
    // A difference that may get below zero by rounding alone, or a maximum.
    for (size_t i = 0; i != operands.size(); ++i) {
      const Polynomial &value = operands[i];
      unsigned square;
      if (isVariance(value, true, &square) ||
          isVariance(value, false, &square) ||
          (value.terms.size() == 1 && value.terms.front().powers.size() == 1 &&
           atoms[value.terms.front().powers.front().first].kind ==
               Atom::Largest))
        if (name == "clamp" || operands[1 - i].isConstant())
          return value;
    }
    return std::nullopt;
  }
  if (name == "reduce_sum" || name == "reduce_max") {
    auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    auto axis = op->getAttrOfType<IntegerAttr>("axis");
    if (!type || !axis || type.isDynamicDim(axis.getInt()))
      return std::nullopt;
    int64_t size = type.getDimSize(axis.getInt());
    std::string axes = std::to_string(axis.getInt());
    if (name == "reduce_sum")
      return reduced(first, size, axes);
    return atomPower(getAtom(Atom::Largest, axes, first, first.count * size), 1,
                     first.count * size);
  }
  if (name == "avg_pool2d") {
    // Over the whole image: a mean.
    auto kernel = op->getAttrOfType<DenseI64ArrayAttr>("kernel");
    auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    if (!kernel || !type || type.getShape().slice(1, 2) != kernel.asArrayRef())
      return std::nullopt;
    int64_t size = kernel[0] * kernel[1];
    Result total = reduced(first, size, "12");
    return total ? sum({}, *total, 1 / double(size)) : std::nullopt;
  }
  if (llvm::is_contained({"equal", "greater", "greater_equal", "logical_not",
                          "logical_and", "logical_or", "reduce_all",
                          "reduce_any"},
                         name)) {
    Polynomial result =
        atomPower(getAtom(Atom::Predicate, name, first, 1), 1, 1);
    return result;
  }
  if (name == "select") {
    // A softmax of nothing but -inf is made zero.
    for (auto [zero, other] : {std::pair(1, 2), std::pair(2, 1)})
      if (operands[zero].terms.empty() && operands[other].terms.size() == 1 &&
          isSoftmax(operands[other].terms.front()))
        return operands[other];
    return std::nullopt;
  }
  return std::nullopt;
}

Algebra::Result Algebra::compute(Operation *op) {
  if (op->getNumRegions() != 0 || op->getNumResults() != 1 ||
      op->getNumOperands() == 0 ||
      !isa<RankedTensorType>(op->getResult(0).getType()))
    return std::nullopt;
  StringRef name = op->getName().getStringRef();
  // Shifts, zero points and shapes are no numbers of the formula.
  unsigned numOperands =
      llvm::StringSwitch<unsigned>(name)
          .Cases({"tosa.mul", "tosa.add", "tosa.sub", "tosa.pow",
                  "tosa.maximum", "tosa.equal", "tosa.greater",
                  "tosa.greater_equal", "tosa.logical_and", "tosa.logical_or"},
                 2)
          .Case("tosa.select", 3)
          .Default(1);
  SmallVector<Polynomial> operands;
  for (Value value : op->getOperands().take_front(numOperands)) {
    Result one = operand(value);
    if (!one)
      return std::nullopt;
    operands.push_back(std::move(*one));
  }
  return applyTo(op, operands);
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

bool Algebra::isMoment(unsigned atom, double exponent) const {
  const Atom &mean = atoms[atom];
  return mean.kind == Atom::Mean && mean.argument.terms.size() == 1 &&
         mean.argument.terms.front().coefficient == 1 &&
         mean.argument.terms.front().powers.size() == 1 &&
         mean.argument.terms.front().powers.front() == std::pair(0u, exponent);
}

/// mean(x^2) - mean(x)^2, or mean(x^2), plus a number.
bool Algebra::isVariance(const Polynomial &polynomial, bool isCentered,
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
  // The variance may be over n - 1. Without the mean a sum is another operator.
  if (!isCentered)
    return isNear(ofSquare->coefficient, 1);
  return isNear(-ofMean->coefficient, ofSquare->coefficient) &&
         haveSameAxes(ofMean->powers.front().first, *square);
}

/// Whether all powers are one, of a variance to -1/2.
bool Algebra::isNormalizer(const Term &term, bool isCentered,
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

bool Algebra::isGelu(ArrayRef<Term> terms) const {
  if (terms.size() != 2)
    return false;
  const Term *plain = &terms[0], *product = &terms[1];
  if (plain->powers.size() != 1)
    std::swap(plain, product);
  if (plain->powers.size() != 1 || plain->exponentOf(0) != 1 ||
      product->powers.size() != 2 || product->exponentOf(0) != 1 ||
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
             term.exponentOf(0) == exponent &&
             isNear(term.coefficient, coefficient);
    });
  };
  if (function.name == "erf")
    return function.argument.terms.size() == 1 && has(1, std::sqrt(0.5));
  return function.name == "tanh" && function.argument.terms.size() == 2 &&
         has(1, std::sqrt(2 / M_PI)) && has(3, 0.044715 * std::sqrt(2 / M_PI));
}

bool Algebra::isSoftmax(const Term &term) const {
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
  // Of x alone, or less its maximum along the same axes.
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

/// Axes over which sums run, as long as the rank is that of x.
llvm::SmallSetVector<int64_t, 4>
Algebra::reducedAxes(ArrayRef<Operation *> ops) const {
  llvm::SmallSetVector<int64_t, 4> axes;
  int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
  for (Operation *op : ops) {
    StringRef name = op->getName().getStringRef();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (name == "tosa.reduce_sum" && type.getRank() == rank)
      axes.insert(op->getAttrOfType<IntegerAttr>("axis").getInt());
    if (name == "tosa.avg_pool2d" && rank == 4)
      for (int64_t axis : {1, 2})
        axes.insert(axis);
  }
  return axes;
}

/// Whether these are exactly the axes between those of the batch and of the
/// channels, or behind both.
bool Algebra::isImage(const llvm::SmallSetVector<int64_t, 4> &axes) const {
  int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
  if (rank < 3 || int64_t(axes.size()) != rank - 2)
    return false;
  auto isRange = [&](int64_t first) {
    for (size_t i = 0; i != axes.size(); ++i)
      if (!axes.contains(first + int64_t(i)))
        return false;
    return true;
  };
  return isRange(1) || isRange(2);
}

StringRef Algebra::nameNorm(ArrayRef<Operation *> ops) const {
  auto type = cast<RankedTensorType>(input.getType());
  auto rootType = cast<RankedTensorType>(ops.back()->getResult(0).getType());
  // Groups of channels are an axis of their own between two reshapes.
  if (type.getShape() != rootType.getShape())
    return "group_norm";
  llvm::SmallSetVector<int64_t, 4> axes = reducedAxes(ops);
  if (!isImage(axes))
    return "layer_norm";
  // What a layer norm normalizes together it scales one by one, an instance
  // norm what it normalizes apart.
  bool variesInside = false, variesOutside = false;
  for (Operation *op : ops)
    for (Value value : op->getOperands()) {
      auto constantType = dyn_cast<RankedTensorType>(value.getType());
      if (!constantType || known.contains(value) || !isFloat(constantType) ||
          constantType.getRank() != type.getRank())
        continue;
      for (auto [axis, size] : llvm::enumerate(constantType.getShape()))
        if (size > 1)
          (axes.contains(axis) ? variesInside : variesOutside) = true;
    }
  bool isLast = axes.size() == 1 && axes.contains(type.getRank() - 1);
  return variesInside || (isLast && !variesOutside) ? "layer_norm"
                                                    : "instance_norm";
}

StringRef Algebra::classify(Operation *root,
                            const Polynomial &polynomial) const {
  StringRef name = root->getName().getStringRef();
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

  // x - mean(x), or x, times what normalizes it.
  if (terms.empty() || terms.size() > 2)
    return "";
  const Term *plain = &terms.front(), *mean = nullptr;
  if (terms.size() == 2) {
    mean = &terms.back();
    if (plain->exponentOf(0) != 1)
      std::swap(plain, mean);
  }
  if (plain->exponentOf(0) != 1)
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

std::optional<SmallVector<Operation *>>
Algebra::collect(Operation *root) const {
  llvm::SetVector<Operation *> ops;
  ops.insert(root);
  for (size_t next = 0; next != ops.size(); ++next)
    for (Value value : ops[next]->getOperands())
      if (Operation *op = value.getDefiningOp();
          op && value != input && known.contains(value))
        ops.insert(op);
  // Ops on constants belong to it when nobody else needs them.
  for (size_t next = 0; next != ops.size(); ++next)
    for (Value value : ops[next]->getOperands())
      if (Operation *op = value.getDefiningOp();
          op && value != input && !known.contains(value) &&
          op->getBlock() == block && !getConstantOp(value) &&
          isa<RankedTensorType>(value.getType()) &&
          llvm::all_of(op->getUsers(),
                       [&](Operation *user) { return ops.contains(user); }))
        ops.insert(op);
  for (Operation *op : ops)
    if (op != root && !llvm::all_of(op->getUsers(), [&](Operation *user) {
          return ops.contains(user);
        }))
      return std::nullopt;
  SmallVector<Operation *> sorted(ops.begin(), ops.end());
  llvm::sort(sorted, [](Operation *lhs, Operation *rhs) {
    return lhs->isBeforeInBlock(rhs);
  });
  return sorted;
}

bool Algebra::onlyReshapes(ArrayRef<Operation *> ops) const {
  SmallVector<Operation *> users;
  for (Operation *op : ops)
    if (llvm::is_contained(op->getOperands(), input))
      users.push_back(op);
  return users.size() == 1 && isMove(users.front()) &&
         users.front()->getName().getStringRef() != "tosa.cast";
}

unsigned Algebra::run(llvm::function_ref<void(FormulaMatch)> found) {
  auto isBefore = [](Operation *lhs, Operation *rhs) {
    return lhs->isBeforeInBlock(rhs);
  };
  std::set<Operation *, decltype(isBefore)> pending(isBefore);
  auto addUsers = [&](Value value) {
    unsigned number = 0;
    for (Operation *user : value.getUsers()) {
      if (++number > kMaxOps)
        break;
      if (user->getBlock() == block)
        pending.insert(user);
    }
  };
  addUsers(input);
  unsigned visited = 0;
  for (; !pending.empty() && visited != kMaxOps; ++visited) {
    Operation *op = *pending.begin();
    pending.erase(pending.begin());
    Result result = compute(op);
    if (!result)
      continue;
    Value value = op->getResult(0);
    if (known.contains(value))
      continue;
    StringRef name = classify(op, *result);
    known[value] = std::move(*result);
    addUsers(value);
    if (name.empty())
      continue;
    std::optional<SmallVector<Operation *>> ops = collect(op);
    if (!ops || ops->size() == 1 || onlyReshapes(*ops))
      continue;
    if (name == "norm")
      name = nameNorm(*ops);
    else if (name == "mean" &&
             cast<RankedTensorType>(input.getType()).getRank() == 4 &&
             isImage(reducedAxes(*ops)))
      name = "global_avg_pool";
    found({name, input, std::move(*ops)});
  }
  return visited;
}

//===----------------------------------------------------------------------===//
// Where a formula may begin
//===----------------------------------------------------------------------===//

static bool isOp(Operation *op, ArrayRef<StringRef> names) {
  return op && llvm::is_contained(names, op->getName().getStringRef());
}

/// The values that may be x where a formula has this op: what it reads, and
/// what is read again behind it.
static void addInputs(Operation *op, llvm::SetVector<Value> &inputs) {
  if (!isOp(op,
            {"tosa.reduce_sum", "tosa.avg_pool2d", "tosa.tanh", "tosa.erf"}))
    return;
  constexpr size_t kMaxSteps = 10;
  llvm::SetVector<Value> above;
  above.insert(op->getOperand(0));
  for (size_t next = 0; next != std::min(above.size(), kMaxSteps); ++next) {
    Value value = above[next];
    bool isExponent = isOp(*value.user_begin(), {"tosa.exp"});
    if ((next == 0 || isExponent || !value.hasOneUse()) &&
        isFloat(value.getType()))
      inputs.insert(value);
    Operation *producer = value.getDefiningOp();
    if (!producer || (!isMove(producer) &&
                      !isOp(producer, {"tosa.mul", "tosa.add", "tosa.sub",
                                       "tosa.pow", "tosa.exp"})))
      continue;
    for (Value operand : producer->getOperands())
      if (isa<RankedTensorType>(operand.getType()) && !getConstantOp(operand))
        above.insert(operand);
  }
}

std::vector<FormulaMatch> mct::tpc::findFormulas(Block &block,
                                                 uint64_t *visited) {
  llvm::SetVector<Value> inputs;
  for (Operation &op : block)
    addInputs(&op, inputs);
  std::vector<FormulaMatch> matches;
  for (Value input : inputs) {
    unsigned count = Algebra(input).run(
        [&](FormulaMatch match) { matches.push_back(std::move(match)); });
    if (visited)
      *visited += count;
  }
  llvm::sort(matches, [](const FormulaMatch &lhs, const FormulaMatch &rhs) {
    if (lhs.ops.back() != rhs.ops.back())
      return lhs.ops.back()->isBeforeInBlock(rhs.ops.back());
    return std::pair(lhs.ops.size(), lhs.name) <
           std::pair(rhs.ops.size(), rhs.name);
  });
  return matches;
}
