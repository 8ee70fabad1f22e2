// SPDX-License-Identifier: Apache-2.0
//
// Statistics of the average precision of detectors, from detections that
// pycocotools matched with the ground-truth boxes.
#ifndef MCT_EVALUATION_PRECISION_H
#define MCT_EVALUATION_PRECISION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdint>
#include <vector>

namespace mct::execution {

/// Detections of one class in all images, in descending order of confidence.
struct MatchedClass {
  /// Image of each detection, and the overlap thresholds (a bit each) at which
  /// it is matched with a box.
  std::vector<uint32_t> images, matches;
  /// Number of ground-truth boxes in each image.
  std::vector<uint32_t> boxes;
};

/// Detections of a network.
struct MatchedDetections {
  std::vector<MatchedClass> classes;
  unsigned numOverlaps = 1;

  /// Returns the average precision of images with these counts, as COCO defines
  /// it: the mean over classes that have boxes, over overlap thresholds, and
  /// over recalls of 0, 0.01, …, 1. NaN if there is no box.
  double aggregate(llvm::ArrayRef<uint32_t> counts) const;
};

} // namespace mct::execution

#endif // MCT_EVALUATION_PRECISION_H
