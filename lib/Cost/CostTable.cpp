// SPDX-License-Identifier: Apache-2.0
#include "mct/Cost/CostTable.h"

#include "mct/Support/InputFile.h"
#include "mct/Support/ParseJson.h"
#include "mct/Support/Troubleshooting.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mct;
namespace json = llvm::json;

static constexpr StringRef kFormat = "mct-costs";
static constexpr int64_t kVersion = 1;

static std::string toText(json::Object form) {
  // The text is unique, since keys are sorted.
  return llvm::formatv("{0}", json::Value(std::move(form)));
}

/// Returns the members of an object that identify a layer, or none if one is
/// missing or of the wrong type.
static std::optional<json::Object> getForm(const json::Object &layer) {
  json::Object form;
  for (StringRef key : {"ops", "operands", "constants"}) {
    const json::Array *texts = layer.getArray(key);
    if (!texts || !llvm::all_of(*texts, [](const json::Value &text) {
          return text.getAsString().has_value();
        }))
      return std::nullopt;
    form[key] = json::Array(*texts);
  }
  std::optional<StringRef> result = layer.getString("result");
  const json::Object *attributes = layer.getObject("attributes");
  if (!result || !attributes)
    return std::nullopt;
  form["result"] = *result;
  form["attributes"] = json::Object(*attributes);
  return form;
}

static llvm::Error refuse(const llvm::Twine &why) {
  return llvm::createStringError(why);
}

llvm::Error CostTable::add(const json::Object &layer) {
  std::string which = "layer " + std::to_string(entries.size()) + ": ";
  std::optional<json::Object> form = getForm(layer);
  if (!form)
    return refuse(which + "expected lists of texts as 'ops', 'operands' and "
                          "'constants', a text as 'result' and an object as "
                          "'attributes'");
  Entry entry;
  entry.form = toText(std::move(*form));
  if (const json::Value *bits = layer.get("kernel_bits")) {
    entry.kernelBits = bits->getAsInteger();
    if (!entry.kernelBits || *entry.kernelBits <= 0)
      return refuse(which + "expected a positive integer as 'kernel_bits', or "
                            "none for kernels of any width");
  }
  const json::Array *points = layer.getArray("points");
  if (!points || points->empty())
    return refuse(which + "expected 'points', at least one");
  for (const json::Value &each : *points) {
    const json::Object *object = each.getAsObject();
    auto read = [&](StringRef key) {
      std::optional<int64_t> number =
          object ? object->getInteger(key) : std::nullopt;
      return number && *number >= 0 && *number <= int64_t(1) << 52
                 ? number
                 : std::nullopt;
    };
    auto bytes = read("compressed_bytes"), cycles = read("cycles"),
         memory = read("memory_bytes");
    if (!bytes || !cycles || !memory)
      return refuse(which + "expected whole numbers from 0 on as "
                            "'compressed_bytes', 'cycles' and 'memory_bytes' "
                            "of each of its 'points'");
    if (!entry.points.empty() && *bytes <= entry.points.back().compressedBytes)
      return refuse(which +
                    "expected 'points' by rising 'compressed_bytes', "
                    "found " +
                    llvm::Twine(*bytes) + " behind " +
                    llvm::Twine(entry.points.back().compressedBytes));
    entry.points.push_back({*bytes, {*cycles, *memory}});
  }
  for (auto [number, other] : llvm::enumerate(entries))
    if (other.form == entry.form && other.kernelBits == entry.kernelBits)
      return refuse(which + "it has the form of layer " + llvm::Twine(number) +
                    "; join their 'points'");
  entries.push_back(std::move(entry));
  return llvm::Error::success();
}

llvm::Expected<CostTable> CostTable::read(StringRef path) {
  auto fail = [&](const llvm::Twine &why) {
    return llvm::createStringError(
        "cannot read costs from '" + path + "': " + why +
        llvm::Twine(support::kTroubleshooting) + "a-cost-table-cannot-be-used");
  };
  auto buffer = support::readInputFile(path);
  if (!buffer)
    return fail(llvm::toString(buffer.takeError()));
  llvm::Expected<json::Value> value =
      support::parseJson((*buffer)->getBuffer());
  if (!value)
    return fail(llvm::toString(value.takeError()));
  const json::Object *document = value->getAsObject();
  if (!document || document->getString("format") != kFormat)
    return fail("expected an object with \"format\": \"" + kFormat + "\"");
  if (document->getInteger("version") != kVersion)
    return fail("expected version " + llvm::Twine(kVersion) +
                "; write the table again with mct.cost.write_table");
  std::optional<StringRef> device = document->getString("device");
  const json::Array *layers = document->getArray("layers");
  if (!device || !layers)
    return fail("expected a text as 'device' and a list of 'layers'");
  CostTable table;
  table.path = path.str();
  table.device = device->str();
  for (const json::Value &each : *layers) {
    const json::Object *layer = each.getAsObject();
    if (!layer)
      return fail("expected objects as 'layers'");
    if (llvm::Error error = table.add(*layer))
      return fail(llvm::toString(std::move(error)));
  }
  return table;
}

/// Returns the value at `at` on the line through two points.
static int64_t interpolate(int64_t at, int64_t x0, int64_t y0, int64_t x1,
                           int64_t y1) {
  return y0 + std::llround(double(y1 - y0) * double(at - x0) / double(x1 - x0));
}

std::optional<LayerCost> CostTable::find(const CostedLayer &layer,
                                         std::optional<int64_t> kernelBits,
                                         int64_t compressedBytes) const {
  std::string form = toText(layer.form);
  const Entry *found = nullptr;
  for (const Entry &entry : entries) {
    if (entry.form != form)
      continue;
    if (!entry.kernelBits && !found)
      found = &entry;
    if (entry.kernelBits && entry.kernelBits == kernelBits)
      found = &entry;
  }
  if (!found)
    return std::nullopt;
  ArrayRef<Point> points = found->points;
  if (points.size() == 1 || compressedBytes <= points.front().compressedBytes)
    return points.front().cost;
  size_t last = 1;
  while (last + 1 < points.size() &&
         points[last].compressedBytes < compressedBytes)
    ++last;
  const Point &before = points[last - 1], &after = points[last];
  LayerCost cost;
  cost.cycles =
      interpolate(compressedBytes, before.compressedBytes, before.cost.cycles,
                  after.compressedBytes, after.cost.cycles);
  cost.memoryBytes = interpolate(compressedBytes, before.compressedBytes,
                                 before.cost.memoryBytes, after.compressedBytes,
                                 after.cost.memoryBytes);
  // Beyond the last point, do not extrapolate a falling line.
  if (compressedBytes > points.back().compressedBytes) {
    cost.cycles = std::max(cost.cycles, points.back().cost.cycles);
    cost.memoryBytes =
        std::max(cost.memoryBytes, points.back().cost.memoryBytes);
  }
  return cost;
}

LogicalResult CostTable::reportMissing(const CostedLayer &layer) const {
  InFlightDiagnostic diagnostic = layer.op->emitError()
                                  << "costs of '" << layer.name
                                  << "' are not in '" << path << "'";
  if (std::optional<int64_t> bits = layer.getKernelBits())
    diagnostic << " for a kernel of " << *bits << " bits";
  diagnostic.attachNote()
      << "the layer is " << toText(layer.form)
      << "; write a table of this network with mct.cost.write_table"
      << support::kTroubleshooting << "a-cost-table-cannot-be-used";
  return diagnostic;
}

/// Returns the path of a device's cost table, which is relative to the file
/// that describes the device.
static std::string resolve(tpc::CostTableOp fact) {
  StringRef named = fact.getPath();
  auto place = fact->getLoc()->findInstanceOf<FileLineColLoc>();
  if (llvm::sys::path::is_absolute(named) || !place)
    return named.str();
  SmallString<128> path(
      llvm::sys::path::parent_path(place.getFilename().getValue()));
  llvm::sys::path::append(path, named);
  return path.str().str();
}

FailureOr<std::optional<CostTable>>
mct::findCostTable(StringRef path, Device *device, ModuleOp module) {
  Location at = module.getLoc();
  std::string chosen = path.str();
  if (device && path.empty())
    if (auto fact = device->getFact<tpc::CostTableOp>()) {
      chosen = resolve(fact);
      at = fact.getLoc();
    }
  if (chosen.empty())
    return std::optional<CostTable>();
  llvm::Expected<CostTable> table = CostTable::read(chosen);
  if (!table)
    return emitError(at) << llvm::toString(table.takeError());
  if (device && device->get()) {
    tpc::DeviceOp described = device->get();
    bool isOfDevice =
        described.getSymName() == table->getDevice() ||
        llvm::any_of(described.getConfigurations().getAsRange<StringAttr>(),
                     [&](StringAttr name) {
                       return name.getValue() == table->getDevice();
                     });
    if (!isOfDevice)
      return emitError(at) << "the costs in '" << chosen << "' are of '"
                           << table->getDevice() << "', and not of '"
                           << described.getSymName()
                           << "'; give the table of this device";
  }
  return std::optional<CostTable>(std::move(*table));
}
