// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/Npy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mct::support;

static llvm::Error failFile(const llvm::Twine &path,
                            const llvm::Twine &message) {
  return llvm::createStringError("'" + path + "': " + message);
}

static std::string systemErrorText() { return std::strerror(errno); }

namespace {
struct ElementTypeInfo {
  llvm::StringLiteral name;
  size_t bytes;
  llvm::StringLiteral descriptor;
};
} // namespace

/// Types in the order of ElementType.
static constexpr ElementTypeInfo kElementTypes[] = {
    {"f16", 2, "<f2"}, {"f32", 4, "<f4"}, {"f64", 8, "<f8"}, {"i8", 1, "|i1"},
    {"u8", 1, "|u1"},  {"i16", 2, "<i2"}, {"u16", 2, "<u2"}, {"i32", 4, "<i4"},
    {"u32", 4, "<u4"}, {"i64", 8, "<i8"}, {"bool", 1, "|b1"}};

llvm::StringRef mct::support::getName(ElementType type) {
  return kElementTypes[size_t(type)].name;
}

size_t mct::support::getByteSize(ElementType type) {
  return kElementTypes[size_t(type)].bytes;
}

static llvm::StringRef getDescriptor(ElementType type) {
  return kElementTypes[size_t(type)].descriptor;
}

static std::optional<ElementType> parseDescriptor(llvm::StringRef text) {
  // The byte order of one byte does not matter.
  llvm::StringRef kind = text;
  if (kind.size() == 3 && kind.back() == '1' &&
      llvm::StringRef("|<>=").contains(kind.front()))
    kind = kind.drop_front();
  for (auto [index, info] : llvm::enumerate(kElementTypes))
    if (kind == info.descriptor.drop_front(info.bytes == 1 ? 1 : 0))
      return ElementType(index);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Header
//===----------------------------------------------------------------------===//

namespace {

/// The Python dictionary of a header: `{'descr': '<f4', 'fortran_order': False,
/// 'shape': (2, 3), }`.
class HeaderParser {
public:
  explicit HeaderParser(llvm::StringRef text) : rest(text) {}

  /// Empty without an error, or else the error.
  std::string parse();

  llvm::StringRef descriptor;
  bool hasDescriptor = false, hasOrder = false, hasShape = false;
  bool fortranOrder = false;
  llvm::SmallVector<int64_t> shape;

private:
  bool consume(llvm::StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  bool string(llvm::StringRef &value) {
    rest = rest.ltrim();
    if (rest.empty() || (rest.front() != '\'' && rest.front() != '"'))
      return false;
    size_t end = rest.find(rest.front(), 1);
    if (end == llvm::StringRef::npos)
      return false;
    value = rest.slice(1, end);
    rest = rest.drop_front(end + 1);
    return true;
  }
  bool tuple();

  llvm::StringRef rest;
};

} // namespace

bool HeaderParser::tuple() {
  shape.clear();
  if (!consume("("))
    return false;
  while (!consume(")")) {
    int64_t size;
    rest = rest.ltrim();
    if (rest.consumeInteger(10, size) || size < 0)
      return false;
    // Python 2 wrote long integers so.
    rest.consume_front("L");
    shape.push_back(size);
    if (!consume(",")) {
      if (!consume(")"))
        return false;
      break;
    }
  }
  return true;
}

std::string HeaderParser::parse() {
  if (!consume("{"))
    return "the header is not a dictionary";
  while (!consume("}")) {
    llvm::StringRef key;
    if (!string(key) || !consume(":"))
      return "the header is not a dictionary";
    if (key == "descr") {
      hasDescriptor = true;
      if (!string(descriptor))
        return "structured types are not supported";
    } else if (key == "fortran_order") {
      hasOrder = true;
      fortranOrder = consume("True");
      if (!fortranOrder && !consume("False"))
        return "'fortran_order' is neither True nor False";
    } else if (key == "shape") {
      hasShape = true;
      if (!tuple())
        return "'shape' is not a tuple of sizes";
    } else {
      return ("the header has an unknown key '" + key + "'").str();
    }
    if (!consume(",")) {
      if (!consume("}"))
        return "the header is not a dictionary";
      break;
    }
  }
  if (!hasDescriptor || !hasOrder || !hasShape)
    return "the header lacks 'descr', 'fortran_order' or 'shape'";
  return "";
}

/// Finds where the dictionary of a header begins and ends; the end may be
/// after that of `bytes`.
static llvm::Expected<std::pair<size_t, size_t>>
findDictionary(llvm::ArrayRef<char> bytes, llvm::StringRef path) {
  constexpr llvm::StringLiteral kMagic = "\x93NUMPY";
  llvm::StringRef text(bytes.data(), bytes.size());
  if (!text.starts_with(kMagic))
    return failFile(path, "expected a .npy file, found other contents");
  if (text.size() < kMagic.size() + 2)
    return failFile(path, "truncated: the header is incomplete");
  auto major = static_cast<unsigned char>(text[kMagic.size()]);
  if (major < 1 || major > 3)
    return failFile(path, "expected .npy format version 1, 2 or 3, found " +
                              llvm::Twine(unsigned(major)));
  size_t lengthBytes = major == 1 ? 2 : 4;
  size_t lengthOffset = kMagic.size() + 2;
  size_t begin = lengthOffset + lengthBytes;
  if (text.size() < begin)
    return failFile(path, "truncated: the header is incomplete");
  size_t length = 0;
  for (size_t i = 0; i < lengthBytes; ++i)
    length |= size_t(static_cast<unsigned char>(text[lengthOffset + i]))
              << (8 * i);
  if (length > kMaxNpyHeader)
    return failFile(path, "malformed .npy header: it has " +
                              llvm::Twine(length) + " bytes, more than " +
                              llvm::Twine(kMaxNpyHeader));
  return std::pair(begin, begin + length);
}

llvm::Expected<NpyHeader>
mct::support::parseNpyHeader(llvm::ArrayRef<char> bytes, llvm::StringRef path) {
  auto dictionary = findDictionary(bytes, path);
  if (!dictionary)
    return dictionary.takeError();
  auto [begin, end] = *dictionary;
  if (bytes.size() < end)
    return failFile(path, "truncated: the header is incomplete");
  HeaderParser parser(llvm::StringRef(bytes.data(), end).drop_front(begin));
  if (std::string problem = parser.parse(); !problem.empty())
    return failFile(path, "malformed .npy header: " + problem);
  std::optional<ElementType> type = parseDescriptor(parser.descriptor);
  if (!type)
    return failFile(path,
                    "expected elements of a supported little-endian type, "
                    "found '" +
                        parser.descriptor + "'");
  NpyHeader header;
  header.type = *type;
  header.shape = parser.shape;
  // For a vector both orders are one.
  header.fortranOrder = parser.fortranOrder && parser.shape.size() > 1;
  header.dataOffset = end;
  return header;
}

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

NpyFile::~NpyFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

/// Every file stays open while it is used; there may be more of them than a
/// process has by default.
static int openForReading(const char *path) {
  // A pipe without a writer must not block: it is refused.
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  int descriptor = ::open(path, kFlags);
  struct rlimit limit;
  if (descriptor >= 0 || errno != EMFILE ||
      ::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return descriptor;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return ::open(path, kFlags);
}

static llvm::StringRef describe(mode_t mode) {
  if (S_ISFIFO(mode))
    return "a pipe";
  if (S_ISDIR(mode))
    return "a folder";
  if (S_ISCHR(mode) || S_ISBLK(mode))
    return "a device";
  return "something else";
}

llvm::Expected<std::unique_ptr<NpyFile>> NpyFile::open(llvm::StringRef path) {
  std::unique_ptr<NpyFile> file(new NpyFile());
  file->given = path.str();
  file->descriptor = openForReading(file->given.c_str());
  struct stat status;
  if (file->descriptor < 0 || ::fstat(file->descriptor, &status) != 0)
    return failFile(path, "cannot open: " + systemErrorText());
  if (!S_ISREG(status.st_mode))
    return failFile(path,
                    "expected a regular file, which can be read more than "
                    "once, found " +
                        describe(status.st_mode));
  uint64_t fileSize = status.st_size;
  if (fileSize == 0)
    return failFile(path, "expected a .npy file, found an empty file");

  // Most headers end within 128 bytes.
  std::vector<char> start(std::min<uint64_t>(fileSize, 4096));
  if (llvm::Error error = file->read(0, start.size(), start.data()))
    return std::move(error);
  auto dictionary = findDictionary(start, path);
  if (!dictionary)
    return dictionary.takeError();
  if (dictionary->second > start.size() && dictionary->second <= fileSize) {
    start.resize(dictionary->second);
    if (llvm::Error error = file->read(0, start.size(), start.data()))
      return std::move(error);
  }
  auto header = parseNpyHeader(start, path);
  if (!header)
    return header.takeError();
  file->type = header->type;
  file->dimensions = header->shape;
  file->fortranOrder = header->fortranOrder;
  file->dataOffset = header->dataOffset;

  // Sizes come from the file; their product may be anything.
  uint64_t elements = 1, bytes = 0;
  bool overflow = false;
  for (int64_t size : file->dimensions) {
    bool step = false;
    elements = llvm::SaturatingMultiply<uint64_t>(elements, size, &step);
    overflow |= step;
  }
  bool step = false;
  bytes = llvm::SaturatingMultiply<uint64_t>(elements, getByteSize(file->type),
                                             &step);
  overflow |= step || bytes > uint64_t(INT64_MAX);
  uint64_t found = fileSize - file->dataOffset;
  if (overflow)
    return failFile(path, "its shape is too large");
  if (found < bytes)
    return failFile(path, "truncated: expected " + llvm::Twine(bytes) +
                              " bytes of data, found " + llvm::Twine(found));
  if (found > bytes)
    return failFile(path, "expected " + llvm::Twine(bytes) +
                              " bytes of data, found " + llvm::Twine(found));
  file->elements = elements;
  return std::move(file);
}

llvm::Error NpyFile::read(uint64_t offset, size_t size, void *to) const {
  auto *position = static_cast<char *>(to);
  uint64_t begin = dataOffset + offset;
  while (size > 0) {
    ssize_t count = ::pread(descriptor, position, size, begin);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return failFile(given, "cannot read: " + systemErrorText());
    if (count == 0)
      return failFile(given, "truncated while it was read: expected bytes at " +
                                 llvm::Twine(begin) + ", found the end");
    position += count;
    begin += count;
    size -= count;
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Writer
//===----------------------------------------------------------------------===//

NpyWriter::NpyWriter(llvm::StringRef path)
    : path(path.str()), file(std::make_unique<OutputFile>(path)) {}

NpyWriter::~NpyWriter() = default;

llvm::Expected<std::unique_ptr<NpyWriter>>
NpyWriter::create(llvm::StringRef path, ElementType type,
                  llvm::ArrayRef<int64_t> shape) {
  std::unique_ptr<NpyWriter> writer(new NpyWriter(path));
  if (llvm::Error error = writer->file->open())
    return std::move(error);

  std::string header = "{'descr': '" + getDescriptor(type).str() +
                       "', 'fortran_order': False, 'shape': (";
  uint64_t elements = 1;
  for (int64_t size : shape) {
    header += std::to_string(size) + ", ";
    elements *= size;
  }
  if (shape.size() > 1)
    header.resize(header.size() - 2);
  else if (shape.size() == 1)
    header.pop_back();
  header += "), }";
  // Data begin at a multiple of 64, the header ends in a line break.
  size_t total = llvm::alignTo(10 + header.size() + 1, 64);
  header.resize(total - 10 - 1, ' ');
  header += '\n';
  std::string start("\x93NUMPY\x01\x00", 8);
  start += static_cast<char>(header.size() & 0xff);
  start += static_cast<char>(header.size() >> 8);
  start += header;
  *writer->file << start;
  writer->expectedBytes = elements * getByteSize(type);
  return std::move(writer);
}

void NpyWriter::write(const void *data, size_t bytes) {
  file->write(static_cast<const char *>(data), bytes);
  writtenBytes += bytes;
}

llvm::Error NpyWriter::commit() {
  if (writtenBytes != expectedBytes)
    return failFile(path, "expected " + llvm::Twine(expectedBytes) +
                              " bytes of data, " + llvm::Twine(writtenBytes) +
                              " were written");
  return file->keep();
}
