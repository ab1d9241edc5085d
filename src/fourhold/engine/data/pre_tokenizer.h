// The part of a tokenizer.json that cuts a text into words before byte-pair encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/base/field_reader.h"
#include "fourhold/base/json.h"
#include "fourhold/engine/data/split_pattern.h"

namespace fourhold::engine::data {

class PreTokenizer {
 public:
  // From the JSON of `pre_tokenizer`: ByteLevel, or a Sequence of Split and Digits that ends in
  // ByteLevel. Error with the field's path, `where` first, for every other kind.
  static PreTokenizer from_json(const json::Value& value, const std::string& where);

  using WordVisitor = std::function<void(std::string_view word)>;
  // Calls visit for each word, in their order; words are bytes of the text, or of a copy with a
  // space before it, and not empty. The text must be valid UTF-8.
  void split(std::string_view text, const WordVisitor& visit) const;

 private:
  enum class Fate : std::uint8_t { word, dropped };

  struct Step {
    std::optional<SplitPattern> pattern;  // none: the piece is one word
    Fate match = Fate::word;              // what becomes of a match ...
    Fate between = Fate::word;            // ... and of the text between matches
    bool add_prefix_space = false;        // to a piece that begins with none, before matching
  };

  void add_steps(const json::Value& value, const std::string& where);
  void add_byte_level(FieldReader& reader);
  void add_split(FieldReader& reader);
  void add_digits(FieldReader& reader);
  void split_from(std::size_t step, std::string_view piece, const WordVisitor& visit) const;

  std::vector<Step> steps_;
  bool ends_in_byte_level_ = false;
};

}  // namespace fourhold::engine::data
