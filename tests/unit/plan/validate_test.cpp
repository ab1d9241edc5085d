#include "fourhold/plan/validate.h"

#include <gtest/gtest.h>

#include "legal_plan.h"

namespace fourhold::plan {
namespace {

void replicas(Plan& plan, std::int64_t dp, std::int64_t ep) {
  plan.dp = dp;
  plan.ep = ep;
  plan.global_batch = dp;
}

TEST(Validate, AnErrorPrintsTheWholePlan) {
  const Fault fault = refusal([](Plan& plan) { plan.tp = 3; });
  EXPECT_EQ(fault.what,
            "3 does not divide the 8 attention heads (plan: tp 3, dp 1, micro-batch 1 x 1, global "
            "batch 1, seq 1024, bf16, adamw, profile standard)");
}

TEST(Validate, TensorParallelThatDoesNotDivideTheHeadsListsWhatDoes) {
  // Qwen2.5-7B: 28 heads, 4 kv heads, width 18,944 = 2^9 x 37.
  const auto qwen = dense_model({.heads = 28, .kv_heads = 4, .ffn = 18944});
  const Fault eight = refusal([](Plan& plan) { plan.tp = 8; }, qwen);
  EXPECT_EQ(eight.where, "tp");
  EXPECT_TRUE(contains(eight.what, "8 does not divide the 28 attention heads")) << eight.what;
  EXPECT_EQ(eight.hint,
            "use tp 4; tp may be 1, 2 or 4; 28 with each key-value head on several devices if it "
            "divided the "
            "feed-forward width 18944; or split the layers with pp");
  // GPT2-XL: 25 heads, width 6,400.
  const auto xl = dense_model({.heads = 25, .kv_heads = 25, .ffn = 6400});
  EXPECT_EQ(refusal([](Plan& plan) { plan.tp = 4; }, xl).hint,
            "use tp 1 or 5; tp may be 1, 5 or 25; or split the layers with pp");
  // Falcon-7B: 71 heads, 1 kv head, width 4 x 4,544 = 71 x 256.
  const auto falcon = dense_model({.heads = 71, .kv_heads = 1, .ffn = 18176});
  for (const std::int64_t tp : {2, 4, 8}) {
    EXPECT_EQ(refusal([tp](Plan& plan) { plan.tp = tp; }, falcon).hint,
              "use tp 1 or 71; tp may be 1; 71 with each key-value head on several devices; or "
              "split the layers with pp");
  }
  expect_legal([](Plan& plan) { plan.tp = 71; }, falcon);
}

TEST(Validate, TensorParallelMustDivideOrReplicateTheKeyValueHeads) {
  const auto qwen = dense_model({.heads = 28, .kv_heads = 4, .ffn = 2800});
  const Fault seven = refusal([](Plan& plan) { plan.tp = 7; }, qwen);
  EXPECT_TRUE(
      contains(seven.what, "7 neither divides the 4 key-value heads nor is a multiple of them"))
      << seven.what;
  EXPECT_EQ(
      seven.hint,
      "use tp 4 or 28; tp may be 1, 2 or 4; 28 with each key-value head on several devices; or "
      "split the layers with pp");
  expect_legal([](Plan& plan) { plan.tp = 28; }, qwen);
  expect_legal([](Plan& plan) { plan.tp = 4; }, qwen);
}

TEST(Validate, TensorParallelMustDivideTheWidths) {
  const Fault dense = refusal([](Plan& plan) { plan.tp = 8; }, dense_model({.ffn = 100}));
  EXPECT_TRUE(contains(dense.what, "8 does not divide the feed-forward width 100")) << dense.what;
  EXPECT_EQ(dense.hint, "use tp 4; tp may be 1, 2 or 4; or split the layers with pp");
  const Fault expert = refusal([](Plan& plan) { plan.tp = 8; }, expert_model({.width = 100}));
  EXPECT_TRUE(contains(expert.what, "8 does not divide the width of an expert 100"));
  const Fault shared =
      refusal([](Plan& plan) { plan.tp = 8; }, expert_model({.shared_width = 100}));
  EXPECT_TRUE(contains(shared.what, "8 does not divide the width of the shared experts 100"));
}

TEST(Validate, TheVocabularyNeedNotDivide) {
  model::ModelConfig config = dense_model({});
  config.vocab = 50257;  // padded
  expect_legal([](Plan& plan) { plan.tp = 8; }, config);
}

TEST(Validate, ExpertParallelMustDivideTheExpertsAndTheirGroup) {
  const Fault group =
      refusal([](Plan& plan) { replicas(plan, 24, 16); }, expert_model({.experts = 128}));
  EXPECT_EQ(group.where, "ep");
  EXPECT_TRUE(contains(group.what, "16 does not divide dp x cp = 24 x 1 = 24: 24 % 16 = 8"))
      << group.what;
  EXPECT_EQ(group.hint,
            "use ep 8; it must divide the 128 experts and dp x cp = 24: it may be 1, 2, 4 or 8");
  const Fault experts =
      refusal([](Plan& plan) { replicas(plan, 16, 8); }, expert_model({.experts = 60}));
  EXPECT_TRUE(contains(experts.what, "8 does not divide the 60 experts: 60 % 8 = 4"))
      << experts.what;
  expect_legal([](Plan& plan) { replicas(plan, 16, 8); }, expert_model({.experts = 128}));
}

TEST(Validate, ExpertParallelNeedsExperts) {
  const Fault fault = refusal([](Plan& plan) { replicas(plan, 2, 2); });
  EXPECT_TRUE(contains(fault.what, "is 2, but the model has no experts")) << fault.what;
}

TEST(Validate, ContextParallelNamesTheNearestLengthsAndDropsNoToken) {
  const auto split = [](std::int64_t seq, std::int64_t cp) {
    return [seq, cp](Plan& plan) {
      plan.seq = seq;
      plan.cp = cp;
    };
  };
  const Fault ten = refusal(split(10, 3));
  EXPECT_EQ(ten.where, "seq");
  EXPECT_TRUE(contains(ten.what, "10 tokens do not split into 2 x cp = 2 x 3 = 6 equal pieces"));
  EXPECT_EQ(ten.hint, "use seq 6 or 12; texts may be padded, but no token dropped");
  EXPECT_EQ(refusal(split(2, 3)).hint, "use seq 6; texts may be padded, but no token dropped");
  EXPECT_TRUE(contains(refusal(split(8423, 8)).hint, "use seq 8416 or 8432;"));  // 526, 527 x 16
  EXPECT_TRUE(contains(refusal(split(33, 2)).hint, "use seq 32 or 36;"));
  expect_legal(split(12, 3));
}

TEST(Validate, SequenceParallelSplitsTheTokensOfARankOverTp) {
  const Fault fault = refusal([](Plan& plan) {
    plan.tp = 8;
    plan.sp = true;
    plan.cp = 2;
    plan.seq = 1000;  // 500 a rank
  });
  EXPECT_TRUE(contains(fault.what,
                       "sequence parallelism splits seq / cp = 500 tokens over tp = 8: "
                       "500 % 8 = 4"))
      << fault.what;
  EXPECT_EQ(fault.hint, "use seq 992 or 1008, or sp off");  // 62 x 16, 63 x 16
}

TEST(Validate, ALearnedTableLimitsTheSequence) {
  model::ModelConfig config = dense_model({});
  config.position = model::PositionKind::learned;
  config.max_positions = 1000;
  config.position_rows = 1002;  // as opt: two rows stand for no position
  const Fault fault = refusal([](Plan&) {}, config);
  EXPECT_TRUE(contains(fault.what, "1024 is longer than the model's learned positions: 1000"));
  EXPECT_EQ(fault.hint, "use at most 1000");
  expect_legal([](Plan& plan) { plan.seq = 1000; }, config);
}

TEST(Validate, ASequenceBeyondRotaryPositionsIsLegal) {
  model::ModelConfig config = dense_model({});
  config.max_positions = 512;
  expect_legal([](Plan&) {}, config);
}

TEST(Validate, ABatchThatDoesNotMultiplyOutOffersTheNearestTwo) {
  const Fault fault = refusal([](Plan& plan) {
    plan.dp = 7;
    plan.micro_batch = 2;
    plan.grad_accum = 18;
    plan.global_batch = 256;
  });
  EXPECT_EQ(fault.where, "global_batch");
  EXPECT_TRUE(
      contains(fault.what, "256 is not a multiple of micro_batch x dp = 2 x 7 = 14: 256 % 14 = 4"));
  EXPECT_EQ(fault.hint, "the nearest legal batches are 252 (grad_accum 18) or 266 (grad_accum 19)");
}

TEST(Validate, ABatchWithAnotherAccumulationIsNamed) {
  const Fault fault = refusal([](Plan& plan) {
    plan.dp = 2;
    plan.grad_accum = 3;
    plan.global_batch = 8;
  });
  EXPECT_TRUE(contains(fault.what, "8 is not micro_batch x grad_accum x dp = 1 x 3 x 2 = 6"));
  EXPECT_EQ(fault.hint, "use global_batch 6, or grad_accum 4");
}

TEST(Validate, ChunksNeedAPipeline) {
  const Fault fault = refusal([](Plan& plan) { plan.vpp = 2; });
  EXPECT_EQ(fault.where, "vpp");
  EXPECT_TRUE(contains(fault.what, "2 chunks per stage need a pipeline, but pp is 1"));
}

TEST(Validate, InterleavedNeedsChunksAndChunksNeedInterleaved) {
  const Fault without = refusal([](Plan& plan) { plan.schedule = ScheduleKind::interleaved; });
  EXPECT_TRUE(contains(without.what, "interleaved needs more than one chunk per stage"));
  const Fault with = refusal([](Plan& plan) {
    pipeline(plan, 2, 2, 2);
    plan.schedule = ScheduleKind::gpipe;
  });
  EXPECT_TRUE(contains(with.what, "gpipe runs one chunk per stage, but vpp is 2")) << with.what;
}

TEST(Validate, InterleavedNeedsAMultipleOfItsStages) {
  const Fault fault = refusal([](Plan& plan) { pipeline(plan, 4, 2, 6); });
  EXPECT_EQ(fault.where, "grad_accum");
  EXPECT_EQ(fault.hint, "use 4 or 8 micro-batches");
  expect_legal([](Plan& plan) { pipeline(plan, 4, 2, 8); });
}

TEST(Validate, MoreStagesThanLayersAreRefused) {
  const auto deep = [](Plan& plan) { plan.pp = 9; };
  EXPECT_EQ(refusal(deep).where, "pp");
  EXPECT_TRUE(contains(refusal(deep).what,
                       "pp x vpp = 9 x 1 = 9 stages are more than the model's 8 layers"));
  EXPECT_EQ(refusal(deep).hint, "use pp x vpp of at most 8");
  const auto chunked = [](Plan& plan) {
    plan.pp = 4;
    plan.vpp = 3;
    plan.grad_accum = plan.global_batch = 4;
    plan.schedule = ScheduleKind::interleaved;
  };
  EXPECT_EQ(refusal(chunked).where, "vpp");
}

TEST(Validate, AnUnevenLayoutIsLegalAndAWrongOneNamesBothSums) {
  const auto glm = dense_model({.layers = 46});
  const auto layout = [](std::vector<std::int64_t> layers) {
    return [layers](Plan& plan) {
      pipeline(plan, 4, 1, 4);
      plan.layers_per_stage = layers;
    };
  };
  expect_legal(layout({11, 12, 12, 11}), glm);
  expect_legal(layout({4, 14, 14, 14}), glm);
  const Fault fault = refusal(layout({11, 11, 12, 11}), glm);
  EXPECT_EQ(fault.where, "layers_per_stage");
  EXPECT_TRUE(contains(fault.what, "adds up to 45 layers, but the model has 46")) << fault.what;
  EXPECT_EQ(fault.hint, "for 4 stages of 46 layers: --layers-per-stage 11,12,12,11");
  EXPECT_TRUE(contains(refusal(layout({23, 23}), glm).what, "names 2 stages, but pp x vpp is 4"));
}

TEST(Validate, EmbeddingAndHeadMayStandAloneWhatIsBetweenMayNot) {
  const auto layout = [](std::vector<std::int64_t> layers) {
    return [layers](Plan& plan) {
      pipeline(plan, 4, 1, 4);
      plan.layers_per_stage = layers;
    };
  };
  expect_legal(layout({3, 3, 2, 0}));
  expect_legal(layout({0, 4, 4, 0}));
  const Fault fault = refusal(layout({4, 0, 4, 0}));
  EXPECT_EQ(fault.where, "layers_per_stage");
  EXPECT_TRUE(contains(fault.what, "has no layer on virtual stage 1")) << fault.what;
  EXPECT_EQ(fault.hint, "for 4 stages of 8 layers: --layers-per-stage 2,2,2,2");
  // The engine runs a layer on every stage.
  Profile engine = everything();
  engine.kernel_scratch = KernelScratch::engine;
  EXPECT_EQ(refusal(layout({3, 3, 2, 0}), dense_model({}), engine).where, "layers_per_stage");
}

TEST(Validate, AProfileRefusesTheSplitsItDoesNotHave) {
  Profile engine = everything();
  engine.name = "fourhold";
  engine.splits = {"tp", "pp"};
  const auto model = expert_model({});
  const auto named = [&](const Change& change) { return refusal(change, model, engine); };
  EXPECT_EQ(named([](Plan& plan) { replicas(plan, 2, 2); }).where, "ep");
  EXPECT_TRUE(contains(named([](Plan& plan) { replicas(plan, 2, 2); }).what,
                       "profile 'fourhold' has no ep"));
  EXPECT_EQ(named([](Plan& plan) { replicas(plan, 2, 2); }).hint,
            "it has tp, pp; leave it out, or choose another profile");
  EXPECT_EQ(named([](Plan& plan) { plan.offload = Offload::optimizer; }).where, "offload");
  EXPECT_EQ(named([](Plan& plan) { plan.cp = 2; }).where, "cp");
  EXPECT_EQ(named([](Plan& plan) { pipeline(plan, 2, 2, 2); }).where, "vpp");
  const auto sequence = [](Plan& plan) {
    plan.tp = 2;
    plan.sp = true;
  };
  EXPECT_EQ(named(sequence).where, "sp");
  engine.splits.clear();
  EXPECT_EQ(named([](Plan& plan) { plan.tp = 2; }).where, "tp");
  EXPECT_EQ(named([](Plan& plan) { pipeline(plan, 2, 1, 2); }).where, "pp");
  EXPECT_EQ(named([](Plan& plan) { plan.tp = 2; }).hint,
            "it can only replicate and shard: leave it out, or choose another profile");
}

TEST(Validate, AProfileRefusesTheZeroStagesItDoesNotHave) {
  Profile profile = everything();
  profile.name = "megatron";
  profile.zero_stages = {0, 1};
  const Fault fault = refusal([](Plan& plan) { plan.zero = 2; }, dense_model({}), profile);
  EXPECT_EQ(fault.where, "zero");
  EXPECT_TRUE(contains(fault.what, "profile 'megatron' has no stage 2")) << fault.what;
  EXPECT_EQ(fault.hint, "it has stage 0 or 1");
}

TEST(Validate, NumbersOutsideTheirRangeAreRefused) {
  EXPECT_EQ(refusal([](Plan& plan) { plan.zero = 4; }).where, "zero");
  EXPECT_EQ(refusal([](Plan& plan) { plan.micro_batch = 0; }).what,
            "is 0; it must be from 1 to 2147483648");
  EXPECT_EQ(refusal([](Plan& plan) { plan.layers_per_stage = {-1}; }).where, "layers_per_stage[0]");
}

TEST(Validate, MoreDevicesThanThereCanBeAreRefused) {
  const Fault fault = refusal([](Plan& plan) { plan.dp = plan.cp = plan.tp = 1 << 20; });
  EXPECT_EQ(fault.where, "dp");
  EXPECT_TRUE(contains(fault.what, "1152921504606846976 devices are more than 1048576"));
}

TEST(Validate, FullRecomputationOfMoreLayersThanARankHasIsRefused) {
  const auto five = [](Plan& plan) {
    pipeline(plan, 2, 1, 2);
    plan.recompute = recompute_from_string("full:5");
  };
  const Fault fault = refusal(five);
  EXPECT_EQ(fault.where, "recompute");
  EXPECT_TRUE(contains(fault.what, "full:5 names more layers than a rank has: 4")) << fault.what;
  EXPECT_EQ(fault.hint, "the nearest valid value is full, which is all 4; or full:1 to full:3");
  expect_legal([](Plan& plan) {  // four chunks of two layers: still four on each rank
    pipeline(plan, 2, 2, 2);
    plan.recompute = recompute_from_string("full:4");
  });
}

TEST(Validate, RecomputingExpertsNeedsExperts) {
  const auto experts = [](Plan& plan) {
    plan.recompute = recompute_from_string("selective:experts");
  };
  EXPECT_TRUE(contains(refusal(experts).what, "the model has no experts to recompute"));
  expect_legal(experts, expert_model({}));
}

TEST(Validate, AdaptersAndTheirRankBelongTogether) {
  EXPECT_TRUE(contains(refusal([](Plan& plan) { plan.lora_rank = 8; }).what,
                       "is 8, but all weights are trained"));
  EXPECT_TRUE(contains(refusal([](Plan& plan) { plan.tuning = Tuning::lora; }).what,
                       "is 0: the adapters would be empty"));
}

TEST(Validate, AnInstructionSetIsOneThatIsKnown) {
  const Fault fault = refusal([](Plan& plan) { plan.isa = "avx-512"; });
  EXPECT_EQ(fault.where, "isa");
  EXPECT_TRUE(contains(fault.what, "'avx-512' is not one of its values"));
  EXPECT_TRUE(contains(fault.hint, "did you mean 'avx512'"));
  EXPECT_TRUE(contains(fault.hint, "auto, portable, avx2, avx512, avx512_bf16 or amx"));
  EXPECT_TRUE(contains(refusal([](Plan& plan) { plan.isa = "zorg"; }).what, "'zorg'"));
}

}  // namespace
}  // namespace fourhold::plan
