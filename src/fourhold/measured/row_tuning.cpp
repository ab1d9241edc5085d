#include "fourhold/measured/row_tuning.h"

#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "fourhold/measured/row_words.h"

namespace fourhold::measured {
namespace {

bool trains_all(const std::string& peft) {
  return peft.empty() || starts_with(peft, "none") || starts_with(peft, "full");
}

std::optional<std::int64_t> rank_in(const std::string& peft) {
  if (const auto rank = number_behind(peft, "rank=")) return rank;
  return number_behind(peft, " r=");
}

bool has_quantised_base(const MeasuredRow& row, const std::string& peft) {
  const std::string precision = lowered(row.precision);
  return starts_with(peft, "qlora") || contains(precision, "int4") || contains(precision, "nf4");
}

}  // namespace

void read_tuning(const MeasuredRow& row, RowDraft& draft) {
  const std::string peft = lowered(row.peft);
  if (trains_all(peft)) {
    draft.request.tuning = plan::Tuning::full;
    if (contains(peft, "galore") || contains(peft, "lisa")) {
      draft.findings.assumes(fmt::format("{} is taken as training all weights", row.peft));
    }
    return;
  }
  draft.request.tuning = has_quantised_base(row, peft) ? plan::Tuning::qlora : plan::Tuning::lora;
  const bool low_rank = contains(peft, "lora");
  const std::optional<std::int64_t> rank = low_rank ? rank_in(peft) : std::nullopt;
  draft.request.lora_rank = rank.value_or(plan::kDefaultLoraRank);
  if (!rank) {
    draft.findings.assumes(fmt::format("the adapters' rank is {}", plan::kDefaultLoraRank));
  }
  if (contains(peft, "embed")) draft.findings.assumes("embedding and head stay frozen");
  if (!starts_with(peft, "lora") && !starts_with(peft, "qlora")) {
    draft.findings.assumes(fmt::format("{} is taken as LoRA", peft.substr(0, peft.find(' '))));
  }
}

}  // namespace fourhold::measured
