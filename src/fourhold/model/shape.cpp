#include "fourhold/model/shape.h"

#include <cstddef>

namespace fourhold::model {
namespace {

struct Spelling {
  Dim dim;
  std::string_view text;
};

constexpr std::array kSpellings{
    Spelling{Dim::tokens, "tokens"},         Spelling{Dim::keys, "keys"},
    Spelling{Dim::routed, "routed"},         Spelling{Dim::hidden, "hidden"},
    Spelling{Dim::heads, "heads"},           Spelling{Dim::kv_heads, "kv_heads"},
    Spelling{Dim::head_dim, "head_dim"},     Spelling{Dim::ffn, "ffn"},
    Spelling{Dim::vocab, "vocab"},           Spelling{Dim::experts, "experts"},
    Spelling{Dim::expert_ffn, "expert_ffn"}, Spelling{Dim::latent, "latent"},
    Spelling{Dim::positions, "positions"},   Spelling{Dim::other, "other"},
};

constexpr bool complete() {
  for (std::size_t i = 0; i < kSpellings.size(); ++i) {
    if (static_cast<std::size_t>(kSpellings[i].dim) != i) return false;
  }
  return kSpellings.size() == static_cast<std::size_t>(Dim::other) + 1;
}
static_assert(complete(), "every Dim has its spelling, in the order of the enum");

}  // namespace

std::string_view to_string(Dim dim) { return kSpellings[static_cast<std::size_t>(dim)].text; }

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i].size);
  }
  return text + "]";
}

}  // namespace fourhold::model
