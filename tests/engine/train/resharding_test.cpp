// What ranks of any split start with, save and resume is, element by element, what one rank has.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/text_file.h"
#include "fourhold/engine/checkpoint/saved_checkpoint.h"
#include "fourhold/engine/tensor/counter_random.h"
#include "fourhold/model/hf_config.h"
#include "fourhold/plan/validate.h"
#include "tests/engine/train/simulated_ranks.h"
#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::engine {
namespace {

namespace fs = std::filesystem;
using model::TestFolder;
using plan::Plan;
using testing::SimulatedRank;

// Every draw writes files and waits for the disk.
constexpr int kDraws = 20;
constexpr std::int64_t kStep = 7;

class Draws {
 public:
  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  template <class T>
  const T& of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(all.size()) - 1))];
  }

 private:
  std::mt19937_64 random_{20240607};
};

// Tied and untied, packed and transposed; vocabularies that no number of ranks divides.
model::ModelConfig random_model(Draws& draws) {
  const std::int64_t heads = draws.of<std::int64_t>({2, 4, 6, 8, 12});
  const std::int64_t head = 2 * draws.number(1, 3);
  const std::int64_t kv = heads % 2 == 0 && draws.number(0, 1) == 0 ? 2 : heads;
  const std::int64_t ffn = 24 * draws.number(1, 2);
  const std::int64_t layers = draws.number(2, 5);
  const std::int64_t vocab = draws.number(17, 61);
  const std::string type = draws.of<std::string>({"gpt2", "llama", "qwen2", "qwen3"});
  if (type == "gpt2") {
    return model::read_hf_config(
        fmt::format(R"({{"model_type":"gpt2","vocab_size":{},"n_embd":{},"n_head":{},"n_layer":{},
                    "n_positions":32,"n_inner":{},"resid_pdrop":0,"embd_pdrop":0,"attn_pdrop":0}})",
                    vocab, heads * head, heads, layers, ffn),
        "random");
  }
  return model::read_hf_config(
      fmt::format(R"({{"model_type":"{}","vocab_size":{},"hidden_size":{},"intermediate_size":{},
                  "num_hidden_layers":{},"num_attention_heads":{},"num_key_value_heads":{},
                  "max_position_embeddings":32,"tie_word_embeddings":{}}})",
                  type, vocab, heads * head, ffn, layers, heads, kv,
                  type == "qwen2" || type == "qwen3" ? "true" : "false"),
      "random");
}

bool is_legal(const Plan& plan, const model::ModelConfig& config, const plan::Profile& profile) {
  try {
    plan::validate(plan, config, profile);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Every split of the model over so many ranks.
std::vector<Plan> plans_of(std::int64_t ranks, const Plan& base, const model::ModelConfig& config,
                           const plan::Profile& profile) {
  std::vector<Plan> plans;
  for (std::int64_t tp = 1; tp <= ranks; ++tp) {
    for (std::int64_t pp = 1; tp * pp <= ranks; ++pp) {
      for (std::int64_t cp = 1; tp * pp * cp <= ranks; ++cp) {
        if (ranks % (tp * pp * cp) != 0 || pp > config.layer_count()) continue;
        for (int zero = 0; zero <= 3; ++zero) {
          Plan plan = base;
          plan.tp = tp;
          plan.sp = tp > 1;
          plan.pp = pp;
          plan.cp = cp;
          plan.dp = ranks / (tp * pp * cp);
          plan.zero = zero;
          plan.grad_accum = pp;
          plan.global_batch = plan.micro_batch * plan.grad_accum * plan.dp;
          plan.layers_per_stage = plan::canonical_layout(config.layer_count(), pp);
          if (is_legal(plan, config, profile)) plans.push_back(plan);
        }
      }
    }
  }
  return plans;
}

std::string text_of(const Plan& plan) {
  return fmt::format("tp {} pp {} cp {} dp {} zero {}", plan.tp, plan.pp, plan.cp, plan.dp,
                     plan.zero);
}

// A run's whole state by kind and parameter, put together from what a rank has.
using Bytes = std::vector<std::byte>;
using State = std::map<std::pair<std::string, std::string>, Bytes>;

std::vector<std::int64_t> indices_of(const plan::ParameterPart& part) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = part.begin; i < part.end; ++i) {
    const std::int64_t run = part.local.count == 1 ? 0 : i / part.local.length;
    indices.push_back(part.local.begin + run * part.local.stride + i - run * part.local.length);
  }
  return indices;
}

template <class Visit>
void for_each_tensor(const ParameterTensors& parameter, const Visit& visit) {
  visit("weight", parameter.held_weight, parameter.held);
  for (const auto& [kind, tensor] :
       {std::pair{"master", &parameter.master}, std::pair{"moment1", &parameter.moment1},
        std::pair{"moment2", &parameter.moment2}}) {
    if (tensor->data != nullptr) visit(kind, *tensor, parameter.owned);
  }
}

State state_of(const SimulatedRank& alone) {
  State state;
  for (const ParameterTensors& parameter : alone.parameters()) {
    for_each_tensor(parameter,
                    [&](const char* kind, const Tensor& tensor, const plan::ParameterPart& part) {
                      EXPECT_TRUE(part.is_whole());
                      state[{kind, parameter.name}] =
                          Bytes(tensor.data, tensor.data + bytes_of(part.elements(), tensor.dtype));
                    });
  }
  return state;
}

// Every element a rank has is the whole's, and what stands behind them is zero.
void expect_equal(const SimulatedRank& rank, const State& whole, const std::string& which) {
  for (const ParameterTensors& parameter : rank.parameters()) {
    for_each_tensor(
        parameter, [&](const char* kind, const Tensor& tensor, const plan::ParameterPart& part) {
          const Bytes& all = whole.at({kind, parameter.name});
          const auto size = static_cast<std::size_t>(bytes_of(1, tensor.dtype));
          const std::vector<std::int64_t> indices = indices_of(part);
          for (std::size_t i = 0; i < indices.size(); ++i) {
            const auto at = static_cast<std::size_t>(indices[i]);
            ASSERT_EQ(std::memcmp(tensor.data + i * size, all.data() + at * size, size), 0)
                << which << ": " << kind << " of " << parameter.name << ", element " << at;
          }
          for (auto i = indices.size() * size; i < static_cast<std::size_t>(tensor.bytes()); ++i) {
            ASSERT_EQ(tensor.data[i], std::byte{0}) << which << ": padding of " << parameter.name;
          }
        });
  }
}

// Moments and remainders as training would leave them: of each element its own.
void make_state(const SimulatedRank& rank) {
  for (const ParameterTensors& parameter : rank.parameters()) {
    for_each_tensor(parameter, [&](const std::string& kind, const Tensor& tensor,
                                   const plan::ParameterPart& part) {
      if (kind == "weight") return;
      const CounterRandom random(5, kind + parameter.name);
      const std::vector<std::int64_t> indices = indices_of(part);
      const auto size = static_cast<std::size_t>(bytes_of(1, tensor.dtype));
      for (std::size_t i = 0; i < indices.size(); ++i) {
        const std::uint32_t bits = random.uniform32(static_cast<std::uint64_t>(indices[i]));
        std::memcpy(tensor.data + i * size, &bits, size);
      }
    });
  }
}

struct Ranks {
  std::vector<std::unique_ptr<SimulatedRank>> all;
  Ranks(const model::ModelConfig& config, const Plan& plan, const plan::Profile& profile) {
    for (std::int64_t rank = 0; rank < plan.devices(); ++rank) {
      all.push_back(std::make_unique<SimulatedRank>(config, plan, profile, rank));
    }
  }
  [[nodiscard]] int count() const { return static_cast<int>(all.size()); }
};

constexpr std::int64_t kSmallShards = 20'000;

std::optional<std::string> save(const Ranks& ranks, const std::string& folder,
                                const model::ModelConfig& config) {
  RunState run;
  run.step = kStep;
  run.precision = "bf16";
  run.optimizer = "adamw";
  return testing::on_ranks(ranks.count(), [&](int rank, const std::function<void()>& barrier) {
    const auto& own = *ranks.all[static_cast<std::size_t>(rank)];
    save_checkpoint({.folder = folder, .who = {rank, ranks.count()}, .barrier = barrier}, kStep,
                    own.parameters(),
                    {.config = config,
                     .carried = {},
                     .run = run,
                     .weights = own.parameters().front().held_weight.dtype,
                     .max_shard_bytes = kSmallShards});
  });
}

void start(const Ranks& ranks, const model::ModelConfig& config, plan::Precision precision) {
  for (const auto& rank : ranks.all) {
    start_random(rank->parameters(), config,
                 {.deviation = 0.02, .seed = 3, .precision = precision, .threads = 2});
  }
}

void resume(const Ranks& ranks, const std::string& path, const model::ModelConfig& config) {
  const WeightFiles files(path);
  const PublishedWeights weights(files.tensors(), config, path);
  const StateFiles state(path);
  for (const auto& rank : ranks.all) start_checkpoint(rank->parameters(), weights, state);
}

// The published files of two checkpoints are the same bytes: whoever wrote them.
void expect_same_model_files(const std::string& a, const std::string& b) {
  constexpr std::int64_t kMost = 1 << 26;
  int files = 0;
  for (const auto& entry : fs::directory_iterator(a)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("model") && name != "config.json") continue;
    ++files;
    EXPECT_EQ(read_text_file(entry.path().string(), kMost), read_text_file(b + "/" + name, kMost))
        << name;
  }
  EXPECT_GE(files, 2);
}

TEST(Resharding, AnySplitResumesWhatAnyOtherHasSaved) {
  Draws draws;
  const plan::Profile profile = plan::load_profile("fourhold");
  std::map<std::string, int> seen;
  for (int draw = 0; draw < kDraws; ++draw) {
    const TestFolder folder;
    const model::ModelConfig config = random_model(draws);
    Plan base;
    base.profile = "fourhold";
    base.seq = 16;
    base.precision = draws.of<plan::Precision>(
        {plan::Precision::fp32, plan::Precision::bf16, plan::Precision::bf16_split,
         plan::Precision::bf16_kahan, plan::Precision::bf16_sr});
    base.optimizer =
        draws.of<plan::Optimizer>({plan::Optimizer::adamw, plan::Optimizer::sgd_momentum});
    const auto pick = [&] {
      std::vector<Plan> plans;
      while (plans.empty()) {
        plans = plans_of(draws.of<std::int64_t>({1, 2, 3, 4, 8}), base, config, profile);
      }
      return draws.of(plans);
    };
    const Plan one = plans_of(1, base, config, profile).front();
    const Plan first = pick();
    const Plan second = pick();
    const std::string which = fmt::format("draw {}, {}: {} -> {}", draw, config.model_type,
                                          text_of(first), text_of(second));
    SCOPED_TRACE(which);
    for (const Plan* plan : {&first, &second}) {
      seen["tp"] += plan->tp > 1 ? 1 : 0;
      seen["pp"] += plan->pp > 1 ? 1 : 0;
      seen[fmt::format("zero {}", plan->zero)] += plan->dp * plan->cp > 1 ? 1 : 0;
      seen["padding"] += config.vocab % plan->tp == 0 ? 0 : 1;
    }

    const Ranks alone(config, one, profile);
    start(alone, config, base.precision);
    const Ranks savers(config, first, profile);
    start(savers, config, base.precision);
    const State initial = state_of(*alone.all.front());
    for (const auto& rank : savers.all) expect_equal(*rank, initial, "started");

    make_state(*alone.all.front());
    for (const auto& rank : savers.all) make_state(*rank);
    ASSERT_EQ(save(alone, folder.path() + "/alone", config), std::nullopt);
    ASSERT_EQ(save(savers, folder.path() + "/split", config), std::nullopt);
    const std::string saved = folder.path() + "/split/step-00000007";
    EXPECT_NO_THROW((void)open_checkpoint(saved, Verify::contents));
    expect_same_model_files(folder.path() + "/alone/step-00000007", saved);

    const State whole = state_of(*alone.all.front());
    const Ranks readers(config, second, profile);
    resume(readers, saved, config);
    for (const auto& rank : readers.all) expect_equal(*rank, whole, "resumed");
    if (HasFailure()) return;
  }
  for (const char* split : {"tp", "pp", "zero 0", "zero 1", "zero 2", "zero 3", "padding"}) {
    EXPECT_GT(seen[split], 0) << "no draw had " << split;
  }
}

// Weights of any split are those of a published file: nothing but a rank's slices is copied.
TEST(Resharding, PublishedWeightsStartAnySplit) {
  Draws draws;
  const plan::Profile profile = plan::load_profile("fourhold");
  for (int draw = 0; draw < kDraws; ++draw) {
    const TestFolder folder;
    const model::ModelConfig config = random_model(draws);
    Plan base;
    base.profile = "fourhold";
    base.seq = 16;
    base.precision = draws.of<plan::Precision>({plan::Precision::fp32, plan::Precision::bf16});
    const Ranks alone(config, plans_of(1, base, config, profile).front(), profile);
    start(alone, config, base.precision);
    ASSERT_EQ(save(alone, folder.path(), config), std::nullopt);
    const WeightFiles files(folder.path() + "/step-00000007");
    const PublishedWeights weights(files.tensors(), config, files.path());
    for (const auto& rank : alone.all) {
      start_published(rank->parameters(), weights, base.precision);
    }
    const State whole = state_of(*alone.all.front());
    for (const std::int64_t count : {2, 3, 4, 8}) {
      const std::vector<Plan> plans = plans_of(count, base, config, profile);
      if (plans.empty()) continue;
      const Plan plan = draws.of(plans);
      const Ranks ranks(config, plan, profile);
      for (const auto& rank : ranks.all) {
        start_published(rank->parameters(), weights, base.precision);
        expect_equal(*rank, whole, text_of(plan));
      }
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace fourhold::engine
