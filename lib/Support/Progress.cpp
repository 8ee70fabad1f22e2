// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/Progress.h"

#include <algorithm>
#include <map>
#include <mutex>

using namespace mct::support;

void Progress::begin(int64_t samples) {
  total = samples;
  done = 0;
  ++runs;
}

void Progress::end() { total = 0; }

Progress::Counts Progress::counts() const {
  int64_t samples = total;
  return {std::min(done.load(), samples), samples, runs};
}

namespace {
/// A context cannot carry anything of ours.
struct Scopes {
  std::mutex mutex;
  std::map<mlir::MLIRContext *, Progress *> open;
};
} // namespace

static Scopes &scopes() {
  static Scopes all;
  return all;
}

ProgressScope::ProgressScope(mlir::MLIRContext *context, Progress &progress)
    : context(context) {
  std::lock_guard<std::mutex> lock(scopes().mutex);
  scopes().open[context] = &progress;
}

ProgressScope::~ProgressScope() {
  std::lock_guard<std::mutex> lock(scopes().mutex);
  scopes().open.erase(context);
}

Progress *mct::support::findProgress(mlir::MLIRContext *context) {
  std::lock_guard<std::mutex> lock(scopes().mutex);
  auto found = scopes().open.find(context);
  return found == scopes().open.end() ? nullptr : found->second;
}
