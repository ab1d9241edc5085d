#include "fourhold/model/shape.h"

#include <cstddef>

namespace fourhold::model {
namespace {

struct DimSpelling {
  Dim dim;
  std::string_view text;
};

constexpr std::array kDimSpellings{
    DimSpelling{Dim::tokens, "tokens"},         DimSpelling{Dim::keys, "keys"},
    DimSpelling{Dim::routed, "routed"},         DimSpelling{Dim::hidden, "hidden"},
    DimSpelling{Dim::heads, "heads"},           DimSpelling{Dim::kv_heads, "kv_heads"},
    DimSpelling{Dim::head_dim, "head_dim"},     DimSpelling{Dim::ffn, "ffn"},
    DimSpelling{Dim::vocab, "vocab"},           DimSpelling{Dim::experts, "experts"},
    DimSpelling{Dim::expert_ffn, "expert_ffn"}, DimSpelling{Dim::latent, "latent"},
    DimSpelling{Dim::positions, "positions"},   DimSpelling{Dim::other, "other"},
};

constexpr bool dims_complete() {
  for (std::size_t i = 0; i < kDimSpellings.size(); ++i) {
    if (static_cast<std::size_t>(kDimSpellings[i].dim) != i) return false;
  }
  return kDimSpellings.size() == static_cast<std::size_t>(Dim::other) + 1;
}
static_assert(dims_complete(), "every Dim has its spelling, in the order of the enum");

}  // namespace

std::string_view to_string(Dim dim) { return kDimSpellings[static_cast<std::size_t>(dim)].text; }

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i].size);
  }
  return text + "]";
}

}  // namespace fourhold::model
