// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TEST_UNIT_QUANTIZATION_RANDOMVALUES_H
#define MCT_TEST_UNIT_QUANTIZATION_RANDOMVALUES_H

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace mct::quantization {

/// Values of one of four laws, by seed: normal, heavy tails, rectified, on a
/// grid that is not the one to find.
inline std::vector<float> randomValues(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::student_t_distribution<float> heavy(2);
  std::vector<float> values(count);
  for (float &value : values)
    switch (seed % 4) {
    case 0:
      value = normal(generator);
      break;
    case 1:
      value = heavy(generator);
      break;
    case 2:
      value = std::max(0.0f, normal(generator));
      break;
    default:
      value = std::round(4 * normal(generator)) / 8 - 0.3f;
      break;
    }
  return values;
}

} // namespace mct::quantization

#endif // MCT_TEST_UNIT_QUANTIZATION_RANDOMVALUES_H
