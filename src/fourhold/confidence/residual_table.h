// What published runs say of predictions: residuals by profile, generation of the device, and
// model (data/calibration/residuals.json).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/base/json.h"
#include "fourhold/confidence/metric.h"
#include "fourhold/confidence/residual_mixture.h"

namespace fourhold::confidence {

// The runs of one model under one profile on one generation of devices.
struct ResidualEntry {
  std::string profile;
  std::string generation;  // hardware::Device::generation
  Metric metric = Metric::step_time;
  std::string model;  // as its source names it
  std::int64_t rows = 0;
  std::vector<double> log_ratios;  // evenly spaced quantiles, as in ResidualPart
};

// From near to far: which runs a distribution is taken from.
enum class Scope : std::uint8_t { profile_and_generation, profile, all_profiles };
inline constexpr std::array<std::string_view, 3> kScopeNames{"profile_and_generation", "profile",
                                                             "all_profiles"};

// A distribution, and the runs it is from.
struct Basis {
  ResidualMixture residuals;
  Scope scope = Scope::all_profiles;
  Metric metric = Metric::step_time;
  std::string profile;     // "" where it is from all
  std::string generation;  // likewise
  std::int64_t rows = 0;
  std::int64_t models = 0;
};

// "1,292 runs of 3 models under nanotron on Hopper", "97 runs of 12 models under all profiles".
[[nodiscard]] std::string basis_text(const Basis& basis);

// The most that so many runs can show: the next of n + 1 alike runs is beyond all others with
// probability 1/(n + 1) (order statistics of exchangeable runs), so n/(n + 1).
[[nodiscard]] double most_confidence(const Basis& basis);

// The probability that a run predicted to take `predicted` takes no more than `limit`, both above
// 0; no nearer to 0 or 1 than its runs can show.
[[nodiscard]] double probability_within(const Basis& basis, double predicted, double limit);

// Fewer runs, or runs of fewer models, are no distribution: the next scope is asked. A model that
// is left out counts among the models: what it leaves is how the others judge it.
inline constexpr std::int64_t kLeastRows = 10;
inline constexpr std::size_t kLeastModels = 2;
// An entry keeps at most this many quantiles: every 2.5 %.
inline constexpr std::size_t kMostQuantiles = 41;

// What is predicted, and of which model nothing may be known ("": of none).
struct ResidualQuery {
  std::string_view profile;
  std::string_view generation;
  std::string_view left_out_model = {};
};

class ResidualTable {
 public:
  explicit ResidualTable(std::vector<ResidualEntry> entries);

  // Of one metric: the profile's runs on that generation; where they are too few (kLeastRows,
  // kLeastModels), on all generations; where those are, the runs of all profiles. Every profile
  // counts the same, and within it every model, so that the runs of one large sweep are not all
  // there is. Nothing where no run measured the metric.
  [[nodiscard]] std::optional<Basis> basis(const ResidualQuery& query, Metric metric) const;

  // Of device memory: reserved bytes of the profile, else its allocated bytes (how right its
  // ledger is), else reserved bytes of all profiles.
  [[nodiscard]] std::optional<Basis> memory_basis(const ResidualQuery& query) const;

  [[nodiscard]] const std::vector<ResidualEntry>& entries() const { return entries_; }

 private:
  [[nodiscard]] std::optional<Basis> basis_within(const ResidualQuery& query, Metric metric,
                                                  Scope scope) const;

  std::vector<ResidualEntry> entries_;
};

// At most kMostQuantiles evenly spaced quantiles of a list that is not empty, each to 1e-4.
[[nodiscard]] std::vector<double> thinned(std::vector<double> log_ratios);

// Throws Error with the path of what is missing, unknown or out of order.
[[nodiscard]] ResidualTable parse_residuals(std::string_view text, const std::string& where);
[[nodiscard]] json::Value to_json(const ResidualTable& table);

// What ships with the program.
[[nodiscard]] ResidualTable builtin_residuals();

}  // namespace fourhold::confidence
