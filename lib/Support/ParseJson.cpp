// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/ParseJson.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

namespace json = llvm::json;

/// The text of a member's name; escapes are ways to write the same name.
static std::string unescape(llvm::StringRef quoted) {
  if (!quoted.contains('\\'))
    return quoted.drop_front().drop_back().str();
  llvm::Expected<json::Value> value = json::parse(quoted);
  if (!value) {
    // The parser has reported the error and its position.
    llvm::consumeError(value.takeError());
    return quoted.str();
  }
  return value->getAsString().value_or(quoted).str();
}

llvm::Expected<json::Value> mct::support::parseJson(llvm::StringRef text) {
  // Arrays among the objects and arrays around a place are empty.
  llvm::SmallVector<llvm::StringSet<>> names;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
    case '[':
    case '{':
      if (names.size() == kMaxJsonDepth)
        return llvm::createStringError("more than %u levels of nesting",
                                       kMaxJsonDepth);
      names.emplace_back();
      break;
    case ']':
    case '}':
      if (!names.empty())
        names.pop_back();
      break;
    case '"': {
      size_t begin = i++;
      for (; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\')
          ++i;
      llvm::StringRef quoted = text.slice(begin, i + 1);
      if (names.empty() || !text.drop_front(std::min(i + 1, text.size()))
                                .ltrim(" \t\r\n")
                                .starts_with(":"))
        break;
      std::string name = unescape(quoted);
      if (!names.back().insert(name).second)
        return llvm::createStringError("one object has two members '" + name +
                                       "'");
      break;
    }
    default:
      break;
    }
  }
  return json::parse(text);
}
