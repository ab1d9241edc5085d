#include "tests/engine/ranks/ranks_program.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "tests/tested_isa/tested_isa.h"

namespace fourhold {
namespace {

namespace fs = std::filesystem;
constexpr double kMostSeconds = 120;

}  // namespace

RanksProgram::RanksProgram() {
  folder_ = (fs::temp_directory_path() / "fourhold-ranks-XXXXXX").string();
  if (mkdtemp(folder_.data()) == nullptr) ADD_FAILURE() << folder_;
  use_model({});
}

RanksProgram::~RanksProgram() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void RanksProgram::use_model(const TinyModel& model) const {
  std::ofstream(path("config.json")) << fmt::format(
      R"({{"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_layer": {}, "n_embd": {},
          "n_head": {}, "n_positions": {}, "vocab_size": {}, "activation_function": "gelu_new",
          "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}})",
      model.layers, model.width, model.heads, TinyModel::kPositions, TinyModel::kVocabulary);
}

std::string RanksProgram::on_ranks(int ranks, const std::string& words) {
  const std::string program = std::string(FOURHOLD_PROGRAM) + " " + words;
  if (ranks == 1) return "env OMP_WAIT_POLICY=passive " + program;
  return fmt::format("env {} {} -n {} {}", FOURHOLD_MPI_VARIABLES, FOURHOLD_MPIRUN, ranks, program);
}

std::string RanksProgram::train_words(const std::string& options) const {
  return "train " + path("config.json") + engine::testing::tested_isa_option() +
         " --device none --threads 1 --precision fp32 --seq 32 --decay constant --warm-up 0 "
         "--held-out 0 --json " +
         options;
}

Ended RanksProgram::run(const std::string& command) const {
  StartedJob job(command, folder_);
  const std::optional<Ended> ended = job.end_within(kMostSeconds);
  if (ended) return *ended;
  ADD_FAILURE() << "has not ended: " << command << "\n" << job.err();
  return {.code = -1, .out = {}, .err = job.err()};
}

json::Value RanksProgram::answer(int ranks, const std::string& options) const {
  const Ended ended = train(ranks, options);
  EXPECT_EQ(ended.code, 0) << options << "\n" << ended.err;
  if (ended.code != 0) return {};
  EXPECT_EQ(times(ended.err, "data: built-in text"), 1) << ended.err;
  EXPECT_EQ(times(ended.err, "fourhold:"), 0) << ended.err;
  try {
    return json::parse(ended.out, "standard output");  // one object and nothing behind it
  } catch (const Error& error) {
    ADD_FAILURE() << error.where() << ": " << error.what() << "\n" << ended.out;
  }
  return {};
}

json::Value at(const json::Value& value, std::initializer_list<const char*> names) {
  const json::Value* found = &value;
  for (const char* name : names) {
    found = found->is_object() ? found->find(name) : nullptr;
    if (found == nullptr) {
      ADD_FAILURE() << "no " << name << " in " << json::write(value);
      return {};
    }
  }
  return *found;
}

std::vector<double> losses_of(const json::Value& answer) {
  std::vector<double> losses;
  const json::Value list = at(answer, {"loss", "per_step"});
  if (!list.is_array()) return losses;
  for (const json::Value& loss : list.array()) losses.push_back(loss.number());
  return losses;
}

void expect_losses(const std::vector<double>& losses, const std::vector<double>& expected,
                   double tolerance) {
  ASSERT_EQ(losses.size(), expected.size());
  ASSERT_FALSE(losses.empty());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    EXPECT_LE(std::abs(losses[i] - expected[i]), tolerance * expected[i])
        << "loss " << i << ": " << losses[i] << ", expected " << expected[i];
  }
}

void expect_predicted_bytes(const json::Value& answer, int ranks) {
  EXPECT_EQ(at(answer, {"ledger", "entries_differing"}), json::Value(0));
  const json::Value list = at(answer, {"ranks"});
  ASSERT_TRUE(list.is_array());
  ASSERT_EQ(list.array().size(), static_cast<std::size_t>(ranks));
  std::int64_t arenas = 0;
  std::int64_t peaks = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const json::Value& own = list.array()[static_cast<std::size_t>(rank)];
    arenas += at(own, {"process", "arena_bytes"}).integer();
    peaks += at(own, {"process", "peak_rss_bytes"}).integer();
    EXPECT_GE(at(own, {"process", "arena_bytes"}).integer(),
              at(own, {"ledger", "measured", "reserved_bytes"}).integer());
    EXPECT_EQ(at(own, {"rank"}), json::Value(rank));
    EXPECT_GT(at(own, {"ledger", "entries"}).integer(), 0);
    EXPECT_EQ(at(own, {"ledger", "entries_differing"}), json::Value(0)) << "rank " << rank;
    EXPECT_EQ(at(own, {"ledger", "predicted"}), at(own, {"ledger", "measured"})) << "rank " << rank;
    const json::Value sent = at(own, {"traffic", "measured_bytes"});
    EXPECT_EQ(at(own, {"traffic", "predicted_bytes"}), sent) << "rank " << rank;
    EXPECT_EQ(sent.integer() > 0, ranks > 1) << "rank " << rank;
  }
  EXPECT_EQ(at(answer, {"process", "arena_bytes"}), json::Value(arenas));
  EXPECT_EQ(at(answer, {"process", "peak_rss_bytes"}), json::Value(peaks));
  EXPECT_EQ(at(answer, {"traffic", "predicted_bytes"}), at(answer, {"traffic", "measured_bytes"}));
  EXPECT_EQ(at(answer, {"traffic", "measured_bytes"}).integer() > 0, ranks > 1);
}

int times(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t place = text.find(part); place != std::string::npos;
       place = text.find(part, place + 1)) {
    ++count;
  }
  return count;
}

std::vector<std::int64_t> complete_steps(const std::string& folder) {
  std::vector<std::int64_t> steps;
  std::error_code ignored;
  for (fs::directory_iterator each(folder, ignored); each != fs::directory_iterator();
       each.increment(ignored)) {
    const std::string name = each->path().filename().string();
    if (name.rfind("step-", 0) != 0 || !fs::exists(each->path() / "complete.json")) continue;
    steps.push_back(std::stoll(name.substr(5)));
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

}  // namespace fourhold
