#include <array>

#include "fourhold/model/operations.h"

namespace fourhold::model {
namespace {

struct KindSpelling {
  OpKind kind;
  std::string_view text;
};

constexpr std::array<KindSpelling, 29> kKindSpellings{{
    {OpKind::embedding_lookup, "embedding_lookup"},
    {OpKind::add_positions, "add_positions"},
    {OpKind::norm, "norm"},
    {OpKind::linear, "linear"},
    {OpKind::add_bias, "add_bias"},
    {OpKind::rotary, "rotary"},
    {OpKind::split_latent, "split_latent"},
    {OpKind::latent_assemble, "latent_assemble"},
    {OpKind::attention, "attention"},
    {OpKind::attention_scores, "attention_scores"},
    {OpKind::softmax, "softmax"},
    {OpKind::attention_values, "attention_values"},
    {OpKind::dropout, "dropout"},
    {OpKind::activation, "activation"},
    {OpKind::gated_activation, "gated_activation"},
    {OpKind::multiply, "multiply"},
    {OpKind::scale_rows, "scale_rows"},
    {OpKind::cast, "cast"},
    {OpKind::softcap, "softcap"},
    {OpKind::router, "router"},
    {OpKind::permute, "permute"},
    {OpKind::unpermute, "unpermute"},
    {OpKind::add, "add"},
    {OpKind::concatenate, "concatenate"},
    {OpKind::cross_entropy, "cross_entropy"},
    {OpKind::chunked_loss, "chunked_loss"},
    {OpKind::enter_branch, "enter_branch"},
    {OpKind::leave_branch, "leave_branch"},
    {OpKind::exchange_experts, "exchange_experts"},
}};

// The table is indexed by the enumerator: it must list them all, in order.
constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kKindSpellings.size(); ++i) {
    if (static_cast<std::size_t>(kKindSpellings[i].kind) != i) return false;
  }
  return static_cast<std::size_t>(OpKind::exchange_experts) + 1 == kKindSpellings.size();
}
static_assert(is_in_order());

}  // namespace

std::string_view to_string(OpKind kind) {
  return kKindSpellings[static_cast<std::size_t>(kind)].text;
}

}  // namespace fourhold::model
