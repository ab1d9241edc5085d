#include "fourhold/engine/data/oniguruma.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"

namespace fourhold::engine::data {
namespace {

// White_Space (Unicode, PropList.txt) as members of a class of PCRE2; \p{Z} are the separators.
constexpr std::string_view kSpaceMembers = R"(\t-\r\x{85}\p{Z})";

constexpr std::array<std::string_view, 37> kGeneralCategories{
    "C",  "Cc", "Cf", "Cn", "Co", "Cs", "L",  "Ll", "Lm", "Lo", "Lt", "Lu", "M",
    "Mc", "Me", "Mn", "N",  "Nd", "Nl", "No", "P",  "Pc", "Pd", "Pe", "Pf", "Pi",
    "Po", "Ps", "S",  "Sc", "Sk", "Sm", "So", "Z",  "Zl", "Zp", "Zs"};

// ASCII that is neither a letter, a digit nor a blank.
bool is_punctuation(char c) {
  return static_cast<unsigned char>(c) < 0x80 && c > ' ' && !(c >= '0' && c <= '9') &&
         !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z');
}

class Translation {
 public:
  Translation(std::string_view pattern, const std::string& where)
      : pattern_(pattern), where_(where) {}

  std::string run() {
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_];
      if (c == '\\') {
        escape(Place::outside);
      } else if (c == '[') {
        character_class();
      } else if (c == '(') {
        group();
      } else if (c == '{') {
        interval();
      } else {
        // Anchors and dots differ between the syntaxes in what they take for a line's end.
        if (c == '^' || c == '$' || c == '.') refuse(1);
        copy(1);
      }
    }
    return std::move(out_);
  }

 private:
  enum class Place : std::uint8_t { outside, in_class, in_negated_class };

  [[noreturn]] void refuse(std::size_t length) const {
    throw Error(where_,
                fmt::format("'{}' at byte {} of the pattern is not supported",
                            pattern_.substr(at_, length), at_),
                "the split patterns of GPT-2, GPT-4, Llama 3, Qwen and DeepSeek are");
  }

  void copy(std::size_t length) {
    out_ += pattern_.substr(at_, length);
    at_ += length;
  }

  void escape(Place place) {
    if (at_ + 1 >= pattern_.size()) refuse(1);
    const char c = pattern_[at_ + 1];
    if (c == 's' || c == 'S') {
      if (place == Place::outside) {
        out_ += c == 's' ? "[" : "[^";
        out_.append(kSpaceMembers).append("]");
      } else if (c == 's') {
        out_ += kSpaceMembers;
      } else {
        refuse(2);  // the complement of a class has no members to list
      }
      at_ += 2;
    } else if (c == 'p' || c == 'P') {
      property(c);
    } else if (c == 'r' || c == 'n' || c == 't' || is_punctuation(c)) {
      copy(2);  // punctuation stands for itself
    } else {
      refuse(2);
    }
  }

  void property(char letter) {
    const std::size_t close = pattern_.find('}', at_);
    if (at_ + 2 >= pattern_.size() || pattern_[at_ + 2] != '{' || close == std::string_view::npos) {
      refuse(3);
    }
    const std::string_view name = pattern_.substr(at_ + 3, close - at_ - 3);
    const bool is_word = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    });
    if (!is_word) refuse(close + 1 - at_);
    const bool category = std::find(kGeneralCategories.begin(), kGeneralCategories.end(), name) !=
                          kGeneralCategories.end();
    out_ += fmt::format("\\{}{{{}{}}}", letter, category ? "" : "sc:", name);
    at_ = close + 1;
  }

  void character_class() {
    const std::size_t open = at_;
    copy(1);
    Place place = Place::in_class;
    if (at_ < pattern_.size() && pattern_[at_] == '^') {
      place = Place::in_negated_class;
      copy(1);
    }
    bool first = true;
    for (; at_ < pattern_.size() && pattern_[at_] != ']'; first = false) {
      if (pattern_[at_] == '[' || pattern_.substr(at_, 2) == "&&") {
        refuse(2);  // nested classes and intersections: Oniguruma's own
      }
      if (pattern_[at_] == '\\') {
        escape(place);
      } else {
        copy(1);
      }
    }
    if (at_ >= pattern_.size() || first) {  // no end, or "[]", which is read in two ways
      at_ = open;
      refuse(2);
    }
    copy(1);
  }

  // {n}, {n,} or {n,m}. "{,m}" and "{n}+" differ, and so does a brace that stands for itself.
  void interval() {
    const std::size_t close = pattern_.find('}', at_);
    if (close == std::string_view::npos) refuse(1);
    const std::string_view body = pattern_.substr(at_ + 1, close - at_ - 1);
    const std::size_t digits = body.find_first_not_of("0123456789");
    const std::string_view rest = body.substr(std::min(digits, body.size()));
    const bool known =
        !body.empty() && digits != 0 && body.size() <= 9 &&
        (rest.empty() ||
         (rest[0] == ',' && rest.find_first_not_of("0123456789", 1) == std::string_view::npos));
    const bool possessive = close + 1 < pattern_.size() && pattern_[close + 1] == '+';
    if (!known || possessive) refuse(close + 1 + (possessive ? 1 : 0) - at_);
    copy(close + 1 - at_);
  }

  void group() {
    constexpr std::array<std::string_view, 7> kSame{"(?:",  "(?i:", "(?=", "(?!",
                                                    "(?<=", "(?<!", "(?>"};
    if (pattern_.substr(at_, 2) != "(?" && pattern_.substr(at_, 2) != "(*") {
      copy(1);
      return;
    }
    for (const std::string_view opening : kSame) {
      if (pattern_.substr(at_, opening.size()) == opening) {
        copy(opening.size());
        return;
      }
    }
    refuse(4);
  }

  std::string_view pattern_;
  const std::string& where_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string pcre2_of_oniguruma(std::string_view pattern, const std::string& where) {
  return Translation(pattern, where).run();
}

}  // namespace fourhold::engine::data
