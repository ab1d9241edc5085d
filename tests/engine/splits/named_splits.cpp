#include "tests/engine/splits/named_splits.h"

#include <iterator>

namespace fourhold::engine::testing {

using plan::ScheduleKind;

std::vector<NamedSplit> data_splits() {
  return {{"dp_2", {.dp = 2, .grad_accum = 2}},
          {"dp_3", {.dp = 3, .grad_accum = 2}},
          {"dp_4", {.dp = 4, .grad_accum = 2}},
          {"zero_1", {.dp = 4, .zero = 1, .grad_accum = 2}},
          {"zero_1_dp_3", {.dp = 3, .zero = 1, .grad_accum = 1}},
          {"zero_2", {.dp = 4, .zero = 2, .grad_accum = 2}},
          {"zero_3", {.dp = 4, .zero = 3, .grad_accum = 2}},
          {"zero_3_dp_3_five_micro_batches", {.dp = 3, .zero = 3, .grad_accum = 5}},
          {"zero_2_dp_8", {.dp = 8, .zero = 2}}};
}

std::vector<NamedSplit> tensor_splits() {
  return {{"tp_2", {.tp = 2, .grad_accum = 2}},
          {"tp_4", {.tp = 4}},
          {"tp_2_sp", {.tp = 2, .sp = true, .grad_accum = 2}},
          {"tp_4_sp", {.tp = 4, .sp = true}},
          {"tp_2_dp_2", {.tp = 2, .dp = 2, .grad_accum = 2}},
          {"tp_2_chunked_loss", {.tp = 2, .loss_chunk = 5}}};
}

std::vector<NamedSplit> pipeline_splits() {
  constexpr ScheduleKind kGpipe = ScheduleKind::gpipe;
  return {{"pp_2", {.pp = 2, .grad_accum = 4}},
          {"pp_4", {.pp = 4, .grad_accum = 6}},
          {"pp_2_gpipe", {.pp = 2, .grad_accum = 4, .schedule = kGpipe}},
          {"pp_2_interleaved", {.pp = 2, .vpp = 2, .grad_accum = 4}},
          {"pp_2_uneven", {.pp = 2, .grad_accum = 3, .layers_per_stage = {3, 1}}},
          {"pp_2_one_micro_batch", {.pp = 2}},
          {"pp_2_chunked_loss", {.pp = 2, .grad_accum = 3, .loss_chunk = 7}}};
}

std::vector<NamedSplit> context_splits() {
  return {{"cp_2", {.cp = 2, .grad_accum = 2}},
          {"cp_4", {.cp = 4, .grad_accum = 2}},
          {"cp_2_dp_2", {.cp = 2, .dp = 2, .grad_accum = 2}},
          {"cp_2_chunked_loss", {.cp = 2, .grad_accum = 2, .loss_chunk = 3}}};
}

std::vector<NamedSplit> combined_splits() {
  constexpr ScheduleKind kGpipe = ScheduleKind::gpipe;
  const plan::RecomputePolicy first_layer = plan::recompute_from_string("full:1");
  const plan::RecomputePolicy full = plan::recompute_from_string("full");
  return {
      {"zero_1_tp_pp", {.tp = 2, .pp = 2, .dp = 2, .zero = 1, .grad_accum = 2}},
      {"zero_1_tp_sp_pp", {.tp = 2, .sp = true, .pp = 2, .dp = 2, .zero = 1, .grad_accum = 2}},
      {"zero_1_interleaved", {.pp = 2, .vpp = 2, .dp = 2, .zero = 1, .grad_accum = 4}},
      {"zero_2_pp", {.pp = 2, .dp = 2, .zero = 2, .grad_accum = 3}},
      {"zero_2_gpipe_chunked_loss",
       {.pp = 2, .dp = 2, .zero = 2, .grad_accum = 3, .schedule = kGpipe, .loss_chunk = 5}},
      {"zero_3_pp", {.pp = 2, .dp = 2, .zero = 3, .grad_accum = 3}},
      {"zero_3_interleaved", {.pp = 2, .vpp = 2, .dp = 2, .zero = 3, .grad_accum = 4}},
      {"zero_3_tp", {.tp = 2, .dp = 2, .zero = 3, .grad_accum = 2}},
      {"zero_3_tp_4_sp", {.tp = 4, .sp = true, .dp = 2, .zero = 3}},
      {"zero_2_tp_sp", {.tp = 2, .sp = true, .dp = 2, .zero = 2, .grad_accum = 2}},
      {"uneven_zero_1", {.pp = 2, .dp = 2, .zero = 1, .grad_accum = 2, .layers_per_stage = {1, 3}}},
      {"first_layer_recomputed_zero_3",
       {.dp = 2, .zero = 3, .grad_accum = 2, .recompute = first_layer}},
      {"recomputed_pp_tp", {.tp = 2, .pp = 2, .grad_accum = 3, .recompute = full}},
      {"cp_tp", {.tp = 2, .cp = 2, .grad_accum = 2}},
      {"cp_tp_4_sp", {.tp = 4, .sp = true, .cp = 2}},
      {"cp_zero_1", {.cp = 2, .dp = 2, .zero = 1}},
      {"cp_zero_3", {.cp = 2, .dp = 2, .zero = 3, .grad_accum = 2}},
      {"cp_zero_3_tp_sp", {.tp = 2, .sp = true, .cp = 2, .dp = 2, .zero = 3}},
      {"cp_pp_tp_sp", {.tp = 2, .sp = true, .pp = 2, .cp = 2, .grad_accum = 4}},
      {"cp_recomputed", {.cp = 2, .dp = 2, .recompute = full}},
      {"zero_3_chunked_loss", {.dp = 2, .zero = 3, .grad_accum = 3, .loss_chunk = 6}},
      {"zero_1_dp_3_chunked_loss", {.dp = 3, .zero = 1, .grad_accum = 2, .loss_chunk = 5}},
      {"recomputed_zero_3_dp_3", {.dp = 3, .zero = 3, .grad_accum = 2, .recompute = full}},
      {"recomputed_tp_sp", {.tp = 2, .sp = true, .grad_accum = 2, .recompute = full}},
      {"recomputed_uneven",
       {.pp = 2, .grad_accum = 3, .recompute = full, .layers_per_stage = {3, 1}}}};
}

std::vector<NamedSplit> all_splits() {
  std::vector<NamedSplit> all = data_splits();
  for (const auto& more :
       {tensor_splits(), context_splits(), pipeline_splits(), combined_splits()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace fourhold::engine::testing
