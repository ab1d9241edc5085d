// A model learns a sentence by heart, is saved, and says it again.
#include "fourhold/engine/sample/sample_run.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fourhold/engine/checkpoint/saved_checkpoint.h"
#include "fourhold/engine/data/tokenize.h"
#include "fourhold/engine/kernels/isa.h"
#include "fourhold/engine/train/train_run.h"
#include "fourhold/model/hf_config.h"
#include "tests/tested_isa/tested_isa.h"

namespace fourhold::engine {
namespace {

namespace fs = std::filesystem;

// GPT-2 with learned positions, and Qwen3 with rotary ones, grouped heads and normed queries.
constexpr const char* kGpt2 =
    R"({"model_type":"gpt2","vocab_size":257,"n_positions":256,"n_embd":48,"n_layer":2,"n_head":4,)"
    R"("resid_pdrop":0,"embd_pdrop":0,"attn_pdrop":0})";
constexpr const char* kQwen3 =
    R"({"model_type":"qwen3","vocab_size":300,"hidden_size":48,"intermediate_size":96,)"
    R"("num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,)"
    R"("max_position_embeddings":256,"tie_word_embeddings":true})";

const std::string kSentence = "the quick brown fox jumps over the lazy dog; ";

class Learned {
 public:
  Learned(const char* config, const std::string& name)
      : config_(config), folder_(fs::temp_directory_path() / ("fourhold_sample_" + name)) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    train_it();
  }
  ~Learned() { fs::remove_all(folder_); }
  Learned(const Learned&) = delete;
  Learned& operator=(const Learned&) = delete;

  [[nodiscard]] SampleSetup setup(const std::string& prompt, std::int64_t tokens) const {
    SampleSetup setup;
    setup.model = model::read_hf_config(config_, "tiny");
    setup.numerics = model::read_numerics(config_, "tiny");
    setup.profile = plan::load_profile("fourhold");
    setup.weights = checkpoint_;
    setup.tokenizer = data::open_tokenizer("bytes");
    setup.prompt = setup.tokenizer->encode(prompt);
    setup.tokens = tokens;
    setup.plan = sample_plan(setup.model, plan::Precision::bf16,
                             static_cast<std::int64_t>(setup.prompt.size()), tokens);
    setup.plan.isa = std::string(plan::to_string(testing::tested_isa()));
    return setup;
  }
  [[nodiscard]] const std::string& checkpoint() const { return checkpoint_; }

 private:
  void train_it() {
    const std::string text = (folder_ / "text.txt").string();
    std::ofstream out(text);
    for (int i = 0; i < 100; ++i) out << kSentence;
    out.close();
    data::TokenizeRequest job;
    job.inputs = {text};
    job.output = (folder_ / "text.bin").string();
    const auto tokenizer = data::open_tokenizer("bytes");
    static_cast<void>(data::tokenize(job, *tokenizer));
    TrainSetup setup;
    setup.model = model::read_hf_config(config_, "tiny");
    setup.numerics = model::read_numerics(config_, "tiny");
    setup.profile = plan::load_profile("fourhold");
    setup.plan.profile = "fourhold";
    setup.plan.isa = std::string(plan::to_string(best_isa()));  // what is tested is sampling
    setup.plan.micro_batch = 4;
    setup.plan.global_batch = 4;
    setup.plan.seq = 160;
    setup.plan.layers_per_stage = {2};
    setup.data.path = job.output;
    setup.data.held_out_share = 0;
    setup.steps = 150;
    setup.options.schedule = {.decay = Decay::cosine,
                              .peak = 1e-2,
                              .minimum = 1e-3,
                              .warm_up_steps = 10,
                              .steps = setup.steps};
    setup.options.seed = 1;
    setup.checkpoints.folder = (folder_ / "run").string();
    const TrainResult result = train(setup, {.note = [](const std::string&) {},
                                             .line = [](const TrainLine&) {},
                                             .stop_asked = [] { return false; }});
    checkpoint_ = result.checkpoint.value();
  }

  const char* config_;
  fs::path folder_;
  std::string checkpoint_;
};

SampleResult run(const SampleSetup& setup) {
  return sample(setup, {.note = [](const std::string&) {},
                        .text = [](const std::string&) {},
                        .stop_asked = [] { return false; }});
}

// Several passes over a prompt of more than 64 tokens, and a continuation of it.
TEST(SampleRun, AModelThatLearnedASentenceByHeartSaysIt) {
  const Learned gpt2(kGpt2, "gpt2");
  const Learned qwen3(kQwen3, "qwen3");
  for (const Learned* learned : {&gpt2, &qwen3}) {
    for (const std::string& prompt :
         {kSentence.substr(0, 20), kSentence + kSentence + kSentence.substr(0, 9)}) {
      SampleSetup setup = learned->setup(prompt, 45);
      setup.rule.temperature = 0;
      const SampleResult result = run(setup);
      const std::string whole = kSentence + kSentence + kSentence + kSentence;
      EXPECT_EQ(result.text, whole.substr(prompt.size(), 45));
      EXPECT_EQ(result.tokens.size(), 45U);
      EXPECT_TRUE(result.comparison.is_equal());
      EXPECT_EQ(result.measured.reserved_bytes, result.predicted.reserved_bytes);
      EXPECT_EQ(result.end, SampleEnd::tokens);
    }
  }
}

TEST(SampleRun, TheSameSeedGivesTheSameTextWhateverTheThreads) {
  const Learned learned(kGpt2, "threads");
  SampleSetup setup = learned.setup("the", 60);
  setup.rule = {.temperature = 3, .seed = 5};
  const SampleResult one = run(setup);
  setup.plan.threads = 3;
  EXPECT_EQ(run(setup).tokens, one.tokens);
  setup.rule.seed = 6;
  EXPECT_NE(run(setup).tokens, one.tokens);
}

TEST(SampleRun, EndsAtAStopTokenWhichIsNoText) {
  const Learned learned(kGpt2, "stop");
  SampleSetup setup = learned.setup("the quick brown fox jumps ", 60);
  setup.rule.temperature = 0;
  setup.stop_tokens = {';'};
  const SampleResult result = run(setup);
  EXPECT_EQ(result.text, "over the lazy dog");
  EXPECT_EQ(result.end, SampleEnd::end_of_text);
  EXPECT_EQ(result.tokens.back(), ';');
}

TEST(SampleRun, AStopThatIsAskedForEndsTheTextAndMeasuresWhatRan) {
  const Learned learned(kGpt2, "signal");
  SampleSetup setup = learned.setup("the quick ", 60);
  int asked = 0;
  const SampleResult result = sample(setup, {.note = [](const std::string&) {},
                                             .text = [](const std::string&) {},
                                             .stop_asked = [&asked] { return ++asked > 5; }});
  EXPECT_EQ(result.end, SampleEnd::signal);
  EXPECT_EQ(result.tokens.size(), 4U);  // one question was of the prompt
  EXPECT_TRUE(result.comparison.is_equal());
}

TEST(SampleRun, ACheckpointSaysWhichTokenizerItsDataHad) {
  const Learned learned(kGpt2, "tokenizer");
  EXPECT_EQ(open_checkpoint(learned.checkpoint(), Verify::sizes).run.tokenizer, "bytes");
}

}  // namespace
}  // namespace fourhold::engine
