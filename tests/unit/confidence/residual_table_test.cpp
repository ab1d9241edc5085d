#include "fourhold/confidence/residual_table.h"

#include <cmath>

#include <gtest/gtest.h>

#include "fourhold/base/error.h"

namespace fourhold::confidence {
namespace {

ResidualEntry entry(std::string profile, std::string generation, std::string model,
                    std::int64_t rows, double log_ratio, Metric metric = Metric::memory_reserved) {
  return {.profile = std::move(profile),
          .generation = std::move(generation),
          .metric = metric,
          .model = std::move(model),
          .rows = rows,
          .log_ratios = {log_ratio}};
}

TEST(ResidualTable, EveryModelCountsTheSameHoweverManyRunsItHas) {
  const ResidualTable table(
      {entry("p", "g", "large sweep", 900, 0), entry("p", "g", "few", 10, 1)});
  const Basis basis = *table.basis({"p", "g"}, Metric::memory_reserved);
  EXPECT_EQ(basis.scope, Scope::profile_and_generation);
  EXPECT_EQ(basis.rows, 910);
  EXPECT_EQ(basis.models, 2);
  EXPECT_DOUBLE_EQ(basis.residuals.share_up_to(0.5), 0.5);
  EXPECT_EQ(basis_text(basis), "910 runs of 2 models under p on g");
}

TEST(ResidualTable, LeavesOneModelOut) {
  const ResidualTable table({entry("p", "g", "a", 20, 0), entry("p", "g", "b", 20, 1)});
  const Basis others = *table.basis({"p", "g", "a"}, Metric::memory_reserved);
  EXPECT_EQ(others.models, 1);
  EXPECT_DOUBLE_EQ(others.residuals.quantile(0), 1);
}

TEST(ResidualTable, FallsBackToOtherGenerationsThenToAllProfiles) {
  const ResidualTable table({entry("p", "new", "a", 9, 0), entry("p", "old", "b", 9, 1),
                             entry("q", "old", "c", 100, 2), entry("q", "old", "d", 100, 3)});
  // 9 runs are too few, 18 are enough.
  const Basis profile = *table.basis({"p", "new"}, Metric::memory_reserved);
  EXPECT_EQ(profile.scope, Scope::profile);
  EXPECT_EQ(basis_text(profile), "18 runs of 2 models under p");
  // Without b there are 9 again. Of all, p and q count a half each.
  const Basis all = *table.basis({"p", "new", "b"}, Metric::memory_reserved);
  EXPECT_EQ(all.scope, Scope::all_profiles);
  EXPECT_DOUBLE_EQ(all.residuals.share_up_to(0), 0.5);
  EXPECT_DOUBLE_EQ(all.residuals.share_up_to(2), 0.75);
  EXPECT_EQ(basis_text(all), "209 runs of 3 models under all profiles");
  EXPECT_FALSE(table.basis({"p", "new"}, Metric::step_time).has_value());
}

TEST(ResidualTable, RunsOfOneModelAloneAreNoDistribution) {
  const ResidualTable table({entry("p", "g", "a", 50, 0), entry("q", "g", "b", 10, 1)});
  EXPECT_EQ(table.basis({"p", "g"}, Metric::memory_reserved)->scope, Scope::all_profiles);
}

TEST(ResidualTable, MemoryIsReservedBytesElseTheProfilesAllocatedOnes) {
  const ResidualTable table({entry("p", "g", "a", 10, 0, Metric::memory_allocated),
                             entry("p", "g", "b", 10, 0, Metric::memory_allocated),
                             entry("q", "g", "b", 10, 1), entry("q", "g", "c", 10, 1)});
  EXPECT_EQ(table.memory_basis({"q", "g"})->metric, Metric::memory_reserved);
  EXPECT_EQ(table.memory_basis({"p", "g"})->metric, Metric::memory_allocated);
  const Basis other = *table.memory_basis({"r", "g"});
  EXPECT_EQ(other.metric, Metric::memory_reserved);
  EXPECT_EQ(other.scope, Scope::all_profiles);
}

TEST(ResidualTable, ThinsToEvenQuantiles) {
  std::vector<double> many;
  for (int i = 800; i >= 0; --i) many.push_back(i * 0.001);
  const std::vector<double> kept = thinned(many);
  ASSERT_EQ(kept.size(), 41U);  // every 2.5 % of 0 ... 0.8
  EXPECT_DOUBLE_EQ(kept[1], 0.02);
  EXPECT_DOUBLE_EQ(kept[20], 0.4);
  EXPECT_DOUBLE_EQ(kept.back(), 0.8);
  EXPECT_EQ(thinned({0.30001, 0.1}), (std::vector<double>{0.1, 0.3}));
}

TEST(ResidualTable, ReadsWhatItWrites) {
  const ResidualTable table({entry("p", "g", "a", 3, 0.25)});
  const std::string text = json::write(to_json(table));
  const ResidualTable read = parse_residuals(text, "file");
  ASSERT_EQ(read.entries().size(), 1U);
  EXPECT_EQ(json::write(to_json(read)), text);
}

TEST(ResidualTable, NamesWhatIsWrongInAFile) {
  const auto fault = [](const std::string& entries) {
    try {
      static_cast<void>(parse_residuals(
          R"({"schema": "fourhold.residuals/1", "entries": [)" + entries + "]}", "file"));
    } catch (const Error& error) {
      return error.where() + " " + error.what();
    }
    return std::string();
  };
  const std::string start = R"({"profile": "p", "generation": "g", "model": "m", "rows": 2, )";
  EXPECT_NE(fault(start + R"("metric": "speed", "log_ratios": [0]})").find("'speed' is no metric"),
            std::string::npos);
  EXPECT_NE(fault(start + R"("metric": "step_time", "log_ratios": [1, 0]})").find("ascending"),
            std::string::npos);
  EXPECT_NE(fault(start + R"("metric": "step_time"})").find("entries[0].log_ratios"),
            std::string::npos);
}

TEST(ResidualTable, TheBuiltInOneIsRead) { EXPECT_FALSE(builtin_residuals().entries().empty()); }

TEST(ResidualTable, AProbabilityIsNoNearerToOneThanItsRunsCanShow) {
  // Four runs: the next is beyond all of them with probability 1/5.
  const Basis basis{.residuals = ResidualMixture({{.weight = 1, .log_ratios = {0, 0.1, 0.2, 0.3}}}),
                    .scope = Scope::profile,
                    .metric = Metric::memory_reserved,
                    .profile = "p",
                    .generation = {},
                    .rows = 4,
                    .models = 2};
  EXPECT_DOUBLE_EQ(most_confidence(basis), 0.8);
  EXPECT_DOUBLE_EQ(probability_within(basis, 1, 1000), 0.8);
  EXPECT_NEAR(probability_within(basis, 1000, 1), 0.2, 1e-15);
  EXPECT_NEAR(probability_within(basis, 1, std::exp(0.15)), 0.5, 1e-12);
}

}  // namespace
}  // namespace fourhold::confidence
