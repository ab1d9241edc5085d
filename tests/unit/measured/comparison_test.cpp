#include "fourhold/measured/comparison.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/measured/row_text.h"

namespace fourhold::measured {
namespace {

// A row of BigScience's sweep (data/measured/bigscience_megatron_deepspeed.csv, 0035).
Comparison reserved_of(const std::string& notes) {
  const std::string text = header_text() + "\n" +
                           row_text({{"id", "bigsci-1"},
                                     {"framework", "Megatron-DeepSpeed"},
                                     {"model", "GPT"},
                                     {"layers", "72"},
                                     {"hidden", "14336"},
                                     {"heads", "64"},
                                     {"vocab", "250000"},
                                     {"seq_len", "2048"},
                                     {"gpu", "A100-80GB"},
                                     {"num_gpus", "384"},
                                     {"tp", "8"},
                                     {"pp", "6"},
                                     {"sharding", "zero1"},
                                     {"micro_batch", "1"},
                                     {"global_batch", "2048"},
                                     {"recompute", "full"},
                                     {"attention_impl", "fused softmax (no flash)"},
                                     {"peak_mem_gib_reserved", "38"},
                                     {"notes", notes}}) +
                           "\n";
  Catalogue catalogue;
  const Exclusions none("id,when,aspect,reason,source\n", "none");
  const RowResult result = compare_row(parse_rows(text, "test").front(), none, catalogue, 0);
  return result.comparisons.empty() ? Comparison{} : result.comparisons.front();
}

TEST(Comparison, DecimalGigabytesBecomeGibibytes) {
  EXPECT_NEAR(reserved_of("memory unit as published 'GB'").measured, 38e9 / (1LL << 30), 1e-9);
  EXPECT_EQ(reserved_of("").measured, 38);
}

// 16-bit weights and gradients of 3.3 G parameters are 13 GB, the fp32 shard 5 GB, six
// micro-batches of 12 inputs 4 GB, the rest the live layer, logits and the constant.
TEST(Comparison, BigScienceIsWithinAFewPercent) {
  EXPECT_NEAR(reserved_of("memory unit as published 'GB'").error_percent(), 0, 5);
}

}  // namespace
}  // namespace fourhold::measured
