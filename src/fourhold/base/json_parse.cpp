// The only file that knows the JSON library, which is used as a SAX parser: its own value type
// would need several times the heap.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fourhold/base/error.h"
#include "fourhold/base/json.h"

namespace fourhold::json {
namespace {

constexpr std::size_t kMaxDepth = 64;

// Where a fault is said to be: lines and columns count from 1, columns in bytes.
std::string position_text(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t last_newline = before.rfind('\n');
  const std::size_t column =
      last_newline == std::string_view::npos ? before.size() : before.size() - last_newline - 1;
  return fmt::format("line {}, column {}", line, std::max<std::size_t>(column, 1));
}

// A literal of Python's that JSON lacks, found outside strings.
struct Literal {
  std::size_t ordinal = 0;  // which bare word of the text it is: numbers, true, false, null count
  double value = 0;
};

struct PreparedText {
  std::string text;  // empty when there are no literals: the original is used
  std::vector<Literal> literals;
};

const double* literal_value(std::string_view word) {
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kMinusInfinity = -kInfinity;
  if (word == "NaN") return &kNan;
  if (word == "Infinity") return &kInfinity;
  if (word == "-Infinity") return &kMinusInfinity;
  return nullptr;
}

// Puts "0" and spaces in the place of each literal, so that offsets stay, and remembers which bare
// word it was. In a valid text bare words and scalar events of the parser that are not strings are
// in one-to-one order, because valid JSON separates any two of them.
PreparedText replace_literals(std::string_view text) {
  PreparedText prepared;
  std::size_t ordinal = 0;
  std::size_t i = 0;
  while (i < text.size()) {
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
      }
      ++i;
      continue;
    }
    constexpr std::string_view kSeparators = " \t\r\n,:[]{}\"";
    const std::size_t end = std::min(text.find_first_of(kSeparators, i), text.size());
    if (end == i) {
      ++i;
      continue;
    }
    if (const double* value = literal_value(text.substr(i, end - i))) {
      if (prepared.text.empty()) prepared.text = text;
      prepared.text.replace(i, end - i, end - i, ' ');
      prepared.text[i] = '0';
      prepared.literals.push_back({ordinal, *value});
    }
    ++ordinal;
    i = end;
  }
  return prepared;
}

// An input iterator that lets the handler see how much has been read.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t* consumed) : at_(at), consumed_(consumed) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*consumed_;
    return *this;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }
  friend bool operator!=(const CountingIterator& a, const CountingIterator& b) { return !(a == b); }

 private:
  const char* at_;
  std::size_t* consumed_;
};

// "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ... - unexpected
// end of input; expected ...": keeps what follows the position and leaves out the quoted input.
std::string fault_of(const std::string& library_text) {
  std::string fault = library_text;
  if (const std::size_t id = fault.find("] "); id != std::string::npos) fault.erase(0, id + 2);
  if (const std::size_t column = fault.find(", column "); column != std::string::npos) {
    if (const std::size_t colon = fault.find(": ", column); colon != std::string::npos) {
      fault.erase(0, colon + 2);
    }
  }
  if (const std::size_t read = fault.find("; last read: '"); read != std::string::npos) {
    const std::size_t end = fault.rfind("'; expected ");
    fault.erase(read, end == std::string::npos || end < read ? std::string::npos : end + 1 - read);
  }
  if (fault.size() > 200) fault.resize(200);
  return fault;
}

// Builds the value. An event returns false to stop; here every fault throws instead.
class Builder {
 public:
  Builder(std::string_view text, const std::string& where, const std::vector<Literal>& literals,
          const std::size_t* consumed)
      : text_(text), where_(where), literals_(literals), consumed_(consumed) {}

  [[nodiscard]] Value take() { return std::move(root_); }

  bool null() { return bare(Value()); }
  bool boolean(bool value) { return bare(Value(value)); }
  bool number_integer(std::int64_t value) { return bare(Value(value)); }
  bool number_unsigned(std::uint64_t value) {
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return bare(value <= kMax ? Value(static_cast<std::int64_t>(value))
                              : Value(static_cast<double>(value)));
  }
  bool number_float(double value, const std::string& /*text*/) { return bare(Value(value)); }
  bool string(std::string& value) {
    value.shrink_to_fit();
    return add(Value(std::move(value)));
  }
  bool binary(std::vector<std::uint8_t>& /*value*/) { return false; }  // not in JSON text

  bool start_object(std::size_t /*elements*/) { return open(); }
  bool start_array(std::size_t /*elements*/) { return open(); }
  bool key(std::string& name) {
    Frame& frame = frames_.back();
    name.shrink_to_fit();
    frame.members.emplace_back(std::move(name), Value());
    frame.offsets.push_back(*consumed_);
    return true;
  }
  bool end_array() {
    Array items = std::move(frames_.back().items);
    frames_.pop_back();
    return add(Value(std::move(items)));
  }
  bool end_object() {
    refuse_duplicate_keys(frames_.back());
    Object members = std::move(frames_.back().members);
    frames_.pop_back();
    return add(Value(std::move(members)));
  }
  template <class Exception>  // the library's interface: any of its exception types
  bool parse_error(std::size_t position, const std::string& /*token*/, const Exception& exception) {
    fail(position, fault_of(exception.what()), "the file must hold one valid JSON value");
    return false;
  }

 private:
  struct Frame {
    Array items;
    Object members;
    std::vector<std::size_t> offsets;  // just behind each key of `members`
  };

  [[noreturn]] void fail(std::size_t offset, const std::string& fault,
                         const std::string& hint) const {
    throw Error(where_, fmt::format("{}: {}", position_text(text_, offset), fault), hint);
  }

  bool open() {
    if (frames_.size() == kMaxDepth) {
      fail(*consumed_, fmt::format("nested deeper than {} levels", kMaxDepth),
           "flatten the file: nothing that is read here nests so deep");
    }
    frames_.emplace_back();
    return true;
  }

  bool bare(Value value) {
    if (next_literal_ < literals_.size() && literals_[next_literal_].ordinal == bare_words_) {
      value = Value(literals_[next_literal_++].value);
    }
    ++bare_words_;
    return add(std::move(value));
  }

  bool add(Value value) {
    if (frames_.empty()) {
      root_ = std::move(value);
    } else if (Frame& frame = frames_.back(); !frame.offsets.empty()) {
      frame.members.back().second = std::move(value);
    } else {
      frame.items.push_back(std::move(value));
    }
    return true;
  }

  // Sorting keeps this n log n for hostile objects and needs no heap per key.
  void refuse_duplicate_keys(const Frame& frame) const {
    const Object& members = frame.members;
    std::vector<std::size_t> order(members.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&members](std::size_t a, std::size_t b) {
      const int compared = members[a].first.compare(members[b].first);
      return compared != 0 ? compared < 0 : a < b;
    });
    std::size_t second = members.size();  // the first key that is there already
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (members[order[i - 1]].first == members[order[i]].first) {
        second = std::min(second, order[i]);
      }
    }
    if (second == members.size()) return;
    fail(frame.offsets[second],
         fmt::format("the key '{:.60}' stands twice in one object", members[second].first),
         "remove one of the two");
  }

  std::string_view text_;
  const std::string& where_;
  const std::vector<Literal>& literals_;
  const std::size_t* consumed_;
  std::vector<Frame> frames_;
  Value root_;
  std::size_t bare_words_ = 0;
  std::size_t next_literal_ = 0;
};

// A UTF-8 mark is skipped; the other encodings are recognised by theirs, or by a zero byte.
std::string_view without_byte_order_mark(std::string_view text, const std::string& where) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") return text.substr(3);
  const std::string_view mark = text.substr(0, 2);
  const bool zero = mark.find('\0') != std::string_view::npos;
  if (mark == "\xFF\xFE" || mark == "\xFE\xFF" || zero) {
    throw Error(where, "line 1, column 1: the text is not UTF-8", "save the file as UTF-8");
  }
  return text;
}

}  // namespace

Value parse(std::string_view text, const std::string& where, Literals literals) {
  text = without_byte_order_mark(text, where);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw Error(where, "is empty",
                "the file must hold one valid JSON value: was it written to the end?");
  }
  PreparedText prepared;
  if (literals == Literals::nan_and_infinity) prepared = replace_literals(text);
  const std::string_view source = prepared.text.empty() ? text : std::string_view(prepared.text);

  std::size_t consumed = 0;
  Builder builder(source, where, prepared.literals, &consumed);
  const CountingIterator first(source.data(), &consumed);
  const CountingIterator last(source.data() + source.size(), &consumed);
  nlohmann::json::sax_parse(first, last, &builder);
  return builder.take();
}

}  // namespace fourhold::json
