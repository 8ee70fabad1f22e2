// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/Records.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "gtest/gtest.h"
#include <limits>
#include <set>

using namespace mct;
using namespace mlir;

namespace {
class RecordsTest : public ::testing::Test {
protected:
  RecordsTest() {
    context
        .loadDialect<func::FuncDialect, tosa::TosaDialect, tpc::TpcDialect>();
    // The note with the op is none of the record.
    context.printOpOnDiagnostic(false);
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    return parseSourceString<ModuleOp>(text, &context);
  }
  static double getNumber(const CollectedRecord &record, StringRef name) {
    for (const NamedValue &value : record.values)
      if (value.name == name)
        return std::get<double>(value.value);
    ADD_FAILURE() << "no value " << name.str();
    return -1;
  }

  MLIRContext context;
};

constexpr char kWeights[] = R"(
#config = #tpc.attr_quant_config<method = symmetric, bits = 3, per_channel = true, enabled = true>
func.func @main() -> tensor<2x3xf32> {
  %k = "tosa.const"() <{values = dense<[[0.1, -0.7, 0.33], [0.9, -1.1, 0.2]]> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
  %w = tpc.quantize %k as "layer" weight "kernel_attr" axes [0] config(#config) : tensor<2x3xf32>
  return %w : tensor<2x3xf32>
})";
} // namespace

TEST_F(RecordsTest, RemarkHasTheNumbersOfTheAttribute) {
  OwningOpRef<ModuleOp> module = parse(kWeights);
  RecordCollector collector(&context);
  PassManager passes(&context);
  SelectWeightParametersPassOptions options;
  options.remarks = true;
  passes.addPass(createSelectWeightParametersPass(options));
  ASSERT_TRUE(succeeded(passes.run(*module)));

  tpc::SelectionAttr selection;
  module->walk(
      [&](tpc::QuantizeOp point) { selection = point.getSelectionAttr(); });
  ASSERT_TRUE(selection);
  EXPECT_EQ(selection.getError().size(), 2u);
  ASSERT_EQ(collector.getRecords().size(), 1u);
  const CollectedRecord &record = collector.getRecords().front();
  EXPECT_EQ(record.pass, "mct-select-weight-parameters");
  EXPECT_EQ(record.decision, "applied");
  EXPECT_EQ(record.reason, "selected-parameters");
  EXPECT_EQ(record.op, "tpc.quantize");
  EXPECT_EQ(record.name, "layer/kernel_attr");
  EXPECT_EQ(getNumber(record, "error"), *selection.getMeanError());
  EXPECT_NE(record.text.find(named("", *selection.getMeanError()).text),
            std::string::npos);
}

TEST_F(RecordsTest, CollectorSeesWhatItIsThereForAndHidesNothing) {
  OwningOpRef<ModuleOp> module = parse(kWeights);
  unsigned shown = 0;
  ScopedDiagnosticHandler outer(&context, [&](Diagnostic &) {
    ++shown;
    return success();
  });
  std::vector<CollectedRecord> records;
  {
    RecordCollector collector(&context);
    // Not a record.
    emitRemark(module->getLoc()) << "plain";
    emitRecord(*module, "mct-test",
               Record(Decision::Declined, Reason::Larger)
                   << "it has " << named("elements", int64_t(12))
                   << " elements, as '" << named("other", StringRef("b"))
                   << "'")
            .attachNote(module->getLoc())
        << "this op";
    records = collector.takeRecords();
  }
  emitRecord(*module, "mct-test", Reason::Padded);
  EXPECT_EQ(shown, 3u);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].decision, "declined");
  EXPECT_EQ(records[0].text, "it has 12 elements, as 'b'");
  ASSERT_EQ(records[0].notes.size(), 1u);
  EXPECT_EQ(records[0].notes[0].text, "this op");
  ASSERT_EQ(records[0].values.size(), 2u);
  EXPECT_EQ(std::get<int64_t>(records[0].values[0].value), 12);
  EXPECT_EQ(std::get<std::string>(records[0].values[1].value), "b");
}

TEST_F(RecordsTest, NumbersThatAreNotFiniteAreNull) {
  CollectedRecord record;
  record.values.push_back(
      named("bound", std::numeric_limits<double>::infinity()));
  record.values.push_back(named("error", 0.5));
  llvm::json::Value json = toJSON(record);
  const llvm::json::Object *values = json.getAsObject()->getObject("values");
  ASSERT_TRUE(values);
  EXPECT_EQ(*values->get("bound"), llvm::json::Value(nullptr));
  EXPECT_EQ(*values->get("error"), llvm::json::Value(0.5));
}

TEST_F(RecordsTest, ReasonsAreKebabCaseAndDiffer) {
  std::set<std::string> ids;
  for (StringRef id : {
#define MCT_REASON(Name, Id, Text, Remedy) stringifyReason(Reason::Name),
#include "mct/IR/Reasons.def"
#undef MCT_REASON
       }) {
    EXPECT_TRUE(ids.insert(id.str()).second) << id.str();
    EXPECT_EQ(id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"),
              StringRef::npos)
        << id.str();
  }
}
