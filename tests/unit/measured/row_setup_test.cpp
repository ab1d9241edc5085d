#include "fourhold/measured/row_setup.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fourhold/plan/recompute_policy.h"
#include "tests/unit/measured/builtin_row.h"
#include "tests/unit/measured/row_text.h"

namespace fourhold::measured {
namespace {

// The plan in the order of the columns.
std::string text_of(const RowSetup& setup) {
  const plan::Plan& p = setup.plan;
  std::string text =
      fmt::format("{}: tp {}{} pp {} vpp {} ep {} dp {} zero {}, {} x {} of {}, {} {}",
                  setup.profile.name, p.tp, p.sp ? " sp" : "", p.pp, p.vpp, p.ep, p.dp, p.zero,
                  p.micro_batch, p.grad_accum, p.seq, plan::to_string(p.recompute),
                  plan::kPrecisionNames.at(static_cast<std::size_t>(p.precision)));
  if (p.tuning != plan::Tuning::full) {
    text += fmt::format(" {} {}", plan::kTuningNames.at(static_cast<std::size_t>(p.tuning)),
                        p.lora_rank);
  }
  return text + " on " + setup.cluster.device.name;
}

std::string plan_of(const std::string& id) {
  Catalogue catalogue;
  const RowReading reading = setup_of(builtin_row(id), catalogue);
  return reading.setup ? text_of(*reading.setup) : "skipped: " + reading.skipped;
}

std::string reading_of(const std::string& id, const std::function<void(MeasuredRow&)>& change) {
  MeasuredRow row = builtin_row(id);
  change(row);
  Catalogue catalogue;
  const RowReading reading = setup_of(row, catalogue);
  return reading.setup ? reading.setup->cluster.device.name : reading.skipped;
}

TEST(RowSetup, FactsThatContradictEachOtherAreOfNoModel) {
  EXPECT_EQ(reading_of("simumax-0001", [](MeasuredRow& row) { row.hidden = 16; }),
            "no plan says it: hidden 16 does not divide by 64 heads");
  EXPECT_EQ(reading_of("nanotron-0001", [](MeasuredRow& row) { row.kv_heads = 5; }),
            "no plan says it: heads 32 do not divide by 5 kv_heads");
}

TEST(RowSetup, TheColumnOfMemorySaysWhichDeviceOfAName) {
  const auto device = [](double gib) {
    return reading_of("nanotron-0001", [gib](MeasuredRow& row) {
      row.gpu = "A100";
      row.gpu_mem_gib = gib;
      row.peak_mem_gib_reserved.reset();  // more than the smaller one has
    });
  };
  EXPECT_EQ(device(80), "a100-sxm-80gb");
  EXPECT_EQ(device(40), "a100-sxm-40gb");
  EXPECT_EQ(device(60), "no plan says it: gpu_mem_gib is 60, and a100-sxm-80gb has 80 GB");
}

// Every source once, from its row's columns and notes by hand.
TEST(RowSetup, RebuildsTheRunOfEverySource) {
  const std::map<std::string, std::string> expected{
      {"aleph-0131",
       "megatron-2021: tp 1 pp 1 vpp 1 ep 1 dp 64 zero 1, 2 x 16 of 2048, full bf16 on "
       "a100-sxm-80gb"},
      {"bigsci-0046",
       "megatron-deepspeed: tp 8 pp 12 vpp 1 ep 1 dp 4 zero 1, 2 x 256 of 2048, full fp16 on "
       "a100-sxm-80gb"},
      {"peft-0031",
       "peft: tp 1 pp 1 vpp 1 ep 1 dp 1 zero 0, 4 x 1 of 768, none bf16 lora 32 on l40s"},
      {"internevo-0017",
       "standard: tp 2 pp 1 vpp 1 ep 1 dp 4 zero 1, 4 x 4 of 2048, none bf16 on a100-sxm-80gb"},
      {"litgpt-0001",
       "litgpt: tp 1 pp 1 vpp 1 ep 1 dp 1 zero 0, 1 x 128 of 1044, none bf16 lora 8 on "
       "a100-sxm-40gb"},
      {"foundry-0007",
       "llm-foundry: tp 1 pp 1 vpp 1 ep 1 dp 512 zero 3, 16 x 1 of 2048, full bf16 on "
       "h100-sxm-80gb"},
      {"llmq-0022",
       "llmq: tp 1 pp 1 vpp 1 ep 1 dp 1 zero 0, 32 x 16 of 1024, none bf16 on h100-sxm-80gb"},
      {"llmq-0026",
       "llmq: tp 1 pp 1 vpp 1 ep 1 dp 1 zero 0, 16 x 32 of 1024, selective:norm,mlp bf16 on "
       "h100-sxm-80gb"},
      {"mcoretest-0081",
       "megatron: tp 1 pp 4 vpp 3 ep 1 dp 1 zero 1, 4 x 8 of 1024, none bf16 on gb200"},
      // ep 4 x expert tp 1 is as many shares as ep 2 x tp 2; sequence-parallel=true.
      {"mcoretest-0309",
       "megatron: tp 2 sp pp 1 vpp 1 ep 2 dp 4 zero 0, 4 x 2 of 1024, none bf16 on gb200"},
      {"misc-0001",
       "fsdp2: tp 1 pp 1 vpp 1 ep 1 dp 128 zero 3, 2 x 1 of 4096, none bf16 on a100-sxm-80gb"},
      {"swift-0001",
       "peft: tp 1 pp 1 vpp 1 ep 1 dp 1 zero 0, 1 x 16 of 2048, full bf16 lora 8 on "
       "a100-sxm-80gb"},
      {"nanotron-0437",
       "nanotron: tp 1 pp 4 vpp 1 ep 1 dp 2 zero 0, 1 x 128 of 4096, none bf16 on h100-sxm-80gb"},
      {"mbridge-0079",
       "megatron: tp 2 sp pp 4 vpp 5 ep 1 dp 8 zero 1, 1 x 32 of 8192, none bf16 on gb200"},
      {"nemo-0016",
       "megatron: tp 1 pp 1 vpp 1 ep 1 dp 8 zero 1, 1 x 4 of 4096, none bf16 lora 32 on "
       "h100-sxm-80gb"},
      {"paper-0003",
       "megatron-2021: tp 4 pp 1 vpp 1 ep 1 dp 32 zero 0, 2 x 8 of 2048, full fp16 on "
       "a100-sxm-80gb"},
      {"qwen-0025",
       "qwen-finetune: tp 1 pp 1 vpp 1 ep 1 dp 1 zero 0, 1 x 8 of 256, full bf16 lora 64 on "
       "a100-sxm-80gb"},
      {"simumax-0010",
       "megatron: tp 2 sp pp 1 vpp 1 ep 1 dp 4 zero 1, 1 x 8 of 4096, none bf16 on b200"},
      {"titan-0001",
       "fsdp2: tp 1 pp 1 vpp 1 ep 1 dp 8 zero 3, 2 x 1 of 8192, "
       "selective:norm,activation,alternate bf16 "
       "on h100-96gb-hbm2e"},
      {"vtrain-multi-0044",
       "megatron-deepspeed: tp 2 pp 16 vpp 1 ep 1 dp 16 zero 0, 2 x 48 of 2048, full fp16 on "
       "a100-sxm-80gb"},
      {"vtrain-single-0221",
       "megatron-deepspeed: tp 4 pp 1 vpp 1 ep 1 dp 2 zero 0, 2 x 4 of 1024, full fp16 on "
       "a100-sxm-80gb"}};
  for (const auto& [id, text] : expected) EXPECT_EQ(plan_of(id), text) << id;
}

// What pytorch/torchtitan did at each commit: eager of December 2024 with its root's both ends,
// compiled loss of October 2025, norms that are kernels then, weights that are never resharded, the
// wrapping of July 2024 that saves memory, graph_trainer, scales by row, async tensor parallelism.
TEST(RowSetup, TellsVersionsOfTorchtitanApart) {
  Catalogue catalogue;
  const auto setup = [&catalogue](const char* id) {
    return *setup_of(builtin_row(id), catalogue).setup;
  };
  const plan::Profile eager = setup("titan-0001").profile;
  EXPECT_TRUE(eager.switches.keep_down_product);
  EXPECT_EQ(eager.switches.loss, model::LossSaving::eager);
  EXPECT_EQ(eager.switches.norm, model::NormSaving::wide);
  EXPECT_EQ(eager.whole_weights, plan::WholeWeights::ends);
  const plan::Profile compiled = setup("titan-0054").profile;
  EXPECT_FALSE(compiled.switches.keep_down_product);
  EXPECT_EQ(compiled.switches.loss, model::LossSaving::compiled);
  EXPECT_EQ(compiled.whole_weights, plan::WholeWeights::head);
  EXPECT_EQ(setup("titan-0055").profile.switches.norm, model::NormSaving::input);
  EXPECT_EQ(setup("titan-0047").plan.zero, 3);
  EXPECT_EQ(setup("titan-0047").profile.whole_weights, plan::WholeWeights::all);
  EXPECT_EQ(setup("titan-0048").profile.whole_weights, plan::WholeWeights::head);
  EXPECT_EQ(setup("titan-0049").profile.whole_weights, plan::WholeWeights::ends);
  EXPECT_EQ(setup("titan-0063").profile.shard_streams, plan::ShardStreams::compute);
  EXPECT_DOUBLE_EQ(setup("titan-0051").profile.time.quantisation_traffic,
                   2 * setup("titan-0052").profile.time.quantisation_traffic);
  EXPECT_EQ(setup("titan-0019").profile.time.tensor_overlap, 0);
  EXPECT_GT(setup("titan-0020").profile.time.tensor_overlap, 0);
}

// Qwen2.5-7B in fp8 on one H100, whose command has --lmhead-chunks=4 over 16 x 1024 tokens; and the
// commands of its larger models and of several devices (llmq, benchmarks/*.md).
TEST(RowSetup, ReadsTheFlagsOfLlmq) {
  Catalogue catalogue;
  const RowSetup seven = *setup_of(builtin_row("llmq-0026"), catalogue).setup;
  EXPECT_EQ(seven.plan.loss_chunk, 4096);
  EXPECT_EQ(seven.plan.activation_offload, plan::ActivationOffload::residual);
  EXPECT_EQ(seven.plan.offload, plan::Offload::none);
  EXPECT_EQ(seven.plan.first_moment, plan::MomentFormat::bf16);
  EXPECT_EQ(seven.plan.second_moment, plan::MomentFormat::bf16);
  EXPECT_EQ(seven.profile.time.products, plan::ProductFormat::fp8);

  const auto with = [&catalogue](const char* recompute, const char* offload) {
    MeasuredRow row = builtin_row("llmq-0027");
    row.recompute = recompute;
    row.offload = offload;
    return setup_of(row, catalogue).setup->plan;
  };
  EXPECT_EQ(to_string(with("recompute-swiglu", "none").recompute), "selective:activation");
  EXPECT_EQ(to_string(with("recompute-ffn recompute-att", "none").recompute),
            "selective:attention,mlp,qkv");
  EXPECT_EQ(to_string(with("recompute-block", "none").recompute), "full");
  EXPECT_EQ(with("none", "offload-master offload-opt-v offload-opt-m").offload,
            plan::Offload::optimizer);
  EXPECT_EQ(with("none", "offload-opt-m offload-opt-v offload-master offload-gradients").offload,
            plan::Offload::optimizer_gradients);
  EXPECT_EQ(with("none", "offload-opt-m offload-opt-v persistent-quants offload-quants").offload,
            plan::Offload::all);
}

TEST(RowSetup, ModelsOfSeveralSources) {
  Catalogue catalogue;
  const auto setup = [&catalogue](const char* id) {
    return *setup_of(builtin_row(id), catalogue).setup;
  };
  // DeepSeek-V2 (arXiv 2405.04434): one dense layer in front, two shared experts of 1,536.
  const model::ModelConfig v2 = setup("simumax-0005").config;
  EXPECT_EQ(v2.layer_count(), 4);
  EXPECT_EQ(v2.kinds.at(static_cast<std::size_t>(v2.layers.front())).feed_forward.width, 12288);
  const model::FeedForward& experts =
      v2.kinds.at(static_cast<std::size_t>(v2.layers.back())).feed_forward;
  EXPECT_EQ(experts.experts, 160);
  EXPECT_EQ(experts.shared_width, 2 * 1536);
  // The embedding of nanotron's pipelines is not tied, as the note says.
  EXPECT_FALSE(setup("nanotron-0437").config.tied);
  EXPECT_TRUE(setup("nanotron-0001").config.tied);
  EXPECT_EQ(setup("mcoretest-0081").config.vocab, 50257);
  EXPECT_EQ(setup("vtrain-single-0221").config.vocab, 51200);
  EXPECT_EQ(setup("vtrain-single-0221").config.kinds.front().feed_forward.gated, false);
  EXPECT_EQ(setup("mcoretest-0081").stage, MeasuredStage::last);
  EXPECT_EQ(setup("nanotron-0437").stage, MeasuredStage::first);
  EXPECT_EQ(setup("titan-0001").stage, MeasuredStage::fullest);
}

MeasuredRow changed(const std::string& id, const std::function<void(MeasuredRow&)>& change) {
  MeasuredRow row = builtin_row(id);
  change(row);
  return row;
}

// What its rows leave blank its scripts say: 16b.sh and 32b.sh. A slice of v5e has 256 chips.
TEST(RowSetup, MaxTextIsShardedInsideASlice) {
  EXPECT_EQ(plan_of("misc-0031"),
            "maxtext: tp 1 pp 1 vpp 1 ep 1 dp 256 zero 3, 6 x 1 of 2048, full bf16 on tpu-v5e");
  EXPECT_EQ(plan_of("misc-0042"),
            "maxtext: tp 1 pp 1 vpp 1 ep 1 dp 8192 zero 3, 4 x 1 of 2048, full bf16 on tpu-v5e");
  Catalogue catalogue;
  EXPECT_EQ(setup_of(builtin_row("misc-0031"), catalogue).setup->plan.shard_groups, 1);
  EXPECT_EQ(setup_of(builtin_row("misc-0042"), catalogue).setup->plan.shard_groups, 32);
}

// 16 ranks in groups of 8, 8 ranks in one, 16 in one; a hybrid of 128 A100s in nodes of 8.
TEST(RowSetup, ShardGroupsAreThoseOfTheRow) {
  Catalogue catalogue;
  const auto groups = [&](const std::string& id) {
    return setup_of(builtin_row(id), catalogue).setup->plan.shard_groups;
  };
  EXPECT_EQ(groups("internevo-0010"), 2);
  EXPECT_EQ(groups("internevo-0009"), 1);
  EXPECT_EQ(groups("internevo-0002"), 1);
  EXPECT_EQ(groups("misc-0001"), 16);
}

TEST(RowSetup, SkipsOnlyForAFactThatIsMissing) {
  Catalogue catalogue;
  const auto why = [&catalogue](const MeasuredRow& row) {
    return setup_of(row, catalogue).skipped;
  };
  const auto of = [&why](const std::function<void(MeasuredRow&)>& change) {
    return why(changed("foundry-0007", change));
  };
  EXPECT_EQ(of([](MeasuredRow&) {}), "");
  EXPECT_EQ(of([](MeasuredRow& row) { row.layers.reset(); }), "layers is not published");
  EXPECT_EQ(of([](MeasuredRow& row) {
              row.hidden.reset();
              row.seq_len.reset();
            }),
            "hidden and seq_len are not published");
  EXPECT_EQ(of([](MeasuredRow& row) { row.num_gpus.reset(); }), "num_gpus is not published");
  EXPECT_EQ(of([](MeasuredRow& row) { row.framework = "Foo"; }), "framework 'Foo' is not known");
  EXPECT_EQ(of([](MeasuredRow& row) { row.gpu = "abacus"; }),
            "what the device 'abacus' is is not published");
  EXPECT_NE(of([](MeasuredRow& row) { row.global_batch = 8191; }), "");
  EXPECT_EQ(of([](MeasuredRow& row) { row.unusable = {"tp is 0"}; }), "tp is 0");
  // A blank with a documented default is none: the feed-forward of GPT is 4 x hidden.
  EXPECT_EQ(of([](MeasuredRow& row) { row.ffn.reset(); }), "");
  // In NVIDIA's tables a blank vpp is not 1.
  EXPECT_EQ(why(changed("mbridge-0079", [](MeasuredRow& row) { row.vpp.reset(); })),
            "vpp is not published");
}

// A word that nobody knows is no silent default, and a fact that is no number no end of the replay.
TEST(RowSetup, SkipsARowWithAWordThatNothingIsKnownOf) {
  Catalogue catalogue;
  const auto skipped = [&catalogue](const std::function<void(MeasuredRow&)>& change) {
    return setup_of(changed("simumax-0001", change), catalogue).skipped;
  };
  EXPECT_EQ(skipped([](MeasuredRow&) {}), "");
  EXPECT_EQ(skipped([](MeasuredRow& row) { row.sharding = "zero9"; }),
            "unknown word 'zero9' in sharding");
  EXPECT_EQ(skipped([](MeasuredRow& row) { row.recompute = "bogus"; }),
            "unknown word 'bogus' in recompute");
  EXPECT_EQ(skipped([](MeasuredRow& row) { row.precision = "bf17"; }),
            "unknown word 'bf17' in precision");
  EXPECT_EQ(skipped([](MeasuredRow& row) { row.optimizer = "foo"; }),
            "unknown word 'foo' in optimizer");
  const RowReading wrong = setup_of(
      changed("mcoretest-0309",
              [](MeasuredRow& row) { row.facts["moe-shared-expert-intermediate-size"] = "wide"; }),
      catalogue);
  EXPECT_FALSE(wrong.setup.has_value());
  EXPECT_NE(wrong.skipped.find("moe-shared-expert-intermediate-size"), std::string::npos);
}

TEST(RowSetup, EveryDeviceOfThePublishedRowsIsKnown) {
  const std::map<std::string, std::int64_t> devices_per_node{{"A100", 8},
                                                             {"A100-40GB", 8},
                                                             {"A100-80GB", 8},
                                                             {"A800-80GB", 8},
                                                             {"V100-16GB", 8},
                                                             {"V100-32GB", 8},
                                                             {"H100-80GB", 8},
                                                             {"H100-96GB-HBM2e", 8},
                                                             {"H200", 8},
                                                             {"B200", 8},
                                                             {"B300", 8},
                                                             {"GB200", 72},
                                                             {"GB300", 72},
                                                             {"L40S", 8},
                                                             {"RTX3090", 8},
                                                             {"RTX4090", 8},
                                                             {"RTX5060Ti", 4},
                                                             {"A6000", 8},
                                                             {"MI300X", 8},
                                                             {"MI355X", 8},
                                                             {"RTX PRO 6000 (96GB)", 8},
                                                             {"RTX PRO 6000", 8},
                                                             {"TPU v3", 1024},
                                                             {"TPU v4", 4096},
                                                             {"TPU v5e", 256},
                                                             {"TPU v5p", 8960}};
  Catalogue catalogue;
  for (const auto& [name, nodes] : devices_per_node) {
    EXPECT_EQ(catalogue.device(name).device.devices_per_node, nodes) << name;
  }
}

}  // namespace
}  // namespace fourhold::measured
