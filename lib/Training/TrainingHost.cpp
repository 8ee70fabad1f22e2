// SPDX-License-Identifier: Apache-2.0
#include "mct/Training/TrainingHost.h"

using namespace mct;
using llvm::ArrayRef;

TrainingHost::~TrainingHost() = default;

namespace {
class HostLoss : public TrainingLoss {
public:
  HostLoss(TrainingHost &host, std::vector<double> weights)
      : host(host), weights(std::move(weights)) {}

  bool needsTeacher() const override { return true; }

  llvm::Error check(ArrayRef<ComparedShape> results, int64_t,
                    int64_t) override {
    shapes.assign(results.begin(), results.end());
    return llvm::Error::success();
  }

  BatchLoss begin(const TrainingBatch &batch) const override {
    return [this, all = double(batch.samples.size())](
               const TrainingShard &shard) -> llvm::Expected<double> {
      llvm::Expected<double> mean =
          host.computeLoss(shapes, shard.results, weights);
      if (!mean)
        return mean;
      double share = double(shard.samples.size()) / all;
      // If it is the whole batch, scaling would only add a rounding.
      if (share != 1)
        for (const TrainingShard::Result &result : shard.results)
          for (float &gradient : result.gradients)
            gradient = float(gradient * share);
      return *mean * share;
    };
  }

  std::string describe() const override {
    std::string text = host.describeLoss();
    for (double weight : weights)
      text += ' ' + std::to_string(weight);
    return text;
  }

private:
  TrainingHost &host;
  std::vector<double> weights;
  std::vector<ComparedShape> shapes;
};
} // namespace

std::unique_ptr<TrainingLoss> mct::createHostLoss(TrainingHost &host,
                                                  std::vector<double> weights) {
  return std::make_unique<HostLoss>(host, std::move(weights));
}
