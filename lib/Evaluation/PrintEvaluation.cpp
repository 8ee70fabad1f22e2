// SPDX-License-Identifier: Apache-2.0
#include "mct/Evaluation/Evaluation.h"

#include "JsonNumber.h"

using namespace mct;
using execution::jsonNumber;

static void printSteps(llvm::json::OStream &stream,
                       const execution::StepCounts &steps) {
  stream.attribute("values", steps.values);
  stream.attribute("differing", steps.differing);
  stream.attribute("max_steps", jsonNumber(steps.largest));
}

static void printSums(llvm::json::OStream &stream,
                      const execution::ErrorSums &sums) {
  stream.attribute("sqnr_db", jsonNumber(sums.sqnr()));
  stream.attribute("cosine", jsonNumber(sums.cosine()));
  stream.attribute("max_error", jsonNumber(sums.largest));
}

static void printResult(llvm::json::OStream &stream,
                        const execution::ComparedResult &result) {
  stream.object([&] {
    stream.attribute("name", result.name);
    stream.attribute("is_scores", result.isScores);
    printSums(stream, result.sums);
    if (result.logits)
      stream.attributeObject("logits",
                             [&] { printSums(stream, *result.logits); });
    stream.attribute("axis", result.axis);
    stream.attributeArray("groups", [&] {
      for (const execution::ComparedGroup &group : result.groups)
        stream.object([&] {
          stream.attribute("name", group.name);
          stream.attributeArray("channels", [&] {
            for (int64_t channel : group.channels)
              stream.value(channel);
          });
          printSums(stream, group.sums);
        });
    });
  });
}

void execution::printMembers(llvm::json::OStream &stream,
                             const Evaluation &results) {
  stream.attribute("samples", results.samples);
  if (results.top1)
    stream.attribute("top1", *results.top1);
  if (results.agreement)
    stream.attribute("agreement", *results.agreement);
  if (results.metric) {
    stream.attributeBegin("metric");
    print(stream, *results.metric);
    stream.attributeEnd();
  }
  stream.attribute("seconds", results.seconds);
  if (results.compared && !results.exact)
    stream.attributeArray("results", [&] {
      for (const execution::ComparedResult &result : results.results)
        printResult(stream, result);
    });
  if (results.compared)
    stream.attributeArray("points", [&] {
      for (const auto &point : results.points)
        stream.object([&] {
          stream.attribute("name", point.name);
          if (results.exact)
            return printSteps(stream, *point.steps);
          printSums(stream, point.sums);
        });
    });
  if (results.exact)
    stream.attributeObject("total", [&] { printSteps(stream, results.steps); });
  if (results.compared)
    stream.attributeArray("not_compared", [&] {
      for (const std::string &name : results.notCompared)
        stream.value(name);
    });
}
