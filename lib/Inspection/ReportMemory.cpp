// SPDX-License-Identifier: Apache-2.0
#include "FunctionReports.h"
#include "mct/Cost/Memory.h"
#include "mct/Inspection/Passes.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

namespace mct {
#define GEN_PASS_DEF_REPORTMEMORYPASS
#include "mct/Inspection/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
namespace json = llvm::json;
using Kind = TensorMemory::Kind;

static constexpr Kind kKinds[] = {Kind::Kernel, Kind::Bias, Kind::Constant,
                                  Kind::Activation};

static uint64_t toBytes(uint64_t bits) { return llvm::divideCeil(bits, 8); }

static json::Object toJSON(const MemoryReport &report) {
  json::Array ops;
  for (const OpMemory &op : report.ops) {
    json::Array tensors;
    for (const TensorMemory &tensor : op.tensors)
      tensors.push_back(
          json::Object{{"kind", stringifyKind(tensor.kind)},
                       {"name", json::fixUTF8(tensor.name)},
                       {"elements", tensor.elements},
                       {"padded_elements", tensor.paddedElements},
                       {"bits", int64_t(tensor.bits)},
                       {"float_bits", int64_t(tensor.floatBits)},
                       {"fused", tensor.isFused},
                       {"bytes", toBytes(tensor.storedBits())},
                       {"float_bytes", toBytes(tensor.storedFloatBits())}});
    ops.push_back(json::Object{{"name", json::fixUTF8(op.name)},
                               {"op", op.op},
                               {"tensors", std::move(tensors)}});
  }
  json::Object totals;
  for (Kind kind : kKinds)
    totals.try_emplace(
        stringifyKind(kind),
        json::Object{{"bits", report.totalBits(kind)},
                     {"float_bits", report.totalFloatBits(kind)}});
  return json::Object{{"name", report.function},
                      {"ops", std::move(ops)},
                      {"totals", std::move(totals)}};
}

static void print(const MemoryReport &report, raw_ostream &os) {
  os << "function " << report.function << '\n';
  os << llvm::format("  %-10s %12s %5s %12s %12s  %s\n", "kind", "elements",
                     "bits", "bytes", "float bytes", "name");
  for (const OpMemory &op : report.ops)
    for (const TensorMemory &tensor : op.tensors)
      os << llvm::format(
                "  %-10s %12lld %5u %12llu %12llu  ",
                stringifyKind(tensor.kind).data(),
                static_cast<long long>(tensor.paddedElements), tensor.bits,
                static_cast<unsigned long long>(toBytes(tensor.storedBits())),
                static_cast<unsigned long long>(
                    toBytes(tensor.storedFloatBits())))
         << (tensor.name.empty() ? op.op : tensor.name)
         << (tensor.isFused ? " (fused)" : "") << '\n';
  for (Kind kind : kKinds)
    os << llvm::format(
        "  total %-23s %12llu %12llu\n", stringifyKind(kind).data(),
        static_cast<unsigned long long>(toBytes(report.totalBits(kind))),
        static_cast<unsigned long long>(toBytes(report.totalFloatBits(kind))));
}

namespace {
struct ReportMemoryPass
    : public WithOpModels<mct::impl::ReportMemoryPassBase<ReportMemoryPass>> {
  using WithOpModels::WithOpModels;

  void runOnOperation() override {
    const KernelOps &kernels = getAnalysis<KernelOps>();
    if (failed(writeFunctionReports(
            getOperation(), format, llvm::outs(),
            [&](func::FuncOp function) -> FailureOr<json::Object> {
              return toJSON(computeMemory(function, kernels));
            },
            [&](func::FuncOp function, raw_ostream &os) {
              print(computeMemory(function, kernels), os);
              return success();
            })))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
