#include "fourhold/model/checkpoint_count.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fourhold/model/stored_type.h"

namespace fourhold::model {
namespace {

class Tensors {
 public:
  void add(const std::string& name, std::vector<std::int64_t> shape,
           StoredType type = StoredType::f32) {
    StoredTensor tensor;
    tensor.name = name;
    tensor.type = type;
    tensor.elements = 1;
    for (const std::int64_t size : shape) tensor.elements *= size;
    tensor.shape = std::move(shape);
    tensor.end = tensor.elements * info(type).bits / 8;
    all_.push_back(std::move(tensor));
  }
  [[nodiscard]] const std::vector<StoredTensor>& all() const { return all_; }

 private:
  std::vector<StoredTensor> all_;
};

const CountLine* line_of(const CheckpointCount& count, const std::string& what) {
  for (const CountLine& line : count.lines) {
    if (line.what == what) return &line;
  }
  return nullptr;
}

// The published gpt2 checkpoint: 12 layers of width 768, 50,257 tokens, 1,024 positions.
Tensors gpt2() {
  Tensors tensors;
  tensors.add("wte.weight", {50257, 768});
  tensors.add("wpe.weight", {1024, 768});
  for (int i = 0; i < 12; ++i) {
    const std::string layer = "h." + std::to_string(i) + ".";
    tensors.add(layer + "ln_1.weight", {768});
    tensors.add(layer + "ln_1.bias", {768});
    tensors.add(layer + "attn.bias", {1, 1, 1024, 1024});
    tensors.add(layer + "attn.c_attn.weight", {768, 2304});
    tensors.add(layer + "attn.c_attn.bias", {2304});
    tensors.add(layer + "attn.c_proj.weight", {768, 768});
    tensors.add(layer + "attn.c_proj.bias", {768});
    tensors.add(layer + "ln_2.weight", {768});
    tensors.add(layer + "ln_2.bias", {768});
    tensors.add(layer + "mlp.c_fc.weight", {768, 3072});
    tensors.add(layer + "mlp.c_fc.bias", {3072});
    tensors.add(layer + "mlp.c_proj.weight", {3072, 768});
    tensors.add(layer + "mlp.c_proj.bias", {768});
  }
  tensors.add("ln_f.weight", {768});
  tensors.add("ln_f.bias", {768});
  return tensors;
}

// The Hub states 137,022,720 for gpt2: 12 masks of 1,024 x 1,024 are no parameters.
TEST(CheckpointCount, Gpt2WithoutItsCausalMasks) {
  const CheckpointCount count = count_checkpoint(gpt2().all());
  EXPECT_EQ(count.stored_elements, 137022720);
  EXPECT_EQ(count.parameters, 124439808);
  const CountLine* masks = line_of(count, "causal mask buffers");
  ASSERT_NE(masks, nullptr);
  EXPECT_EQ(masks->effect, CountEffect::set_aside);
  EXPECT_EQ(masks->tensors, 12);
  EXPECT_EQ(masks->elements, 12582912);
  EXPECT_TRUE(count.notes.empty());
}

TEST(CheckpointCount, AnAttentionBiasVectorIsAParameter) {
  Tensors tensors;
  tensors.add("h.0.attn.bias", {2304});
  tensors.add("h.0.attn.masked_bias", {});
  EXPECT_EQ(count_checkpoint(tensors.all()).parameters, 2304);
}

// Falcon-7B: 7,217,189,760 are published; the head of 65,024 x 4,544 is the embedding again.
TEST(CheckpointCount, ATiedHeadStoredAgainCountsOnce) {
  Tensors tensors;
  tensors.add("transformer.word_embeddings.weight", {65024, 4544}, StoredType::bf16);
  tensors.add("rest", {7217189760 - 2 * 65024 * 4544}, StoredType::bf16);
  tensors.add("lm_head.weight", {65024, 4544}, StoredType::bf16);
  const CheckpointCount tied = count_checkpoint(tensors.all(), {.tie = Tie::tied});
  EXPECT_EQ(tied.stored_elements, 7217189760);
  EXPECT_EQ(tied.parameters, 6921720704);
  ASSERT_NE(line_of(tied, "duplicated tied head"), nullptr);

  const CheckpointCount unknown = count_checkpoint(tensors.all());
  EXPECT_EQ(unknown.parameters, 7217189760);
  ASSERT_EQ(unknown.notes.size(), 1U);
  EXPECT_EQ(
      unknown.notes[0],
      "transformer.word_embeddings.weight and lm_head.weight have the same shape and dtype; if "
      "the config ties them, 295,469,056 of these elements are a duplicate (counted here)");

  const CheckpointCount untied = count_checkpoint(tensors.all(), {.tie = Tie::untied});
  EXPECT_EQ(untied.parameters, 7217189760);
  EXPECT_TRUE(untied.notes.empty());
}

TEST(CheckpointCount, HeadsOfAnotherShapeOrDtypeAreNoDuplicates) {
  Tensors tensors;
  tensors.add("model.embed_tokens.weight", {100, 8}, StoredType::bf16);
  tensors.add("lm_head.weight", {100, 8}, StoredType::f32);
  EXPECT_EQ(count_checkpoint(tensors.all(), {.tie = Tie::tied}).parameters, 1600);
  EXPECT_TRUE(count_checkpoint(tensors.all()).notes.empty());
}

// MiniMax-M2.5 is stored in fp8 with one scale per block of 128 x 128.
TEST(CheckpointCount, BlockScalesAreNoParametersAndFp8IsSaid) {
  Tensors tensors;
  tensors.add("l.w1.weight", {256, 384}, StoredType::f8_e4m3);
  tensors.add("l.w1.weight_scale_inv", {2, 3});
  tensors.add("norm.weight", {256}, StoredType::bf16);
  const CheckpointCount count = count_checkpoint(tensors.all());
  EXPECT_EQ(count.parameters, 256 * 384 + 256);
  ASSERT_NE(line_of(count, "quantisation scales"), nullptr);
  EXPECT_EQ(line_of(count, "quantisation scales")->elements, 6);
  ASSERT_EQ(count.notes.size(), 1U);
  EXPECT_EQ(count.notes[0],
            "98,304 elements are stored in fp8; training holds weights in 16 bits, 2 bytes per "
            "parameter");
}

TEST(CheckpointCount, AScaleWithoutAWeightOfItsNameIsAParameter) {
  Tensors tensors;
  tensors.add("block.weight_scale", {5});
  tensors.add("logit_scale", {});
  EXPECT_EQ(count_checkpoint(tensors.all()).parameters, 6);
}

// DeepSeek-V3: the published 684,531,386,000 are main 671,026,419,200 + prediction layer
// 11,610,068,224 + its embedding and head 1,853,358,080 + scales 41,540,496.
TEST(CheckpointCount, DeepSeekV3WithoutPredictionLayerAndScales) {
  Tensors tensors;
  const std::int64_t table = 129280LL * 7168;
  const std::int64_t bias = 58 * 256;
  tensors.add("model.embed_tokens.weight", {129280, 7168}, StoredType::bf16);
  tensors.add("lm_head.weight", {129280, 7168}, StoredType::bf16);
  tensors.add("model.layers.3.mlp.gate.e_score_correction_bias", {bias});
  tensors.add("model.layers.0.w.weight", {671026419200 - 2 * table - bias}, StoredType::f8_e4m3);
  tensors.add("model.layers.0.w.weight_scale_inv", {41540496});
  tensors.add("model.layers.61.eh_proj.weight", {7168, 14336}, StoredType::bf16);
  tensors.add("model.layers.61.rest", {11610068224 - 7168LL * 14336}, StoredType::bf16);
  tensors.add("model.layers.61.embed_tokens.weight", {129280, 7168}, StoredType::bf16);
  tensors.add("model.layers.61.shared_head.head.weight", {129280, 7168}, StoredType::bf16);
  const CheckpointCount count = count_checkpoint(tensors.all(), {.tie = Tie::untied});
  EXPECT_EQ(count.stored_elements, 684531386000);
  EXPECT_EQ(count.parameters, 671026419200);
  EXPECT_EQ(line_of(count, "multi-token prediction")->elements, 11610068224 + 1853358080);
  EXPECT_EQ(line_of(count, "quantisation scales")->elements, 41540496);
  EXPECT_EQ(line_of(count, "router correction bias")->elements, bias);
  EXPECT_EQ(line_of(count, "router correction bias")->effect, CountEffect::counted);
}

// gpt-oss-20b stores 32 experts of 2,880 x 5,760 as blocks of 16 bytes with one scale each.
TEST(CheckpointCount, PackedFourBitBlocksHoldTwoValuesPerByte) {
  Tensors tensors;
  tensors.add("mlp.experts.gate_up_proj_blocks", {32, 5760, 90, 16}, StoredType::u8);
  tensors.add("mlp.experts.gate_up_proj_scales", {32, 5760, 90}, StoredType::u8);
  const CheckpointCount count = count_checkpoint(tensors.all());
  EXPECT_EQ(count.parameters, 32LL * 5760 * 2880);
  EXPECT_EQ(line_of(count, "packed 4-bit weights")->effect, CountEffect::unpacked);
}

TEST(CheckpointCount, BuffersOfOlderFilesAreSetAside) {
  Tensors tensors;
  tensors.add("model.layers.0.self_attn.rotary_emb.inv_freq", {64});
  tensors.add("model.embeddings.position_ids", {1, 512}, StoredType::i64);
  tensors.add("model.norm.weight", {4096});
  const CheckpointCount count = count_checkpoint(tensors.all());
  EXPECT_EQ(count.parameters, 4096);
  EXPECT_EQ(line_of(count, "rotary frequencies")->elements, 64);
  EXPECT_EQ(line_of(count, "position indices")->elements, 512);
}

TEST(CheckpointCount, OtherTowersStandApartUnlessThereIsNothingElse) {
  Tensors tensors;
  tensors.add("vision_tower.patch.weight", {100});
  EXPECT_EQ(count_checkpoint(tensors.all()).parameters, 100);
  tensors.add("language_model.model.norm.weight", {7});
  const CheckpointCount count = count_checkpoint(tensors.all());
  EXPECT_EQ(count.parameters, 7);
  EXPECT_EQ(line_of(count, "other towers")->elements, 100);
}

TEST(CheckpointCount, OpaqueQuantisationIsSaid) {
  Tensors tensors;
  tensors.add("l.q_proj.qweight", {512, 4096}, StoredType::i32);
  const CheckpointCount count = count_checkpoint(tensors.all());
  ASSERT_EQ(count.notes.size(), 1U);
  EXPECT_NE(count.notes[0].find("the weights are packed"), std::string::npos);
}

TEST(CheckpointCount, TypesAreCountedApart) {
  Tensors tensors;
  tensors.add("b", {2}, StoredType::f32);
  tensors.add("a", {3}, StoredType::bf16);
  tensors.add("c", {5}, StoredType::bf16);
  const CheckpointCount count = count_checkpoint(tensors.all());
  ASSERT_EQ(count.types.size(), 2U);
  EXPECT_EQ(count.types[0].type, StoredType::bf16);
  EXPECT_EQ(count.types[0].elements, 8);
  EXPECT_EQ(count.types[0].tensors, 2);
  EXPECT_EQ(count.types[1].elements, 2);
  EXPECT_EQ(count.stored_bytes, 8 + 16);
}

// A public list says 528,384 parameters for a 7B model: wrong by four orders of magnitude.
TEST(CheckpointCount, AStatedTotalThatIsFarOffIsSaidWithBoth) {
  const auto note = stated_total_note(6888095744, 528384, "parameters");
  ASSERT_TRUE(note.has_value());
  EXPECT_EQ(*note,
            "the metadata state 528,384 parameters, the shapes give 6,888,095,744: the shapes are "
            "used");
}

TEST(CheckpointCount, AStatedTotalWithinAFifthIsNotWorthANote) {
  EXPECT_FALSE(stated_total_note(100, 120, "bytes").has_value());  // 20 of 120 is 16.7%
  EXPECT_FALSE(stated_total_note(100, 80, "bytes").has_value());   // exactly 20%
  EXPECT_TRUE(stated_total_note(100, 79, "bytes").has_value());
  EXPECT_FALSE(stated_total_note(0, 0, "bytes").has_value());
}

TEST(CheckpointCount, StatedTotalsOfAnIndexAreCompared) {
  Tensors tensors;
  tensors.add("a", {10});
  const CheckpointCount count =
      count_checkpoint(tensors.all(), {.stated_parameters = 10, .stated_bytes = 400});
  ASSERT_EQ(count.notes.size(), 1U);  // 40 bytes against 400
  EXPECT_NE(count.notes[0].find("400 bytes"), std::string::npos);
}

}  // namespace
}  // namespace fourhold::model
