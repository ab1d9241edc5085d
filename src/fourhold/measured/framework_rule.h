// What is known of a source's framework beside its profile: one table.
#pragma once

#include <cstdint>
#include <string_view>

#include "fourhold/measured/measured_row.h"
#include "fourhold/measured/row_draft.h"
#include "fourhold/measured/row_model.h"
#include "fourhold/measured/row_setup.h"

namespace fourhold::measured {

// Sequence parallelism where the row does not say.
enum class SequenceParallel : std::uint8_t { off, with_tensor };

struct FrameworkRule {
  std::string_view framework;  // what the row's framework begins with, in lower case
  std::string_view profile;
  ModelStyle style;
  MeasuredStage stage;
  SequenceParallel sequence_parallel;
  std::string_view recompute;  // where the row leaves it blank; "": not known
  // Of a micro-batch whose size the row leaves blank; 0: the whole batch goes through at once.
  std::int64_t micro_batch_tokens;
  // What this source does otherwise than the profile, by its row; may be null.
  void (*refine)(const MeasuredRow& row, RowDraft& draft);
  plan::Precision precision = plan::Precision::bf16;  // where the row leaves it blank
  // Whether `refine` reads a word of the columns sharding, recompute and offload that is a flag of
  // the framework's command; null where it has none there.
  bool (*knows_flag)(std::string_view word) = nullptr;
};

// Null where the framework is not known.
[[nodiscard]] const FrameworkRule* rule_of(const MeasuredRow& row);

// The names of the table, for errors.
[[nodiscard]] std::vector<std::string_view> known_frameworks();

}  // namespace fourhold::measured
