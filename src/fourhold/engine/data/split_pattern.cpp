// The only file that knows PCRE2.
#include "fourhold/engine/data/split_pattern.h"

#include <array>
#include <cstdint>
#include <new>
#include <utility>

#include <pcre2.h>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/engine/data/oniguruma.h"

namespace fourhold::engine::data {
namespace {

// Published patterns take a few steps for each byte; hostile ones are stopped.
constexpr std::uint32_t kMostSteps = 1'000'000;
constexpr std::uint32_t kMostHeapKib = 16 << 10;
constexpr std::size_t kMostPatternBytes = 64 << 10;
constexpr std::size_t kMostStackBytes = 1 << 20;

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

template <typename T, void (*kFree)(T*)>
struct Freed {
  void operator()(T* value) const { kFree(value); }
};
using Code = std::unique_ptr<pcre2_code, Freed<pcre2_code, pcre2_code_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Freed<pcre2_match_data, pcre2_match_data_free>>;
using MatchContext =
    std::unique_ptr<pcre2_match_context, Freed<pcre2_match_context, pcre2_match_context_free>>;
using JitStack = std::unique_ptr<pcre2_jit_stack, Freed<pcre2_jit_stack, pcre2_jit_stack_free>>;

}  // namespace

struct SplitPattern::Compiled {
  std::string where;
  Code code;
  MatchData match;
  MatchContext context;
  JitStack stack;
};

SplitPattern::SplitPattern(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
SplitPattern::~SplitPattern() = default;
SplitPattern::SplitPattern(SplitPattern&&) noexcept = default;
SplitPattern& SplitPattern::operator=(SplitPattern&&) noexcept = default;

SplitPattern SplitPattern::compile(std::string_view pattern, std::string_view shown, bool literal,
                                   const std::string& where) {
  if (pattern.size() > kMostPatternBytes) {
    throw Error(where, fmt::format("a pattern of {} bytes", pattern.size()),
                fmt::format("{} bytes are read at most", kMostPatternBytes));
  }
  int code = 0;
  PCRE2_SIZE at = 0;
  const std::uint32_t options = PCRE2_UTF | (literal ? PCRE2_LITERAL : PCRE2_UCP);
  auto compiled = std::make_unique<Compiled>();
  compiled->where = where;
  compiled->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                     options, &code, &at, nullptr));
  if (!compiled->code) {
    throw Error(where, fmt::format("'{:.200}' is no pattern: {}", shown, message_of(code)),
                "check the tokenizer.json");
  }
  std::uint32_t may_be_empty = 0;
  pcre2_pattern_info(compiled->code.get(), PCRE2_INFO_MATCHEMPTY, &may_be_empty);
  if (may_be_empty != 0) {
    throw Error(where, fmt::format("'{:.200}' may match nothing", shown),
                "a pattern of words matches a byte at least");
  }
  // Where the machine has no compiler for it, matching interprets the pattern: same results.
  pcre2_jit_compile(compiled->code.get(), PCRE2_JIT_COMPLETE);
  compiled->match.reset(pcre2_match_data_create(1, nullptr));
  compiled->context.reset(pcre2_match_context_create(nullptr));
  compiled->stack.reset(pcre2_jit_stack_create(32 << 10, kMostStackBytes, nullptr));
  if (!compiled->match || !compiled->context || !compiled->stack) throw std::bad_alloc();
  pcre2_set_match_limit(compiled->context.get(), kMostSteps);
  pcre2_set_heap_limit(compiled->context.get(), kMostHeapKib);
  pcre2_jit_stack_assign(compiled->context.get(), nullptr, compiled->stack.get());
  return SplitPattern(std::move(compiled));
}

SplitPattern SplitPattern::of_oniguruma(std::string_view pattern, const std::string& where) {
  return compile(pcre2_of_oniguruma(pattern, where), pattern, false, where);
}

SplitPattern SplitPattern::of_literal(std::string_view text, const std::string& where) {
  return compile(text, text, true, where);
}

std::optional<SplitPattern::Match> SplitPattern::find(std::string_view text,
                                                      std::size_t from) const {
  const int found =
      pcre2_match(compiled_->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                  from, PCRE2_NO_UTF_CHECK, compiled_->match.get(), compiled_->context.get());
  if (found == PCRE2_ERROR_NOMATCH) return std::nullopt;
  // 0: more groups than there is room for; the whole match is there all the same.
  if (found < 0) {
    throw Error(compiled_->where,
                fmt::format("the pattern fails at byte {} of a text: {}", from, message_of(found)),
                "the pattern is not one of words, or a word is too long: split the text");
  }
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(compiled_->match.get());
  return Match{bounds[0], bounds[1]};
}

}  // namespace fourhold::engine::data
