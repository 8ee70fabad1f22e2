// SPDX-License-Identifier: Apache-2.0
#include "mct/Inspection/ReportCosts.h"
#include "FunctionReports.h"
#include "mct/Cost/CostTable.h"
#include "mct/Inspection/Passes.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "llvm/Support/Format.h"

namespace mct {
#define GEN_PASS_DEF_REPORTCOSTSPASS
#include "mct/Inspection/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
namespace json = llvm::json;

namespace {
/// A layer and, if there is a table, its cost.
struct Row {
  CostedLayer layer;
  std::optional<LayerCost> cost;
};
} // namespace

/// Fails with a diagnostic if the order of a function's ops is not known, or if
/// the table lacks a layer.
static FailureOr<std::vector<Row>> findRows(func::FuncOp function,
                                            const KernelOps &kernels,
                                            const CostTable *table) {
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitOpError("has several blocks, so that its costs are not "
                                "known");
  std::vector<Row> rows;
  for (CostedLayer &layer : findCostedLayers(function, kernels)) {
    std::optional<LayerCost> cost;
    if (table) {
      cost = table->find(layer);
      if (!cost)
        return table->reportMissing(layer);
    }
    rows.push_back({std::move(layer), cost});
  }
  return rows;
}

static int64_t addCycles(ArrayRef<Row> rows) {
  int64_t sum = 0;
  for (const Row &row : rows)
    sum += row.cost ? row.cost->cycles : 0;
  return sum;
}

static json::Object describeFunction(func::FuncOp function, ArrayRef<Row> rows,
                                     const CostTable *table) {
  json::Array layers;
  for (const Row &row : rows) {
    json::Object object{{"name", json::fixUTF8(row.layer.name)},
                        {"form", json::Object(row.layer.form)},
                        {"compressed_bytes", row.layer.getCompressedBytes()}};
    if (std::optional<int64_t> bits = row.layer.getKernelBits())
      object["kernel_bits"] = *bits;
    if (row.cost) {
      object["cycles"] = row.cost->cycles;
      object["memory_bytes"] = row.cost->memoryBytes;
    }
    layers.push_back(std::move(object));
  }
  json::Object object{{"name", function.getSymName()},
                      {"layers", std::move(layers)}};
  if (table) {
    object["device"] = json::fixUTF8(table->getDevice());
    object["cycles"] = addCycles(rows);
  }
  return object;
}

static void printFunction(func::FuncOp function, ArrayRef<Row> rows,
                          const CostTable *table, raw_ostream &os) {
  os << "function " << function.getSymName();
  if (table)
    os << ", on " << table->getDevice();
  os << '\n'
     << llvm::format("  %12s %12s %12s  %s\n", "cycles", "memory", "compressed",
                     "name");
  for (const Row &row : rows) {
    auto print = [&](std::optional<int64_t> number) {
      if (number)
        os << llvm::format(" %12lld", static_cast<long long>(*number));
      else
        os << llvm::format(" %12s", "-");
    };
    os << ' ';
    print(row.cost ? std::optional(row.cost->cycles) : std::nullopt);
    print(row.cost ? std::optional(row.cost->memoryBytes) : std::nullopt);
    print(row.layer.getCompressedBytes());
    os << "  "
       << (row.layer.name.empty() ? row.layer.op->getName().getStringRef()
                                  : StringRef(row.layer.name))
       << '\n';
  }
  if (table)
    os << "  in total: " << addCycles(rows) << " cycles\n";
}

LogicalResult mct::reportCosts(ModuleOp module, const KernelOps &kernels,
                               const CostTable *table, ExplainFormat format,
                               raw_ostream &stream) {
  return writeFunctionReports(
      module, format, stream,
      [&](func::FuncOp function) -> FailureOr<json::Object> {
        auto rows = findRows(function, kernels, table);
        if (failed(rows))
          return failure();
        return describeFunction(function, *rows, table);
      },
      [&](func::FuncOp function, raw_ostream &os) -> LogicalResult {
        auto rows = findRows(function, kernels, table);
        if (failed(rows))
          return failure();
        printFunction(function, *rows, table, os);
        return success();
      });
}

namespace {
struct ReportCostsPass
    : public WithOpModels<mct::impl::ReportCostsPassBase<ReportCostsPass>> {
  using WithOpModels::WithOpModels;

  void runOnOperation() override {
    FailureOr<Device> found = Device::find(device, getOperation());
    if (failed(found))
      return signalPassFailure();
    // A table that is given without a device names its device itself.
    bool isAlone = device.empty() && !costTable.empty();
    auto table =
        findCostTable(costTable, isAlone ? nullptr : &*found, getOperation());
    if (failed(table) ||
        failed(reportCosts(getOperation(), getAnalysis<KernelOps>(),
                           *table ? &**table : nullptr, format, llvm::outs())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
