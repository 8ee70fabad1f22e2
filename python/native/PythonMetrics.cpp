// SPDX-License-Identifier: Apache-2.0
//
// Python classes for metrics that the caller has computed.
#include "PythonHosts.h"

namespace nb = nanobind;
using namespace nb::literals;

using mct::python::MatchedClasses;

mct::execution::MatchedDetections
mct::python::toDetections(const MatchedClasses &classes, unsigned overlaps) {
  mct::execution::MatchedDetections made;
  for (const auto &[images, matches, boxes] : classes)
    made.classes.push_back({images, matches, boxes});
  made.numOverlaps = overlaps;
  return made;
}

void mct::python::defineMetrics(nb::module_ &m) {
  using mct::python::UserMetric;
  using Numbers = std::vector<double>;
  nb::class_<UserMetric>(
      m, "UserMetric",
      "A metric that others computed: of a network, of the float one "
      "(`reference`) and of the integer one: a number for each sample, or, "
      "without `has_rows`, one for all.")
      .def(
          "__init__",
          [](UserMetric *self, const std::string &name, bool isHigherBetter,
             int64_t samples, const Numbers &values, const Numbers &reference,
             const Numbers &integer, bool hasRows) {
            new (self)
                UserMetric{name,    isHigherBetter, samples, values, reference,
                           integer, hasRows,        {},      {},     {}};
          },
          "name"_a, "is_higher_better"_a, "samples"_a, "values"_a,
          "reference"_a = Numbers(), "integer"_a = Numbers(),
          "has_rows"_a = true,
          nb::sig("def __init__(self, name: str, is_higher_better: bool, "
                  "samples: int, values: collections.abc.Sequence[float], "
                  "reference: collections.abc.Sequence[float] = (), integer: "
                  "collections.abc.Sequence[float] = (), has_rows: bool = "
                  "True) -> None"))
      .def(
          "set_detections",
          [](UserMetric &self, size_t network, const MatchedClasses &classes,
             unsigned overlaps) {
            std::optional<mct::execution::MatchedDetections> *of[] = {
                &self.detections, &self.referenceDetections,
                &self.integerDetections};
            *of[network] = toDetections(classes, overlaps);
          },
          "network"_a, "classes"_a, "overlaps"_a,
          nb::sig("def set_detections(self, network: int, classes: "
                  "collections.abc.Sequence[tuple[collections.abc.Sequence[int]"
                  ", collections.abc.Sequence[int], "
                  "collections.abc.Sequence[int]]], overlaps: int) -> None"),
          "Say what the average precision of a network (0: itself, 1: the "
          "reference, 2: the integer one) is made of: for each class the "
          "images of its detections, the most certain first, the bits of the "
          "overlaps at which they are matched, and the number of boxes of each "
          "image.")
      .def("print", &UserMetric::print,
           nb::call_guard<nb::gil_scoped_release>(),
           "The JSON object that mct-run prints of a metric.");
  m.def(
      "average_precision",
      [](const MatchedClasses &classes, unsigned overlaps,
         const std::vector<uint32_t> &counts) {
        return toDetections(classes, overlaps).aggregate(counts);
      },
      "classes"_a, "overlaps"_a, "counts"_a,
      nb::sig("def average_precision(classes: "
              "collections.abc.Sequence[tuple[collections.abc.Sequence[int], "
              "collections.abc.Sequence[int], collections.abc.Sequence[int]]], "
              "overlaps: int, counts: collections.abc.Sequence[int]) -> float"),
      "The average precision of images that count so often; `classes` and "
      "`overlaps` as for `UserMetric.set_detections`.");
}
