// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/Progress.h"

#include <algorithm>

using namespace mct::support;

void Progress::begin(int64_t samples) {
  total = samples;
  done = 0;
  ++runs;
}

void Progress::end() { total = 0; }

void Progress::beginParts(int64_t count) {
  partsDone = 0;
  parts = count;
}

Progress::Counts Progress::counts() const {
  int64_t samples = total;
  int64_t all = parts;
  return {std::min(done.load(), samples), samples, runs,
          std::min(partsDone.load(), all), all};
}
