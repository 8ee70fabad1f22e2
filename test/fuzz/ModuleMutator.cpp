// SPDX-License-Identifier: Apache-2.0
#include "ModuleMutator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mct::fuzz;
using llvm::StringRef;

uint64_t Random::next() {
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static constexpr const char *kIntegers[] = {"0",
                                            "-1",
                                            "1",
                                            "2",
                                            "3",
                                            "7",
                                            "8",
                                            "9",
                                            "16",
                                            "31",
                                            "32",
                                            "33",
                                            "63",
                                            "64",
                                            "127",
                                            "-128",
                                            "255",
                                            "256",
                                            "65536",
                                            "1000000",
                                            "2147483647",
                                            "2147483648",
                                            "-2147483648",
                                            "4294967296",
                                            "4611686018427387904",
                                            "9223372036854775807",
                                            "-9223372036854775808",
                                            "18446744073709551615",
                                            "18446744073709551616"};
static constexpr const char *kFloats[] = {"0.0",
                                          "-0.0",
                                          "1.0",
                                          "-1.0",
                                          "0.5",
                                          "2.0",
                                          "1.0e-45",
                                          "1.0e-38",
                                          "1.17549435e-38",
                                          "3.0e38",
                                          "-3.0e38",
                                          "3.40282347e+38",
                                          "1.0e300",
                                          "1.0e-300",
                                          "1.0e400",
                                          "0x7F800000",
                                          "0xFF800000",
                                          "0x7FC00000",
                                          "0x7FF0000000000000",
                                          "0x7FF8000000000000"};
static constexpr const char *kElements[] = {
    "f32", "f32", "f16",   "bf16",     "f64",  "i1",
    "i4",  "i8",  "i16",   "i32",      "i48",  "i64",
    "ui8", "si8", "index", "f8E4M3FN", "i128", "complex<f32>"};
static constexpr const char *kSizes[] = {"0",
                                         "1",
                                         "1",
                                         "2",
                                         "3",
                                         "4",
                                         "5",
                                         "?",
                                         "?",
                                         "65536",
                                         "2147483648",
                                         "4611686018427387904",
                                         "9223372036854775807"};

/// Ops of one form: any of them stands where another one stands.
static const std::vector<std::vector<StringRef>> &opFamilies() {
  static const std::vector<std::vector<StringRef>> families = {
      {"tosa.sigmoid", "tosa.tanh", "tosa.exp", "tosa.log", "tosa.abs",
       "tosa.ceil", "tosa.floor", "tosa.reciprocal", "tosa.rsqrt", "tosa.erf",
       "tosa.sin", "tosa.cos", "tosa.identity", "tosa.cast", "tosa.clz",
       "tosa.logical_not", "tosa.bitwise_not"},
      {"tosa.add", "tosa.sub", "tosa.maximum", "tosa.minimum", "tosa.pow",
       "tosa.intdiv", "tosa.bitwise_and", "tosa.logical_or", "tosa.equal",
       "tosa.greater", "tosa.greater_equal", "tosa.logical_left_shift"},
      {"tosa.reduce_sum", "tosa.reduce_max", "tosa.reduce_min",
       "tosa.reduce_product", "tosa.reduce_all", "tosa.reverse", "tosa.argmax"},
      {"tosa.conv2d", "tosa.depthwise_conv2d", "tosa.conv3d",
       "tosa.transpose_conv2d"},
      {"tosa.max_pool2d", "tosa.avg_pool2d"},
      {"tosa.reshape", "tosa.tile", "tosa.slice", "tosa.transpose"},
      {"tosa.gather", "tosa.scatter", "tosa.table", "tosa.matmul"},
      {"arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf",
       "arith.minnumf", "math.powf", "arith.addi", "arith.muli", "arith.divsi"},
      {"math.exp", "math.tanh", "math.sqrt", "math.rsqrt", "math.erf",
       "arith.negf", "math.absf"},
      {"activation", "weight"},
      {"power_of_two", "symmetric", "uniform", "lut_pot_quantizer",
       "lut_sym_quantizer"},
  };
  return families;
}

std::vector<Token> mct::fuzz::split(StringRef text) {
  auto isName = [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$';
  };
  std::vector<Token> tokens;
  auto take = [&](Token::Kind kind, size_t length) {
    tokens.push_back({kind, text.take_front(length).str()});
    text = text.drop_front(length);
  };
  while (!text.empty()) {
    char c = text.front();
    if (c == '\n') {
      take(Token::NewLine, 1);
    } else if (c == ' ' || c == '\t') {
      take(
          Token::Space,
          text.take_while([](char s) { return s == ' ' || s == '\t'; }).size());
    } else if (text.starts_with("//")) {
      take(Token::Comment, std::min(text.find('\n'), text.size()));
    } else if (c == '"') {
      size_t end = 1;
      while (end < text.size() && text[end] != '"' && text[end] != '\n')
        end += text[end] == '\\' ? 2 : 1;
      take(Token::String, std::min(end + 1, text.size()));
    } else if (llvm::isDigit(c) ||
               (c == '-' && text.size() > 1 && llvm::isDigit(text[1]))) {
      size_t end = 1;
      while (end < text.size() &&
             (isName(text[end]) ||
              ((text[end] == '+' || text[end] == '-') &&
               (text[end - 1] == 'e' || text[end - 1] == 'E'))))
        ++end;
      take(Token::Number, end);
    } else if (c == '%' || c == '#' || c == '!' || c == '@' || c == '^') {
      size_t end = 1 + text.drop_front().take_while(isName).size();
      take(c == '%' ? Token::Value : Token::Alias, end);
    } else if (isName(c)) {
      StringRef word = text.take_while(isName);
      if (word == "tensor" && text.drop_front(6).starts_with("<")) {
        size_t end = 6;
        int depth = 0;
        do {
          depth += text[end] == '<' ? 1 : text[end] == '>' ? -1 : 0;
          ++end;
        } while (end < text.size() && depth > 0 && text[end] != '\n');
        take(Token::Type, end);
      } else {
        take(Token::Word, word.size());
      }
    } else {
      take(Token::Punctuation, 1);
    }
  }
  return tokens;
}

static std::string join(llvm::ArrayRef<Token> tokens) {
  std::string text;
  for (const Token &token : tokens)
    text += token.text;
  return text;
}

static std::vector<size_t> findAll(llvm::ArrayRef<Token> tokens,
                                   llvm::function_ref<bool(size_t)> matches) {
  std::vector<size_t> found;
  for (size_t i = 0; i != tokens.size(); ++i)
    if (matches(i))
      found.push_back(i);
  return found;
}

static std::vector<size_t> findAll(llvm::ArrayRef<Token> tokens,
                                   Token::Kind kind) {
  return findAll(tokens, [&](size_t i) { return tokens[i].kind == kind; });
}

/// Returns the place after the bracket that closes the one at `open`.
static size_t findEnd(llvm::ArrayRef<Token> tokens, size_t open) {
  int depth = 0;
  for (size_t i = open; i != tokens.size(); ++i) {
    if (tokens[i].kind != Token::Punctuation)
      continue;
    StringRef text = tokens[i].text;
    // The arrow is no bracket.
    if (text == ">" && i > 0 && tokens[i - 1].text == "-")
      continue;
    if (StringRef("([{<").contains(text))
      ++depth;
    else if (StringRef(")]}>").contains(text) && --depth <= 0)
      return i + 1;
  }
  return tokens.size();
}

/// Returns the place after the value of an entry that begins at `from`: the
/// comma or bracket that ends it.
static size_t findEntryEnd(llvm::ArrayRef<Token> tokens, size_t from) {
  for (size_t i = from; i < tokens.size();) {
    const Token &token = tokens[i];
    if (token.kind == Token::NewLine)
      return i;
    if (token.kind == Token::Punctuation) {
      if (StringRef("([{<").contains(token.text)) {
        i = findEnd(tokens, i);
        continue;
      }
      if (StringRef(")]}>,").contains(token.text))
        return i;
    }
    ++i;
  }
  return tokens.size();
}

static bool isClause(llvm::ArrayRef<Token> tokens, size_t i) {
  return (tokens[i].kind == Token::Word || tokens[i].kind == Token::Alias) &&
         i + 1 < tokens.size() &&
         (tokens[i + 1].text == "(" || tokens[i + 1].text == "<" ||
          tokens[i + 1].text == "[");
}

/// Returns the place where the value of the entry named at `i` begins; 0 for no
/// entry.
static size_t findEntry(llvm::ArrayRef<Token> tokens, size_t i) {
  if (tokens[i].kind != Token::Word || i + 3 >= tokens.size() ||
      tokens[i + 1].text != " " || tokens[i + 2].text != "=" ||
      tokens[i + 3].text != " ")
    return 0;
  return i + 4;
}

TextMutator::TextMutator(llvm::ArrayRef<std::string> modules) {
  auto add = [](std::vector<std::string> &list, std::string text) {
    if (text.size() < 1000 && !llvm::is_contained(list, text))
      list.push_back(std::move(text));
  };
  for (const std::string &module : modules) {
    std::vector<Token> tokens = split(module);
    llvm::ArrayRef<Token> all = tokens;
    for (size_t i = 0; i != tokens.size(); ++i) {
      if (tokens[i].kind == Token::Type)
        add(types, tokens[i].text);
      if (isClause(all, i))
        add(clauses[tokens[i].text],
            join(all.slice(i + 1, findEnd(all, i + 1) - i - 1)));
      if (size_t from = findEntry(all, i))
        add(entries[tokens[i].text],
            join(all.slice(from, findEntryEnd(all, from) - from)));
    }
  }
}

std::string TextMutator::mutate(StringRef text, Random &random) const {
  Tokens tokens = split(text);
  size_t count = 1;
  while (count < 6 && random.oneIn(3))
    ++count;
  for (size_t i = 0; i != count; ++i)
    mutateOnce(tokens, random);
  std::string mutated = join(tokens);
  // Bytes that are not text.
  if (random.oneIn(40) && !mutated.empty())
    mutated[random.below(mutated.size())] = char(random.next());
  if (random.oneIn(80))
    mutated.resize(random.below(mutated.size() + 1));
  return mutated;
}

void TextMutator::mutateOnce(Tokens &tokens, Random &random) const {
  if (tokens.empty())
    return;
  switch (random.below(20)) {
  case 0:
  case 1:
  case 2:
    return changeNumber(tokens, random);
  case 3:
    return changeType(tokens, random);
  case 4:
    return changeTypeEverywhere(tokens, random);
  case 5:
  case 6:
    return changeSizeEverywhere(tokens, random);
  case 7:
  case 8:
    return changeOperand(tokens, random);
  case 9:
  case 10:
    return changeOp(tokens, random);
  case 11:
    return changeLine(tokens, random);
  case 12:
  case 13:
  case 14:
    return changeClause(tokens, random);
  case 15:
  case 16:
    return changeEntry(tokens, random);
  case 17:
  case 18:
    return changeElements(tokens, random);
  default:
    return changeString(tokens, random);
  }
}

static std::string extreme(StringRef old, Random &random) {
  bool isFloat = old.contains('.') || old.contains_insensitive("0x");
  if (random.oneIn(60))
    isFloat = !isFloat;
  return isFloat ? random.pick(kFloats) : random.pick(kIntegers);
}

void TextMutator::changeNumber(Tokens &tokens, Random &random) const {
  std::vector<size_t> numbers = findAll(tokens, Token::Number);
  if (numbers.empty())
    return;
  Token &number = tokens[random.pick(numbers)];
  int64_t value = 0;
  if (random.oneIn(3) && !StringRef(number.text).getAsInteger(10, value))
    number.text = std::to_string(uint64_t(value) + (random.oneIn(2) ? 1 : -1));
  else if (random.oneIn(4))
    number.text = tokens[random.pick(numbers)].text;
  else
    number.text = extreme(number.text, random);
}

/// The dimensions and the element type of `tensor<…>`.
static std::vector<std::string> splitType(StringRef type) {
  StringRef inside = type.drop_front(7).drop_back(1);
  std::vector<std::string> parts;
  while (true) {
    StringRef size = inside.take_while(
        [](char c) { return llvm::isDigit(c) || c == '?' || c == '*'; });
    if (size.empty() || !inside.drop_front(size.size()).starts_with("x"))
      break;
    parts.push_back(size.str());
    inside = inside.drop_front(size.size() + 1);
  }
  parts.push_back(inside.str());
  return parts;
}

static std::string joinType(llvm::ArrayRef<std::string> parts) {
  return "tensor<" + llvm::join(parts, "x") + ">";
}

static std::string changedType(StringRef type, Random &random) {
  if (!type.ends_with(">"))
    return type.str();
  std::vector<std::string> parts = splitType(type);
  if (random.oneIn(4)) {
    parts.back() = random.pick(kElements);
  } else if (random.oneIn(5)) {
    size_t at = random.below(parts.size());
    if (at + 1 == parts.size() || random.oneIn(2))
      parts.insert(parts.begin() + at, random.pick(kSizes));
    else
      parts.erase(parts.begin() + at);
  } else if (parts.size() > 1) {
    parts[random.below(parts.size() - 1)] = random.pick(kSizes);
  }
  return joinType(parts);
}

void TextMutator::changeType(Tokens &tokens, Random &random) const {
  std::vector<size_t> found = findAll(tokens, Token::Type);
  if (found.empty())
    return;
  Token &type = tokens[random.pick(found)];
  if (random.oneIn(3))
    type.text = changedType(type.text, random);
  else if (random.oneIn(3) && !types.empty())
    type.text = random.pick(types);
  else
    type.text = tokens[random.pick(found)].text;
}

/// Gives constants whose type (at `at`) has changed one number, which is a
/// constant of any shape.
static void makeSplat(std::vector<Token> &tokens, size_t at) {
  if (at < 4 || tokens[at - 2].text != ":" || tokens[at - 4].text != ">")
    return;
  size_t open = at - 4;
  while (open > 1 && tokens[open].text != "<")
    --open;
  if (tokens[open - 1].text != "dense")
    return;
  StringRef element = tokens[at].text;
  bool isFloat = element.ends_with("f32>") || element.ends_with("f16>") ||
                 element.ends_with("f64>");
  std::string number = isFloat ? "0.5" : "1";
  for (size_t i = open; i != at - 4; ++i)
    if (tokens[i].kind == Token::Number &&
        StringRef(tokens[i].text).contains('.') == isFloat)
      number = tokens[i].text;
  // The number of tokens stays, so that positions do.
  for (size_t i = open + 1; i != at - 4; ++i)
    tokens[i] = {Token::Space, ""};
  tokens[open + 1] = {Token::Number, number};
}

void TextMutator::changeTypeEverywhere(Tokens &tokens, Random &random) const {
  std::vector<size_t> found = findAll(tokens, Token::Type);
  if (found.empty())
    return;
  std::string old = tokens[random.pick(found)].text;
  std::string changed = changedType(old, random);
  for (size_t i : found)
    if (tokens[i].text == old) {
      tokens[i].text = changed;
      makeSplat(tokens, i);
    }
}

void TextMutator::changeSizeEverywhere(Tokens &tokens, Random &random) const {
  std::vector<size_t> found = findAll(tokens, [&](size_t i) {
    return tokens[i].kind == Token::Type &&
           StringRef(tokens[i].text).ends_with(">");
  });
  if (found.empty())
    return;
  std::vector<std::string> parts = splitType(tokens[random.pick(found)].text);
  if (parts.size() < 2 || random.oneIn(5)) {
    // The element type, everywhere.
    std::string old = parts.back(), changed = random.pick(kElements);
    for (size_t i : found) {
      std::vector<std::string> other = splitType(tokens[i].text);
      if (other.back() != old)
        continue;
      other.back() = changed;
      tokens[i].text = joinType(other);
      makeSplat(tokens, i);
    }
    return;
  }
  std::string old = parts[random.below(parts.size() - 1)];
  std::string changed = random.pick(kSizes);
  // True if the leading dimensions change, and not all.
  bool leading = random.oneIn(3);
  for (size_t i : found) {
    std::vector<std::string> other = splitType(tokens[i].text);
    for (size_t j = 0; j + 1 < other.size() && (j == 0 || !leading); ++j)
      if (other[j] == old)
        other[j] = changed;
    if (std::string type = joinType(other); type != tokens[i].text) {
      tokens[i].text = type;
      makeSplat(tokens, i);
    }
  }
  for (Token &token : tokens)
    if (token.kind == Token::Number && token.text == old && changed != "?" &&
        random.oneIn(2))
      token.text = changed;
}

void TextMutator::changeOperand(Tokens &tokens, Random &random) const {
  std::vector<size_t> found = findAll(tokens, Token::Value);
  if (found.size() < 2)
    return;
  size_t at = random.pick(found);
  // Mostly of the same type, as the last type of a line is that of its result.
  auto typeOf = [&](StringRef name) -> std::string {
    for (size_t i : found) {
      if (tokens[i].text != name)
        continue;
      std::string last;
      for (size_t j = i; j < tokens.size(); ++j) {
        if (tokens[j].kind == Token::NewLine ||
            (tokens[j].text == "," && j == i + 1))
          break;
        if (tokens[j].kind == Token::Type) {
          last = tokens[j].text;
          // The type of an argument.
          if (i + 2 < tokens.size() && tokens[i + 1].text == ":")
            break;
        }
      }
      return last;
    }
    return "";
  };
  std::string wanted = typeOf(tokens[at].text);
  for (int attempt = 0; attempt != 20; ++attempt) {
    const std::string &name = tokens[random.pick(found)].text;
    if (name == tokens[at].text ||
        (attempt < 18 && !random.oneIn(10) && typeOf(name) != wanted))
      continue;
    tokens[at].text = name;
    return;
  }
}

void TextMutator::changeOp(Tokens &tokens, Random &random) const {
  std::vector<std::pair<size_t, const std::vector<StringRef> *>> found;
  for (size_t i = 0; i != tokens.size(); ++i)
    if (tokens[i].kind == Token::Word)
      for (const std::vector<StringRef> &family : opFamilies())
        if (llvm::is_contained(family, tokens[i].text))
          found.emplace_back(i, &family);
  if (found.empty())
    return changeOperand(tokens, random);
  auto [at, family] = random.pick(found);
  tokens[at].text = random.pick(*family).str();
}

void TextMutator::changeLine(Tokens &tokens, Random &random) const {
  std::vector<size_t> ends = findAll(tokens, Token::NewLine);
  if (ends.size() < 3)
    return;
  size_t line = random.below(ends.size() - 1);
  size_t from = ends[line] + 1, to = ends[line + 1] + 1;
  Tokens copy(tokens.begin() + from, tokens.begin() + to);
  switch (random.below(3)) {
  case 0:
    tokens.erase(tokens.begin() + from, tokens.begin() + to);
    return;
  case 1: {
    // A second one, with a result of its own, that others then read.
    for (size_t i = 0; i + 2 < copy.size(); ++i)
      if (copy[i].kind == Token::Value && copy[i + 2].text == "=") {
        copy[i].text += "_" + std::to_string(random.below(1000));
        break;
      }
    tokens.insert(tokens.begin() + to, copy.begin(), copy.end());
    return;
  }
  default: {
    size_t other = random.below(ends.size() - 1);
    if (other == line)
      return;
    size_t target = ends[other] + 1;
    tokens.insert(tokens.begin() + target, copy.begin(), copy.end());
    if (target <= from) {
      from += copy.size();
      to += copy.size();
    }
    tokens.erase(tokens.begin() + from, tokens.begin() + to);
    return;
  }
  }
}

void TextMutator::changeClause(Tokens &tokens, Random &random) const {
  std::vector<size_t> found =
      findAll(tokens, [&](size_t i) { return isClause(tokens, i); });
  if (found.empty())
    return;
  size_t at = random.pick(found), end = findEnd(tokens, at + 1);
  if (random.oneIn(4)) {
    // Without it, and without the name of the attribute before it.
    tokens.erase(tokens.begin() + at, tokens.begin() + end);
    return;
  }
  auto same = clauses.find(tokens[at].text);
  if (same == clauses.end() || same->second.empty())
    return;
  Tokens other = split(random.pick(same->second));
  tokens.erase(tokens.begin() + at + 1, tokens.begin() + end);
  tokens.insert(tokens.begin() + at + 1, other.begin(), other.end());
}

void TextMutator::changeEntry(Tokens &tokens, Random &random) const {
  std::vector<size_t> found =
      findAll(tokens, [&](size_t i) { return findEntry(tokens, i) != 0; });
  if (found.empty())
    return;
  size_t at = random.pick(found), from = findEntry(tokens, at),
         end = findEntryEnd(tokens, from);
  if (random.oneIn(4)) {
    // Also remove the comma after it, or the one before.
    size_t first = at, last = end;
    if (last < tokens.size() && tokens[last].text == ",")
      ++last;
    else if (first >= 2 && tokens[first - 2].text == ",")
      first -= 2;
    tokens.erase(tokens.begin() + first, tokens.begin() + last);
    return;
  }
  std::string changed;
  auto same = entries.find(tokens[at].text);
  if (random.oneIn(2) && same != entries.end() && !same->second.empty()) {
    changed = random.pick(same->second);
  } else {
    std::vector<size_t> numbers = findAll(tokens, [&](size_t i) {
      return i >= from && i < end && tokens[i].kind == Token::Number;
    });
    if (numbers.empty())
      return;
    Token &number = tokens[random.pick(numbers)];
    number.text = extreme(number.text, random);
    return;
  }
  Tokens other = split(changed);
  tokens.erase(tokens.begin() + from, tokens.begin() + end);
  tokens.insert(tokens.begin() + from, other.begin(), other.end());
}

void TextMutator::changeElements(Tokens &tokens, Random &random) const {
  std::vector<size_t> found = findAll(tokens, [&](size_t i) {
    return i + 1 < tokens.size() && tokens[i + 1].text == "<" &&
           (tokens[i].text == "dense" || tokens[i].text == "array");
  });
  if (found.empty())
    return;
  size_t at = random.pick(found), end = findEnd(tokens, at + 1);
  std::vector<size_t> numbers = findAll(tokens, [&](size_t i) {
    return i > at && i < end && tokens[i].kind == Token::Number;
  });
  if (numbers.empty())
    return;
  std::string changed = extreme(tokens[random.pick(numbers)].text, random);
  if (tokens[at].text == "dense" && random.oneIn(3)) {
    // A splat.
    tokens.erase(tokens.begin() + at + 2, tokens.begin() + end - 1);
    tokens.insert(tokens.begin() + at + 2, {Token::Number, changed});
    return;
  }
  bool all = random.oneIn(8);
  size_t one = random.pick(numbers);
  for (size_t i : numbers)
    if (all || i == one)
      tokens[i].text = changed;
}

void TextMutator::changeString(Tokens &tokens, Random &random) const {
  static constexpr const char *kStrings[] = {
      "\"\"",         "\"a\"",     "\"main\"", "\"\\00\"",
      "\"\\FF\\FE\"", "\"conv*\"", "\"%s%n\"", "\"a\\22b\\0Ac\""};
  std::vector<size_t> found = findAll(tokens, [&](size_t i) {
    return tokens[i].kind == Token::String || tokens[i].kind == Token::Alias;
  });
  if (found.empty())
    return;
  Token &changed = tokens[random.pick(found)];
  if (changed.kind == Token::String && random.oneIn(2)) {
    changed.text = random.pick(kStrings);
    return;
  }
  const Token &other = tokens[random.pick(found)];
  if (other.kind == changed.kind && other.text[0] == changed.text[0])
    changed.text = other.text;
}

//===----------------------------------------------------------------------===//
// Bytecode
//===----------------------------------------------------------------------===//

namespace {
struct Section {
  unsigned id;
  size_t begin, end;
};
} // namespace

/// The number at `at`, and after it: the count of trailing zeros of the first
/// byte is how many bytes follow.
static uint64_t readNumber(StringRef bytes, size_t &at) {
  if (at >= bytes.size())
    return 0;
  auto first = (unsigned char)bytes[at++];
  unsigned more = first == 0 ? 8 : llvm::countr_zero(first);
  uint64_t value = first >> (more + 1);
  if (first == 0)
    value = 0;
  unsigned shift = first == 0 ? 0 : 7 - more;
  for (unsigned i = 0; i != more && at < bytes.size(); ++i, shift += 8)
    value |= uint64_t((unsigned char)bytes[at++]) << shift;
  return value;
}

static std::vector<Section> findSections(StringRef bytes) {
  std::vector<Section> sections;
  size_t at = 4;
  readNumber(bytes, at);
  size_t nul = bytes.find('\0', at);
  if (nul == StringRef::npos)
    return sections;
  at = nul + 1;
  while (at < bytes.size()) {
    auto id = (unsigned char)bytes[at++];
    uint64_t length = readNumber(bytes, at);
    if (id & 0x80) {
      readNumber(bytes, at);
      while (at < bytes.size() && (unsigned char)bytes[at] == 0xCB)
        ++at;
    }
    if (length > bytes.size() - std::min(at, bytes.size()))
      break;
    sections.push_back({id & 0x7fu, at, at + size_t(length)});
    at += length;
  }
  return sections;
}

std::string mct::fuzz::mutateBytecode(StringRef bytes, StringRef other,
                                      Random &random) {
  static constexpr unsigned char kBytes[] = {0,  1,    2,    3,    5,
                                             16, 0x7f, 0x80, 0xfe, 0xff};
  std::string mutated = bytes.str();
  std::vector<Section> sections = findSections(bytes);
  size_t count = 1;
  while (count < 5 && random.oneIn(3))
    ++count;
  for (size_t i = 0; i != count && !mutated.empty(); ++i) {
    size_t begin = 0, end = mutated.size();
    if (!sections.empty() && !random.oneIn(4)) {
      const Section &section = random.pick(sections);
      if (section.begin < section.end && section.end <= mutated.size()) {
        begin = section.begin;
        end = section.end;
      }
    }
    size_t at = begin + random.below(end - begin);
    char &byte = mutated[at];
    switch (random.below(16)) {
    case 0:
      mutated.erase(at, 1 + random.below(4));
      break;
    case 1:
      mutated.insert(at, 1 + random.below(4), char(random.next()));
      break;
    case 2: {
      // A piece of another module.
      size_t from = random.below(other.size());
      size_t length =
          std::min<size_t>(1 + random.below(16), other.size() - from);
      length = std::min(length, mutated.size() - at);
      mutated.replace(at, length, other.substr(from, length).str());
      break;
    }
    case 3:
    case 4: {
      size_t with = begin + random.below(end - begin);
      std::swap(byte, mutated[with]);
      break;
    }
    case 5:
    case 6:
    case 7:
      // Numbers are kept one bit up: the next one, and the one before.
      byte = char(byte + (random.oneIn(2) ? 2 : -2));
      break;
    case 8:
    case 9:
    case 10:
      byte = char(random.pick(kBytes));
      break;
    case 11:
      byte = mutated[begin + random.below(end - begin)];
      break;
    default:
      byte = char(byte ^ (1 << random.below(8)));
    }
  }
  if (random.oneIn(40))
    mutated.resize(random.below(mutated.size() + 1));
  return mutated;
}
