// A compiled regular expression that finds the words of a text; one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace fourhold::engine::data {

class SplitPattern {
 public:
  // A pattern in Oniguruma's syntax (oniguruma.h). Error naming `where` when it is refused there,
  // does not compile or may match nothing.
  static SplitPattern of_oniguruma(std::string_view pattern, const std::string& where);
  // A text that stands for itself.
  static SplitPattern of_literal(std::string_view text, const std::string& where);

  ~SplitPattern();
  SplitPattern(SplitPattern&&) noexcept;
  SplitPattern& operator=(SplitPattern&&) noexcept;

  struct Match {
    std::size_t begin = 0;
    std::size_t end = 0;  // above begin
  };
  // The first match that begins at `from` or later. The text must be valid UTF-8. Error when the
  // pattern takes too many steps.
  [[nodiscard]] std::optional<Match> find(std::string_view text, std::size_t from) const;

 private:
  struct Compiled;
  explicit SplitPattern(std::unique_ptr<Compiled> compiled);
  static SplitPattern compile(std::string_view pattern, std::string_view shown, bool literal,
                              const std::string& where);
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace fourhold::engine::data
