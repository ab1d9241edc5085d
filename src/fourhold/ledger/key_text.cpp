#include "fourhold/ledger/key_text.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "fourhold/base/ascii.h"
#include "fourhold/base/error.h"

namespace fourhold::ledger {
namespace {

constexpr std::size_t kMaxParts = 5;  // block, layer, name, variant, role
constexpr std::string_view kMicroBatchMark = "@mb";

[[noreturn]] void refuse(std::string_view text, const std::string& fault) {
  throw Error("", fmt::format("'{:.80}' is not a key: {}", text, fault),
              "keys look like 'layer.3.q_weight', 'layer.3.norm1_out.gradient@mb2', 'head.logits'");
}

bool is_word(std::string_view text) {
  for (const char c : text) {
    if (!is_letter(c) && !is_digit(c) && c != '_' && c != '-') return false;
  }
  return !text.empty();
}

bool is_name(std::string_view text) { return is_word(text) && is_letter(text[0]); }

// A decimal number without sign or leading zeros, at most the largest int32; kNone otherwise.
std::int32_t index_of(std::string_view text) {
  if (text.empty() || text.size() > 10 || (text.size() > 1 && text[0] == '0')) return Key::kNone;
  std::int64_t index = 0;
  for (const char c : text) {
    if (!is_digit(c)) return Key::kNone;
    index = 10 * index + (c - '0');
  }
  if (index > std::numeric_limits<std::int32_t>::max()) return Key::kNone;
  return static_cast<std::int32_t>(index);
}

// Sets the role of that name; false when there is none.
bool set_role(std::string_view text, Key& key) {
  for (int i = 0; i < kRoleCount; ++i) {
    const auto role = static_cast<Role>(i);
    if (to_string(role) != text) continue;
    key.role = role;
    return true;
  }
  return false;
}

struct Parts {
  std::array<std::string_view, kMaxParts> texts;
  std::size_t count = 0;
};

Parts split(std::string_view text, std::string_view whole) {
  Parts parts;
  while (true) {
    if (parts.count == kMaxParts) refuse(whole, "it has more than five parts");
    const std::size_t dot = text.find('.');
    parts.texts[parts.count++] = text.substr(0, dot);
    if (dot == std::string_view::npos) return parts;
    text.remove_prefix(dot + 1);
  }
}

}  // namespace

Key parse_key(std::string_view text) {
  Key key;
  std::string_view rest = text;
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    const std::string_view mark = rest.substr(at);
    if (mark.substr(0, kMicroBatchMark.size()) == kMicroBatchMark) {
      key.micro_batch = index_of(mark.substr(kMicroBatchMark.size()));
    }
    if (key.micro_batch == Key::kNone) refuse(text, "'@' must begin a micro-batch such as '@mb2'");
    rest = rest.substr(0, at);
  }

  const Parts parts = split(rest, text);
  std::size_t next = 0;
  key.block = parts.texts[next++];
  if (!is_name(key.block)) refuse(text, "it must begin with the name of a block");
  if (next < parts.count) {
    key.layer = index_of(parts.texts[next]);
    if (key.layer != Key::kNone) ++next;
  }
  if (next == parts.count) refuse(text, "the name behind the block is missing");
  key.name = parts.texts[next++];
  if (!is_name(key.name)) refuse(text, fmt::format("'{:.80}' is not a name", key.name));

  if (parts.count - next == 1 && set_role(parts.texts[next], key)) {
    if (key.role == Role::value) refuse(text, "the role 'value' is not spelled");
    return key;
  }
  if (next < parts.count) {
    key.variant = parts.texts[next++];
    if (!is_word(key.variant)) refuse(text, fmt::format("'{:.80}' is not a word", key.variant));
  }
  if (next < parts.count && !set_role(parts.texts[next++], key)) {
    refuse(text, fmt::format("'{:.80}' is not a role", parts.texts[next - 1]));
  }
  if (next < parts.count) refuse(text, "it has a part too many");
  if (to_string(key) != text) refuse(text, fmt::format("it is spelled '{}'", to_string(key)));
  return key;
}

}  // namespace fourhold::ledger
