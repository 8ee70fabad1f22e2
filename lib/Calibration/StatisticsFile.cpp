// SPDX-License-Identifier: Apache-2.0
#include "mct/Calibration/PointStatistics.h"
#include "mct/Execution/OutputFile.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mct;
using namespace mct::calibration;
using mct::quantization::ChannelStatistics;
using mct::quantization::ExactSum;
using mct::quantization::Histogram;
namespace json = llvm::json;

static constexpr llvm::StringLiteral kFormat = "mct-statistics";
static constexpr int64_t kVersion = 1;

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

llvm::Error StatisticsFile::save(llvm::StringRef path) const {
  execution::OutputFile file(path);
  {
    json::OStream stream(file, /*IndentSize=*/1);
    stream.object([&] {
      stream.attribute("format", kFormat);
      stream.attribute("version", kVersion);
      stream.attribute("instruction_set", instructionSet);
      stream.attributeObject("points", [&] {
        for (const auto &entry : points)
          stream.attributeObject(entry.first,
                                 [&] { writePoint(stream, entry.second); });
      });
    });
  }
  file << '\n';
  return file.keep();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// An exact sum in the file's spelling.
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

static bool readChannels(const json::Array &array, PointStatistics &point,
                         json::Path path) {
  std::vector<ChannelStatistics::Channel> channels;
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
  point.histogram = *histogram;
  const json::Array *channels = object->getArray("channels");
  return !channels || readChannels(*channels, point, path.field("channels"));
}

llvm::Expected<StatisticsFile> StatisticsFile::load(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (std::error_code error = buffer.getError())
    return llvm::createFileError(path, error);
  llvm::Expected<json::Value> document = json::parse((*buffer)->getBuffer());
  if (!document)
    return llvm::createFileError(path, document.takeError());

  StatisticsFile file;
  json::Path::Root root("statistics");
  json::Path at(root);
  std::string impossible;
  auto read = [&] {
    const json::Object *object = document->getAsObject();
    if (!object || object->getString("format") != kFormat) {
      at.report("expected an object with \"format\": \"mct-statistics\"");
      return false;
    }
    if (object->getInteger("version") != kVersion) {
      at.field("version").report("expected version 1");
      return false;
    }
    if (auto instructionSet = object->getString("instruction_set"))
      file.instructionSet = instructionSet->str();
    const json::Object *points = object->getObject("points");
    if (!points) {
      at.field("points").report("expected an object");
      return false;
    }
    for (const auto &[name, value] : *points)
      if (!readPoint(value, file.points[name.str()],
                     at.field("points").field(name), impossible))
        return false;
    return true;
  };
  if (read())
    return file;
  std::string message = llvm::toString(root.getError());
  if (!impossible.empty())
    message += ": " + impossible;
  return llvm::createFileError(path, llvm::createStringError(message));
}
