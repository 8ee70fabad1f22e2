// SPDX-License-Identifier: Apache-2.0
//
// Callbacks of the compiler to quantizers and losses that are written in
// Python. Compiled with exceptions, which are those of Python.
#ifndef MCT_PYTHON_NATIVE_PYTHONHOSTS_H
#define MCT_PYTHON_NATIVE_PYTHONHOSTS_H

#include "Module.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <utility>

namespace mct::python {

namespace nb = nanobind;

/// Defines the classes for results of a user's metric.
void defineMetrics(nb::module_ &m);

//===----------------------------------------------------------------------===//
// Quantizers written in Python
//===----------------------------------------------------------------------===//

inline nb::object toPython(mlir::Attribute attribute) {
  if (auto text = mlir::dyn_cast<mlir::StringAttr>(attribute))
    return nb::str(text.getValue().data(), text.getValue().size());
  if (auto truth = mlir::dyn_cast<mlir::BoolAttr>(attribute))
    return nb::bool_(truth.getValue());
  if (auto number = mlir::dyn_cast<mlir::IntegerAttr>(attribute))
    return nb::int_(number.getValue().getSExtValue());
  if (auto number = mlir::dyn_cast<mlir::FloatAttr>(attribute))
    return nb::float_(number.getValueAsDouble());
  if (auto items = mlir::dyn_cast<mlir::ArrayAttr>(attribute)) {
    nb::list list;
    for (mlir::Attribute item : items)
      list.append(toPython(item));
    return list;
  }
  nb::dict dictionary;
  if (auto entries = mlir::dyn_cast<mlir::DictionaryAttr>(attribute)) {
    for (mlir::NamedAttribute entry : entries)
      dictionary[nb::str(entry.getName().data(), entry.getName().size())] =
          toPython(entry.getValue());
    return dictionary;
  }
  // `unit`, and attributes that configurations of Python do not contain.
  return nb::none();
}

/// Wraps arrays for a call that keeps none of them.
template <typename Sizes, typename Values>
nb::object view(const Sizes &shape, Values values) {
  using Element = std::remove_pointer_t<decltype(values.data())>;
  std::vector<size_t> sizes(shape.begin(), shape.end());
  return nb::cast(nb::ndarray<nb::numpy, Element>(values.data(), sizes.size(),
                                                  sizes.data(), nb::none()),
                  nb::rv_policy::reference);
}

/// The exception that a callback has raised first.
struct Raised {
  std::exception_ptr first;

  /// Runs `work` with the interpreter's lock, and turns an exception into an
  /// error.
  template <typename Work> llvm::Error guard(Work &&work) {
    nb::gil_scoped_acquire acquired;
    try {
      work();
      return llvm::Error::success();
    } catch (const std::exception &error) {
      std::string text = error.what();
      if (!first)
        first = std::current_exception();
      return llvm::createStringError(text);
    }
  }
};

/// An object of `mct._host`.
class PythonQuantizer : public mct::HostQuantizer {
public:
  PythonQuantizer(nb::object object, Raised &raised)
      : object(std::move(object)), raised(raised) {}
  ~PythonQuantizer() override {
    nb::gil_scoped_acquire acquired;
    object.reset();
  }

  llvm::Error quantize(llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<float> values, bool isTraining,
                       llvm::MutableArrayRef<float> results) override {
    return raised.guard([&] {
      object.attr("quantize")(view(shape, values), view(shape, results),
                              isTraining);
    });
  }
  llvm::Error backward(llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<float> values,
                       llvm::MutableArrayRef<float> gradients) override {
    return raised.guard([&] {
      object.attr("backward")(view(shape, values), view(shape, gradients));
    });
  }
  llvm::Expected<std::string> freeze() override {
    std::string text;
    if (llvm::Error error = raised.guard(
            [&] { text = nb::cast<std::string>(object.attr("freeze")()); }))
      return error;
    return text;
  }

private:
  nb::object object;
  Raised &raised;
};

inline mct::HostQuantizers::Factory makeHosts(Raised &raised) {
  return [&raised](const mct::HostPoint &point)
             -> llvm::Expected<std::shared_ptr<mct::HostQuantizer>> {
    std::shared_ptr<mct::HostQuantizer> made;
    if (llvm::Error error = raised.guard([&] {
          nb::list shape;
          for (int64_t size : point.type.getShape())
            if (mlir::ShapedType::isDynamic(size))
              shape.append(nb::none());
            else
              shape.append(size);
          nb::object found =
              nb::module_::import_("mct._host")
                  .attr("make")(toPython(point.quantizer.getName()),
                                toPython(point.quantizer.getConfig()),
                                point.name, nb::tuple(shape));
          if (!found.is_none())
            made = std::make_shared<PythonQuantizer>(std::move(found), raised);
        }))
      return error;
    return made;
  };
}

//===----------------------------------------------------------------------===//
// Training that Python looks at
//===----------------------------------------------------------------------===//

/// An object of `mct._host`.
class PythonTraining : public mct::TrainingHost {
public:
  /// Called with the interpreter's lock.
  explicit PythonTraining(nb::object object)
      : object(std::move(object)),
        watches(nb::cast<bool>(this->object.attr("watches_steps"))),
        computes(nb::cast<bool>(this->object.attr("has_loss"))),
        name(nb::cast<std::string>(this->object.attr("name"))) {}

  bool watchesSteps() const override { return watches; }
  llvm::Error afterStep(const mct::TrainingStepInfo &step,
                        llvm::ArrayRef<std::string> compared) override {
    return raised->guard([&] {
      nb::list gradients, values, names;
      for (const mct::TrainedTensor &tensor : step.trained) {
        const auto &shape = tensor.learned->initial.shape;
        gradients.append(view(shape, tensor.gradients));
        values.append(view(shape, tensor.values));
      }
      for (const std::string &each : compared)
        names.append(each);
      object.attr("after_step")(step.loss + step.regularizer, gradients, values,
                                names);
    });
  }

  bool hasLoss() const override { return computes; }
  llvm::Expected<double>
  computeLoss(llvm::ArrayRef<mct::ComparedShape> shapes,
              llvm::ArrayRef<mct::TrainingShard::Result> results,
              llvm::ArrayRef<double> weights) override {
    double loss = 0;
    if (llvm::Error error = raised->guard([&] {
          nb::list quantized, floats, gradients, counts;
          for (size_t number = 0; number != results.size(); ++number) {
            const mct::ComparedShape &shape = shapes[number];
            const mct::TrainingShard::Result &result = results[number];
            std::vector<int64_t> sizes{int64_t(result.values.size()) /
                                       std::max<int64_t>(shape.elements, 1)};
            sizes.insert(sizes.end(), shape.sizes.begin(), shape.sizes.end());
            quantized.append(view(sizes, result.values));
            floats.append(view(sizes, result.teacher));
            gradients.append(view(sizes, result.gradients));
          }
          for (double weight : weights)
            counts.append(weight);
          loss = nb::cast<double>(object.attr("compute_loss")(
              quantized, floats, counts, gradients));
        }))
      return error;
    return loss;
  }
  std::string describeLoss() const override { return name; }

  /// The exception of the call that trains.
  Raised *raised = nullptr;

private:
  nb::object object;
  bool watches, computes;
  std::string name;
};

//===----------------------------------------------------------------------===//
// Metrics that Python computes
//===----------------------------------------------------------------------===//

/// Images and matches of the detections of each class, and boxes of images.
using MatchedClasses =
    std::vector<std::tuple<std::vector<uint32_t>, std::vector<uint32_t>,
                           std::vector<uint32_t>>>;
mct::execution::MatchedDetections toDetections(const MatchedClasses &classes,
                                               unsigned overlaps);

/// An object of `mct._host`.
class PythonMetric : public mct::execution::MetricHost {
public:
  /// Called with the interpreter's lock.
  explicit PythonMetric(nb::object object)
      : object(std::move(object)),
        name(nb::cast<std::string>(this->object.attr("name"))) {}

  std::string getName() const override { return name; }
  llvm::Expected<Measured> measure(llvm::ArrayRef<Result> results,
                                   llvm::ArrayRef<int64_t> positions,
                                   int64_t samples) override {
    Measured measured;
    if (llvm::Error error = raised->guard([&] {
          nb::list outputs, places;
          for (const Result &result : results)
            outputs.append(view(result.shape, llvm::ArrayRef(result.values)));
          for (int64_t position : positions)
            places.append(position);
          nb::object found = object.attr("measure")(outputs, places, samples);
          if (nb::hasattr(found, "classes"))
            measured.detections =
                toDetections(nb::cast<MatchedClasses>(found.attr("classes")),
                             nb::cast<unsigned>(found.attr("overlaps")));
          else
            measured.values = nb::cast<std::vector<double>>(found);
        }))
      return error;
    return measured;
  }

  /// The exception of the present call.
  Raised *raised = nullptr;

private:
  nb::object object;
  std::string name;
};

} // namespace mct::python

#endif // MCT_PYTHON_NATIVE_PYTHONHOSTS_H
