#include "fourhold/engine/sample/generation_config.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fourhold/base/error.h"

namespace fourhold::engine {
namespace {

using Ids = std::vector<data::TokenId>;
constexpr std::int64_t kVocabulary = 128'256;

std::optional<Ids> stops(const std::string& config) {
  return read_stop_tokens(json::parse(config, "config.json"), kVocabulary, "config.json");
}

GenerationConfig parsed(const std::string& text) {
  return parse_generation_config(text, kVocabulary, "generation_config.json");
}

// "where: what / hint".
template <class Call>
std::string refusal(const Call& call, const std::string& text) {
  try {
    static_cast<void>(call(text));
  } catch (const Error& error) {
    return error.where() + ": " + error.what() + " / " + error.hint();
  }
  return "no Error";
}

TEST(StopTokens, AreOneIdOrAListOrNone) {
  EXPECT_EQ(stops(R"({"eos_token_id": 2})"), (Ids{2}));
  EXPECT_EQ(stops(R"({"eos_token_id": [128001, 128008, 128009]})"), (Ids{128001, 128008, 128009}));
  EXPECT_EQ(stops(R"({"eos_token_id": 128255})"), (Ids{128255}));
  EXPECT_EQ(stops(R"({"eos_token_id": null})"), std::nullopt);
  EXPECT_EQ(stops(R"({"vocab_size": 3})"), std::nullopt);
  EXPECT_EQ(stops(R"({"eos_token_id": []})"), Ids{});
}

TEST(StopTokens, AreRefusedWhereTheyAreNoIds) {
  const std::string hint =
      " / give an id from 0 to 128255 or a list of them, or take eos_token_id out";
  const std::string no_id = ", which is no id of the vocabulary of 128256" + hint;
  for (const auto& [text, what] :
       {std::pair{R"("</s>")", R"("</s>")"}, std::pair{"-1", "-1"}, std::pair{"128256", "128256"},
        std::pair{"2.5", "2.5"}, std::pair{"true", "true"}, std::pair{"1e30", "1e+30"}}) {
    EXPECT_EQ(refusal(stops, std::string(R"({"eos_token_id": )") + text + "}"),
              std::string("config.json: eos_token_id: is ") + what + no_id);
  }
  EXPECT_EQ(refusal(stops, R"({"eos_token_id": [1, 2, 128300]})"),
            "config.json: eos_token_id[2]: is 128300" + no_id);
}

// As meta-llama/Llama-3.1-8B-Instruct and Qwen/Qwen2.5-0.5B-Instruct publish it.
TEST(GenerationConfig, ReadsWhatPublishedModelsSay) {
  const GenerationConfig llama = parsed(
      R"({"bos_token_id": 128000, "do_sample": true, "eos_token_id": [128001, 128008, 128009],
          "temperature": 0.6, "top_p": 0.9, "transformers_version": "4.42.3"})");
  EXPECT_EQ(llama.stop_tokens, (Ids{128001, 128008, 128009}));
  EXPECT_EQ(llama.draws, true);
  EXPECT_EQ(llama.temperature, 0.6);
  EXPECT_EQ(llama.top_p, 0.9);
  EXPECT_EQ(llama.top_k, std::nullopt);
  EXPECT_TRUE(llama.not_applied.empty());
  const GenerationConfig qwen = parsed(
      R"({"bos_token_id": 1, "pad_token_id": 1, "do_sample": true, "eos_token_id": [5, 1],
          "repetition_penalty": 1.1, "temperature": 0.7, "top_p": 0.8, "top_k": 20,
          "transformers_version": "4.37.0"})");
  EXPECT_EQ(qwen.top_k, 20);
  EXPECT_EQ(qwen.not_applied, std::vector<std::string>{"repetition_penalty"});
}

TEST(GenerationConfig, PassesOverWhatIsOff) {
  const GenerationConfig config = parsed(
      R"({"repetition_penalty": 1.0, "num_beams": 1, "min_p": null, "early_stopping": false})");
  EXPECT_TRUE(config.not_applied.empty());
  EXPECT_EQ(config.draws, std::nullopt);
  EXPECT_EQ(config.temperature, std::nullopt);
}

TEST(GenerationConfig, RefusesByTheFieldsName) {
  for (const auto& [text, start] :
       {std::pair{R"({"temperature": -1})", "generation_config.json: temperature: is -1; "},
        std::pair{R"({"top_p": 1.5})", "generation_config.json: top_p: is 1.5; "},
        std::pair{R"({"top_k": -3})", "generation_config.json: top_k: is -3; "},
        std::pair{R"({"do_sample": "yes"})", "generation_config.json: do_sample: must be true"},
        std::pair{R"({"eos_token_id": "x"})", "generation_config.json: eos_token_id: is \"x\""},
        std::pair{R"([])", "generation_config.json: must be an object"}}) {
    const std::string said = refusal(parsed, text);
    EXPECT_EQ(said.find(start), 0U) << said;
  }
}

}  // namespace
}  // namespace fourhold::engine
