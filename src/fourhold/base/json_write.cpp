#include <cmath>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "fourhold/base/json.h"
#include "fourhold/base/utf8.h"

namespace fourhold::json {
namespace {

void write_string(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : valid_utf8(text)) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

// The shortest text that reads back as the same double, always recognisable as one.
void write_double(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  const std::string text = fmt::format("{}", value);
  out += text;
  if (text.find_first_of(".e") == std::string::npos) out += ".0";
}

class Writer {
 public:
  Writer(Layout layout, std::string& out) : layout_(layout), out_(out) {}

  void write(const Value& value) {
    if (value.is_null()) {
      out_ += "null";
    } else if (value.is_boolean()) {
      out_ += value.boolean() ? "true" : "false";
    } else if (value.is_integer()) {
      out_ += std::to_string(value.integer());
    } else if (value.is_number()) {
      write_double(value.number(), out_);
    } else if (value.is_string()) {
      write_string(value.string(), out_);
    } else if (value.is_array()) {
      write_array(value.array());
    } else {
      write_object(value.object());
    }
  }

 private:
  void write_array(const Array& items) {
    if (items.empty()) {
      out_ += "[]";
      return;
    }
    out_ += '[';
    ++depth_;
    for (std::size_t i = 0; i < items.size(); ++i) {
      separate(i);
      write(items[i]);
    }
    --depth_;
    new_line();
    out_ += ']';
  }

  void write_object(const Object& members) {
    if (members.empty()) {
      out_ += "{}";
      return;
    }
    out_ += '{';
    ++depth_;
    for (std::size_t i = 0; i < members.size(); ++i) {
      separate(i);
      write_string(members[i].first, out_);
      out_ += ": ";
      write(members[i].second);
    }
    --depth_;
    new_line();
    out_ += '}';
  }

  void separate(std::size_t index) {
    if (index > 0) out_ += layout_ == Layout::indented ? "," : ", ";
    new_line();
  }

  void new_line() {
    if (layout_ == Layout::one_line) return;
    out_ += '\n';
    out_.append(2 * depth_, ' ');
  }

  Layout layout_;
  std::string& out_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string write(const Value& value, Layout layout) {
  std::string out;
  Writer(layout, out).write(value);
  return out;
}

}  // namespace fourhold::json
