// How far runs were from their predictions: a distribution of log(measured / predicted).
#pragma once

#include <cstdint>
#include <vector>

namespace fourhold::confidence {

// One model's runs. The n ascending values are its quantiles at 0, 1/(n-1) ... 1, between which the
// distribution is linear; a single value is all of it.
struct ResidualPart {
  double weight = 1;  // above 0; relative to the other parts
  std::vector<double> log_ratios;
};

// The mixture of several models' distributions, each with its weight.
class ResidualMixture {
 public:
  // At least one part, none of them empty.
  explicit ResidualMixture(std::vector<ResidualPart> parts);

  // The share of runs with log(measured / predicted) <= log_ratio.
  [[nodiscard]] double share_up_to(double log_ratio) const;

  // The same distribution with every log(measured / predicted) that much larger.
  [[nodiscard]] ResidualMixture shifted(double log_ratio) const;

  // The least log(measured / predicted) up to which `share` (0 to 1) of the runs lie.
  [[nodiscard]] double quantile(double share) const;

 private:
  enum class At : std::uint8_t { below, up_to };
  [[nodiscard]] double share(double log_ratio, At at) const;

  std::vector<ResidualPart> parts_;
  std::vector<double> corners_;  // ascending: where the distribution bends or jumps
  double weight_ = 0;            // of all parts
};

// Between `low` and `high` lie `coverage` of such runs, and the prediction; half of such runs lie
// up to `middle`.
struct Interval {
  double low = 0;
  double middle = 0;
  double high = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

// The share of runs that a printed interval holds.
inline constexpr double kIntervalCoverage = 0.8;

// `predicted` times the ratios between which the middle `coverage` of the runs lie. Where these are
// all above 1, or all below, as many runs from the prediction on: a figure that is printed is never
// outside its own interval.
[[nodiscard]] Interval interval_of(const ResidualMixture& residuals, double predicted,
                                   double coverage = kIntervalCoverage);

// The probability that a run predicted to take `predicted` takes no more than `limit`, both above
// 0.
[[nodiscard]] double probability_within(const ResidualMixture& residuals, double predicted,
                                        double limit);

}  // namespace fourhold::confidence
