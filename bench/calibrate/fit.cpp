#include "calibrate/fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace fourhold::calibrate {
namespace {

constexpr double kDifference = 0.02;  // of a logarithm, for slopes
constexpr double kMostStep = 0.3;     // of a logarithm, in one round
constexpr int kRounds = 12;
constexpr int kLinearRounds = 30;
constexpr double kSettled = 1e-4;

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

// Weights by row; those of `without` weigh nothing.
Vector weights_of(const std::vector<TimedRow>& rows, const std::string& without = {}) {
  std::map<std::string, double> counts;
  for (const TimedRow& row : rows) counts[row.source] += row.model == without ? 0 : 1;
  Vector weights;
  for (const TimedRow& row : rows) {
    const double n = counts[row.source];
    weights.push_back(row.model == without ? 0 : std::min(1.0, kSourceRows / n));
  }
  return weights;
}

Vector residuals_of(const std::vector<TimedRow>& rows) {
  Vector residuals;
  for (const TimedRow& row : rows) {
    residuals.push_back(std::log(row.predicted_seconds / row.measured_seconds) / kErrorScale);
  }
  return residuals;
}

double cost_of(const Vector& residuals, const Vector& weights,
               const std::vector<Constant>& constants, const Vector& logs) {
  double cost = 0;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    cost += weights[i] * 2 * (std::sqrt(1 + residuals[i] * residuals[i]) - 1);
  }
  for (std::size_t k = 0; k < constants.size(); ++k) {
    const double z = (logs[k] - std::log(constants[k].prior)) / constants[k].sigma;
    cost += z * z;
  }
  return cost;
}

// x of a x = b, a symmetric and positive: Cholesky's decomposition, in place.
Vector solve(Matrix a, Vector b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k) a[j][j] -= a[j][k] * a[j][k];
    a[j][j] = std::sqrt(a[j][j]);
    for (std::size_t i = j + 1; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

// The step of the logarithms from here: rows whose error is large count less (soft-L1).
Vector step_of(const std::vector<Constant>& constants, const Vector& residuals,
               const Vector& weights, const Matrix& slopes, const Vector& logs) {
  const std::size_t n = constants.size();
  Matrix normal(n, Vector(n, 0.0));
  Vector right(n, 0.0);
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    const double weight = weights[i] / std::sqrt(1 + residuals[i] * residuals[i]);
    if (weight <= 0) continue;
    for (std::size_t k = 0; k < n; ++k) {
      const double slope = slopes[i][k] / kErrorScale;
      if (slope == 0) continue;
      right[k] -= weight * slope * residuals[i];
      for (std::size_t l = 0; l <= k; ++l) {
        normal[k][l] += weight * slope * slopes[i][l] / kErrorScale;
      }
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    const double prior = 1 / (constants[k].sigma * constants[k].sigma);
    normal[k][k] += prior;
    right[k] -= prior * (logs[k] - std::log(constants[k].prior));
  }
  Vector step = solve(normal, right);
  for (std::size_t k = 0; k < n; ++k) {
    step[k] = std::clamp(step[k], -kMostStep, kMostStep);
    step[k] =
        std::clamp(logs[k] + step[k], std::log(constants[k].least), std::log(constants[k].most)) -
        logs[k];
  }
  return step;
}

Vector values_of(const Vector& logs) {
  Vector values;
  for (const double log : logs) values.push_back(std::exp(log));
  return values;
}

Matrix slopes_of(const Vector& logs, const std::vector<TimedRow>& rows, const Predict& predict) {
  Matrix slopes(rows.size(), Vector(logs.size(), 0.0));
  for (std::size_t k = 0; k < logs.size(); ++k) {
    Vector moved = logs;
    moved[k] += kDifference;
    const std::vector<TimedRow> there = predict(values_of(moved));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      slopes[i][k] = std::log(there[i].predicted_seconds / rows[i].predicted_seconds) / kDifference;
    }
  }
  return slopes;
}

double largest(const Vector& step) {
  double most = 0;
  for (const double one : step) most = std::max(most, std::abs(one));
  return most;
}

}  // namespace

Fit fit(const std::vector<Constant>& constants, const Predict& predict) {
  Vector logs;
  for (const Constant& one : constants) logs.push_back(std::log(one.prior));
  Fit best;
  best.rows = predict(values_of(logs));
  const Vector weights = weights_of(best.rows);
  best.cost = cost_of(residuals_of(best.rows), weights, constants, logs);
  for (int round = 0; round < kRounds; ++round) {
    best.slopes = slopes_of(logs, best.rows, predict);
    Vector step = step_of(constants, residuals_of(best.rows), weights, best.slopes, logs);
    double before = best.cost;
    for (int half = 0; half < 5; ++half) {
      Vector moved = logs;
      for (std::size_t k = 0; k < logs.size(); ++k) moved[k] += step[k];
      std::vector<TimedRow> rows = predict(values_of(moved));
      const double cost = cost_of(residuals_of(rows), weights, constants, moved);
      if (cost < best.cost) {
        best.cost = cost;
        best.rows = std::move(rows);
        logs = moved;
        break;
      }
      for (double& one : step) one /= 3;
    }
    if (before - best.cost < kSettled * best.cost) break;
  }
  best.values = values_of(logs);
  return best;
}

CrossValidation cross_validate(const std::vector<Constant>& constants, const Fit& whole,
                               const Predict& predict) {
  CrossValidation validation;
  validation.left_out = whole.rows;
  std::set<std::string> models;
  for (const TimedRow& row : whole.rows) models.insert(row.model);
  const Vector residuals = residuals_of(whole.rows);
  Vector start;
  for (const double value : whole.values) start.push_back(std::log(value));
  for (const std::string& model : models) {
    const Vector weights = weights_of(whole.rows, model);
    Vector logs = start;
    for (int round = 0; round < kLinearRounds; ++round) {
      Vector here = residuals;
      for (std::size_t i = 0; i < here.size(); ++i) {
        for (std::size_t k = 0; k < logs.size(); ++k) {
          here[i] += whole.slopes[i][k] * (logs[k] - start[k]) / kErrorScale;
        }
      }
      const Vector step = step_of(constants, here, weights, whole.slopes, logs);
      for (std::size_t k = 0; k < logs.size(); ++k) logs[k] += step[k];
      if (largest(step) < kSettled) break;
    }
    Fold fold{.model = model, .values = values_of(logs)};
    const std::vector<TimedRow> rows = predict(fold.values);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].model == model) validation.left_out[i] = rows[i];
    }
    validation.folds.push_back(std::move(fold));
  }
  return validation;
}

}  // namespace fourhold::calibrate
