// How sure a row's prediction is, by the runs of other models.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "fourhold/confidence/residual_table.h"
#include "fourhold/measured/comparison.h"

namespace fourhold::measured {

// Distributions are made once per profile, generation, metric and model.
class RowConfidence {
 public:
  // The table must outlive this.
  explicit RowConfidence(const confidence::ResidualTable& table) : table_(table) {}

  // Gives every comparison its interval and the row its probability of fitting, from runs of all
  // models but the row's own.
  void judge(RowResult& row);

 private:
  struct Known {
    std::optional<confidence::Basis> basis;
    confidence::Interval ratios;  // of the middle kIntervalCoverage
  };
  const Known& of_metric(const RowResult& row, Metric metric);
  const Known& of_memory(const RowResult& row);

  using Key = std::tuple<std::string, std::string, std::string, int>;
  const confidence::ResidualTable& table_;
  std::map<Key, Known> known_;
};

// The residuals of these rows, by profile, generation, metric and model: what the table of a
// release is made of. Rows that stand apart are left out.
[[nodiscard]] confidence::ResidualTable residuals_of(const std::vector<RowResult>& rows);

}  // namespace fourhold::measured
