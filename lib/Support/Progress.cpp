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

Progress::Counts Progress::counts() const {
  int64_t samples = total;
  return {std::min(done.load(), samples), samples, runs};
}
