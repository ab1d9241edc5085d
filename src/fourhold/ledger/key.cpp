#include "fourhold/ledger/key.h"

#include <fmt/format.h>

namespace fourhold::ledger {
namespace {

// "w.gathered" with the variant "gathered" must not read as the gathered copy of w.
bool reads_as_role(std::string_view variant) {
  for (int i = 0; i < kRoleCount; ++i) {
    if (variant == to_string(static_cast<Role>(i))) return true;
  }
  return false;
}

}  // namespace

std::strong_ordering operator<=>(const Key& a, const Key& b) {
  if (const int texts = a.block.compare(b.block); texts != 0) return texts <=> 0;
  if (const int texts = a.name.compare(b.name); texts != 0) return texts <=> 0;
  if (const int texts = a.variant.compare(b.variant); texts != 0) return texts <=> 0;
  if (a.layer != b.layer) return a.layer <=> b.layer;
  if (a.micro_batch != b.micro_batch) return a.micro_batch <=> b.micro_batch;
  return a.role <=> b.role;
}

std::string to_string(const Key& key) {
  std::string text(key.block);
  if (key.layer != Key::kNone) text += fmt::format(".{}", key.layer);
  text += '.';
  text += key.name;
  if (!key.variant.empty()) {
    text += '.';
    text += key.variant;
  }
  if (key.role != Role::value || reads_as_role(key.variant)) {
    text += '.';
    text += to_string(key.role);
  }
  if (key.micro_batch != Key::kNone) text += fmt::format("@mb{}", key.micro_batch);
  return text;
}

}  // namespace fourhold::ledger
