// SPDX-License-Identifier: Apache-2.0
#include "mct/Calibration/PointStatistics.h"
#include "mct/Support/MeasuredFile.h"
#include "mct/Support/OutputFile.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mct;
using namespace mct::calibration;
using mct::quantization::ChannelStatistics;
using mct::quantization::ExactSum;
using mct::quantization::Histogram;
namespace json = llvm::json;

static constexpr llvm::StringLiteral kFormat = "mct-statistics";

llvm::Error StatisticsFile::merge(const std::string &name,
                                  const PointStatistics &added) {
  auto [present, isNew] = points.try_emplace(name, added);
  if (isNew)
    return llvm::Error::success();
  if (llvm::Error error = present->second.merge(added))
    return llvm::createStringError("statistics of '" + name +
                                   "': " + llvm::toString(std::move(error)));
  return llvm::Error::success();
}

llvm::Error StatisticsFile::merge(const StatisticsFile &other) {
  instructionSets.insert(other.instructionSets.begin(),
                         other.instructionSets.end());
  for (const auto &[name, point] : other.points)
    if (llvm::Error error = merge(name, point))
      return error;
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static void writePoint(json::OStream &stream, const PointStatistics &point) {
  Histogram::Parts parts = point.histogram.parts();
  stream.attribute("min", double(parts.min));
  stream.attribute("max", double(parts.max));
  stream.attribute("zeros", parts.zeros);
  stream.attribute("exponent", parts.exponent);
  stream.attribute("first", parts.firstBin);
  stream.attributeArray("counts", [&] {
    for (uint64_t count : parts.counts)
      stream.value(count);
  });
  if (!point.channels)
    return;
  stream.attributeArray("channels", [&] {
    for (const ChannelStatistics::Channel &channel : point.channels->channels())
      stream.object([&] {
        stream.attribute("count", channel.count);
        stream.attribute("min", double(channel.min));
        stream.attribute("max", double(channel.max));
        stream.attribute("sum", channel.sum.toHex());
        stream.attribute("sum_of_squares", channel.sumOfSquares.toHex());
      });
  });
}

static void writePoints(json::OStream &stream, const StatisticsMap &points) {
  for (const auto &entry : points)
    stream.attributeObject(entry.first,
                           [&] { writePoint(stream, entry.second); });
}

json::Value StatisticsFile::pointsToJson() const {
  std::string text;
  {
    llvm::raw_string_ostream buffer(text);
    json::OStream stream(buffer);
    stream.object([&] { writePoints(stream, points); });
  }
  // The text has just been written, and can be read.
  return llvm::cantFail(json::parse(text));
}

llvm::Error StatisticsFile::save(llvm::StringRef path) const {
  support::OutputFile file(path);
  {
    json::OStream stream(file, /*IndentSize=*/1);
    stream.object([&] {
      support::writeMeasuredHeader(stream, kFormat, instructionSets);
      stream.attributeObject("points", [&] { writePoints(stream, points); });
    });
  }
  file << '\n';
  return file.keep();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Returns an exact sum in the file's spelling.
static bool readSum(const json::Object &object, llvm::StringRef key,
                    ExactSum &sum, json::Path path) {
  auto text = object.getString(key);
  if (!text) {
    path.field(key).report("expected a hexadecimal string");
    return false;
  }
  llvm::Expected<ExactSum> parsed = ExactSum::fromHex(*text);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    path.field(key).report("not a hexadecimal sum");
    return false;
  }
  sum = *parsed;
  return true;
}

static bool readFloat(const json::Object &object, llvm::StringRef key,
                      float &value, json::Path path) {
  auto number = object.getNumber(key);
  if (!number || !std::isfinite(*number) || double(float(*number)) != *number) {
    path.field(key).report("expected a finite f32 number");
    return false;
  }
  value = float(*number);
  return true;
}

static bool readUnsigned(const json::Value *field, uint64_t &value,
                         json::Path path) {
  std::optional<uint64_t> number = field ? field->getAsUINT64() : std::nullopt;
  if (!number) {
    path.report("expected a count");
    return false;
  }
  value = *number;
  return true;
}

/// Returns whether some values between the extremes have these sums. The
/// quotients are rounded once each.
static bool isPossible(const ChannelStatistics::Channel &channel) {
  constexpr double kRounding = 1e-12;
  double count = double(channel.count);
  double largest = std::max(std::fabs(channel.min), std::fabs(channel.max));
  double slack = kRounding * largest;
  double mean = channel.mean();
  double meanSquare = channel.sumOfSquares.round() / count;
  return channel.count > 0 && channel.min <= channel.max &&
         mean >= channel.min - slack && mean <= channel.max + slack &&
         meanSquare >= mean * mean - slack * largest &&
         meanSquare <= largest * (largest + slack);
}

static bool readChannels(const json::Array &array, PointStatistics &point,
                         json::Path path) {
  std::vector<ChannelStatistics::Channel> channels;
  uint64_t counted = 0;
  for (size_t index = 0; index != array.size(); ++index) {
    json::Path at = path.index(unsigned(index));
    const json::Object *object = array[index].getAsObject();
    if (!object) {
      at.report("expected an object");
      return false;
    }
    ChannelStatistics::Channel &channel = channels.emplace_back();
    if (!readUnsigned(object->get("count"), channel.count, at.field("count")) ||
        !readFloat(*object, "min", channel.min, at) ||
        !readFloat(*object, "max", channel.max, at) ||
        !readSum(*object, "sum", channel.sum, at) ||
        !readSum(*object, "sum_of_squares", channel.sumOfSquares, at))
      return false;
    if (!isPossible(channel)) {
      at.report("sums that no values between 'min' and 'max' have");
      return false;
    }
    // No sum of counts overflows that is compared with the histogram's.
    if (channel.count > point.histogram.count() - counted) {
      at.field("count").report("more values in the channels than in the "
                               "histogram");
      return false;
    }
    counted += channel.count;
  }
  if (!channels.empty() && counted != point.histogram.count()) {
    path.report("fewer values in the channels than in the histogram");
    return false;
  }
  point.channels = ChannelStatistics::fromChannels(std::move(channels));
  return true;
}

static bool readInteger(const json::Object &object, llvm::StringRef key,
                        int &value, json::Path path) {
  auto number = object.getInteger(key);
  if (!number || int64_t(int(*number)) != *number) {
    path.field(key).report("expected a small integer");
    return false;
  }
  value = int(*number);
  return true;
}

static bool readPoint(const json::Value &value, PointStatistics &point,
                      json::Path path, std::string &impossible) {
  const json::Object *object = value.getAsObject();
  if (!object) {
    path.report("expected an object");
    return false;
  }
  Histogram::Parts parts;
  const json::Array *counts = object->getArray("counts");
  if (!readFloat(*object, "min", parts.min, path) ||
      !readFloat(*object, "max", parts.max, path) ||
      !readUnsigned(object->get("zeros"), parts.zeros, path.field("zeros")) ||
      !readInteger(*object, "exponent", parts.exponent, path) ||
      !readInteger(*object, "first", parts.firstBin, path))
    return false;
  if (!counts) {
    path.field("counts").report("expected an array");
    return false;
  }
  for (size_t index = 0; index != counts->size(); ++index)
    if (!readUnsigned(&(*counts)[index], parts.counts.emplace_back(),
                      path.field("counts").index(unsigned(index))))
      return false;
  llvm::Expected<Histogram> histogram = Histogram::fromParts(parts);
  if (!histogram) {
    impossible = llvm::toString(histogram.takeError());
    path.report("not a histogram");
    return false;
  }
  if (histogram->count() > uint64_t(std::numeric_limits<int64_t>::max())) {
    path.field("counts").report("more values than can be counted");
    return false;
  }
  point.histogram = *histogram;
  const json::Value *channels = object->get("channels");
  if (!channels)
    return true;
  if (!channels->getAsArray()) {
    path.field("channels").report("expected an array");
    return false;
  }
  return readChannels(*channels->getAsArray(), point, path.field("channels"));
}

static bool readPoints(const json::Object &object, StatisticsMap &points,
                       json::Path path, std::string &impossible) {
  for (const auto &[name, value] : object)
    if (!readPoint(value, points[name.str()], path.field(name), impossible))
      return false;
  return true;
}

static llvm::Error describe(json::Path::Root &root,
                            const std::string &impossible) {
  std::string message = llvm::toString(root.getError());
  if (!impossible.empty())
    message += ": " + impossible;
  return llvm::createStringError(message);
}

llvm::Expected<StatisticsMap>
StatisticsFile::pointsFromJson(const json::Object &points) {
  StatisticsMap map;
  json::Path::Root root("points");
  std::string impossible;
  if (!readPoints(points, map, root, impossible))
    return describe(root, impossible);
  return map;
}

llvm::Expected<StatisticsFile> StatisticsFile::load(llvm::StringRef path) {
  StatisticsFile file;
  llvm::Error error = support::readMeasuredFile(
      path, kFormat, file.instructionSets,
      [&](json::Object &object, json::Path at, std::string &impossible) {
        const json::Object *points = object.getObject("points");
        if (!points) {
          at.field("points").report("expected an object");
          return false;
        }
        return readPoints(*points, file.points, at.field("points"), impossible);
      });
  if (error)
    return std::move(error);
  return file;
}
