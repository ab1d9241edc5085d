#include "fourhold/measured/row_tuning.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/measured/row_words.h"
#include "fourhold/plan/lora_targets.h"

namespace fourhold::measured {
namespace {

bool trains_all(const std::string& peft) {
  return peft.empty() || starts_with(peft, "none") || starts_with(peft, "full");
}

std::optional<std::int64_t> rank_in(const std::string& peft) {
  if (const auto rank = number_behind(peft, "rank=")) return rank;
  return number_behind(peft, " r=");
}

// Nothing where the base has the run's own format.
std::optional<plan::BasePrecision> quantised_base(const MeasuredRow& row, const std::string& peft,
                                                  Findings& findings) {
  const std::string precision = lowered(row.precision);
  if (contains(precision, "nf4-dq")) return plan::BasePrecision::nf4_dq;
  if (contains(precision, "int8")) return plan::BasePrecision::int8;
  if (contains(precision, "int4") && contains(precision, "gptq")) {
    findings.assumes("GPTQ's 4-bit weights take what doubly quantised nf4 does");
    return plan::BasePrecision::nf4_dq;
  }
  if (contains(precision, "nf4") || contains(precision, "int4") || starts_with(peft, "qlora")) {
    return plan::BasePrecision::nf4;
  }
  return std::nullopt;
}

// "targets=['v_proj', 'q_proj']" as "v_proj,q_proj"; "" where the row lists none.
std::string listed_targets(const std::string& peft) {
  constexpr std::string_view kMark = "targets=[";
  const std::size_t begin = peft.find(kMark);
  if (begin == std::string::npos) {
    return contains(peft, "targets all") ? "all-linear" : std::string();
  }
  std::string list;
  for (const char c :
       peft.substr(begin + kMark.size(), peft.find(']', begin) - begin - kMark.size())) {
    if (c != '\'' && c != ' ') list += c;
  }
  return list;
}

void read_targets(const MeasuredRow& row, const std::string& peft, RowDraft& draft) {
  const std::string list = listed_targets(peft);
  if (list.empty()) return;
  try {
    draft.request.lora_targets = plan::lora_targets_from_string(list);
  } catch (const Error&) {
    draft.findings.assumes(fmt::format("{} is taken as adapters on all linears", row.peft));
  }
}

// Methods that train little, as sources write them. All but low-rank adapters are taken as such,
// and the row says so.
constexpr std::array<std::string_view, 38> kMethods{
    "lora",      "qlora",    "adalora",   "adapter", "adaption", "adamss",
    "beft",      "boft",     "bone",      "c3a",     "delora",   "dora",
    "fourierft", "frod",     "gralora",   "hira",    "hra",      "ia3",
    "lily",      "llamapro", "ln_tuning", "loha",    "lokr",     "miss",
    "multitask", "oft",      "p_tuning",  "poly",    "prefix",   "prompt",
    "psoft",     "randlora", "road",      "rslora",  "shira",    "trainable_tokens",
    "vblora",    "vera"};

bool is_method(const std::string& peft) {
  return std::any_of(kMethods.begin(), kMethods.end(),
                     [&peft](std::string_view method) { return starts_with(peft, method); });
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
  if (!is_method(peft)) {
    draft.findings.knows_not(row.peft, "peft");
    return;
  }
  draft.request.base_precision = quantised_base(row, peft, draft.findings);
  draft.request.tuning = draft.request.base_precision ? plan::Tuning::qlora : plan::Tuning::lora;
  const bool low_rank = contains(peft, "lora");
  const std::optional<std::int64_t> rank = low_rank ? rank_in(peft) : std::nullopt;
  draft.request.lora_rank = rank.value_or(plan::kDefaultLoraRank);
  if (!rank) {
    draft.findings.assumes(fmt::format("the adapters' rank is {}", plan::kDefaultLoraRank));
  }
  if (contains(peft, "trainable embed")) {
    draft.request.modules_to_save = model::TrainedModules::embedding_head;
  }
  read_targets(row, peft, draft);
  if (!starts_with(peft, "lora") && !starts_with(peft, "qlora")) {
    draft.findings.assumes(fmt::format("{} is taken as LoRA", peft.substr(0, peft.find(' '))));
  }
}

void assume_script(const ScriptAdapters& script, const MeasuredRow& row, RowDraft& draft) {
  if (draft.request.tuning == plan::Tuning::full) return;
  if (!draft.request.lora_targets) {
    draft.request.lora_targets = plan::lora_targets_from_string(script.targets);
  }
  if (script.rank > 0 && !rank_in(lowered(row.peft))) draft.request.lora_rank = script.rank;
  draft.request.lora_dropout = script.dropout;
}

}  // namespace fourhold::measured
