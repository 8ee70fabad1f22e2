// SPDX-License-Identifier: Apache-2.0
#include "IntegerProgram.h"

#include "coin/Cbc_C_Interface.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>

namespace mct::quantization {

size_t IntegerProgram::addVariable(double cost, bool isBinary) {
  costs.push_back(cost);
  binary.push_back(isBinary);
  return costs.size() - 1;
}

void IntegerProgram::addRow(Terms terms, double lower, double upper) {
  rows.push_back({std::move(terms), lower, upper});
}

llvm::Expected<std::optional<std::vector<double>>>
IntegerProgram::solve() const {
  // The tolerances of CBC are absolute: 1e-7 of a row, and solutions that are
  // better by less than 1e-5 are not looked for.
  constexpr double kLargestCost = 1e6;
  double largest = 0;
  for (double cost : costs)
    largest = std::max(largest, std::abs(cost));
  double scale = largest > 0 ? kLargestCost / largest : 1;

  // CBC takes the matrix column by column.
  std::vector<std::vector<std::pair<int, double>>> columns(costs.size());
  std::vector<double> lower, upper;
  double infinity = std::numeric_limits<double>::infinity();
  for (auto [number, row] : llvm::enumerate(rows)) {
    double size = 0;
    for (const auto &[variable, factor] : row.terms)
      size = std::max(size, std::abs(factor));
    size = size > 0 ? size : 1;
    for (const auto &[variable, factor] : row.terms)
      if (factor != 0)
        columns[variable].push_back({int(number), factor / size});
    lower.push_back(row.lower / size);
    upper.push_back(row.upper / size);
  }
  std::vector<CoinBigIndex> starts = {0};
  std::vector<int> indices;
  std::vector<double> factors, objective, from(costs.size(), 0.0), to;
  for (auto [variable, column] : llvm::enumerate(columns)) {
    for (auto [row, factor] : column) {
      indices.push_back(row);
      factors.push_back(factor);
    }
    starts.push_back(CoinBigIndex(indices.size()));
    objective.push_back(costs[variable] * scale);
    to.push_back(binary[variable] ? 1.0 : infinity);
  }

  std::unique_ptr<Cbc_Model, void (*)(Cbc_Model *)> model(Cbc_newModel(),
                                                          Cbc_deleteModel);
  Cbc_loadProblem(model.get(), int(costs.size()), int(rows.size()),
                  starts.data(), indices.data(), factors.data(), from.data(),
                  to.data(), objective.data(), lower.data(), upper.data());
  for (size_t variable = 0; variable != costs.size(); ++variable)
    if (binary[variable])
      Cbc_setInteger(model.get(), int(variable));
  Cbc_setObjSense(model.get(), 1);
  Cbc_setLogLevel(model.get(), 0);
  for (auto [name, value] : {std::pair<const char *, const char *>{"log", "0"},
                             {"slogLevel", "0"},
                             {"threads", "0"},
                             {"ratioGap", "0"},
                             {"allowableGap", "0"},
                             {"increment", "1e-9"}})
    Cbc_setParameter(model.get(), name, value);
  {
    // CBC factorizes dense bases by the LAPACK of the system. That of an
    // OpenBLAS without threads, as Debian has it, must not be called twice at
    // once.
    static std::mutex solving;
    std::lock_guard<std::mutex> lock(solving);
    Cbc_solve(model.get());
  }
  if (Cbc_isProvenInfeasible(model.get()))
    return std::nullopt;
  if (!Cbc_isProvenOptimal(model.get()))
    return llvm::createStringError("CBC stopped without an optimum");
  const double *solution = Cbc_getColSolution(model.get());
  return std::vector<double>(solution, solution + costs.size());
}

} // namespace mct::quantization
