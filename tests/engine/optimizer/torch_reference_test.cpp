// What torch.optim did, step by step; torch_reference.py wrote the file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "fourhold/engine/optimizer/update.h"
#include "tests/engine/optimizer/owned_shard.h"

namespace fourhold::engine {
namespace {

std::vector<double> numbers(std::istringstream& line) {
  std::vector<double> values;
  for (std::string word; line >> word;) values.push_back(std::strtod(word.c_str(), nullptr));
  return values;
}
std::vector<float> floats(std::istringstream& line) {
  const auto values = numbers(line);
  return {values.begin(), values.end()};
}

TEST(Update, AgreesWithTorch) {
  std::ifstream file(FOURHOLD_SOURCE_DIR "/tests/engine/optimizer/torch_reference.txt");
  ASSERT_TRUE(file);
  Hyperparameters hyperparameters;
  double rate = 0;
  std::int64_t step = 0;
  int compared = 0;
  std::string name;
  std::optional<OwnedShard> shard;
  std::vector<float> largest;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string word;
    line >> word;
    if (word == "case") {
      std::string kind;
      line >> name >> kind;
      const auto values = numbers(line);
      ASSERT_EQ(values.size(), 5U);
      hyperparameters = {kind == "adamw" ? plan::Optimizer::adamw : plan::Optimizer::sgd_momentum,
                         values[1], values[2], values[3], values[4]};
      rate = values[0];
      step = 0;
      shard.reset();
    } else if (word == "weight" && !shard) {
      largest = floats(line);
      shard.emplace(plan::Precision::fp32, largest);
      for (float& value : largest) value = std::abs(value);
    } else if (word == "gradient") {
      shard->set_gradient(floats(line));
      update(shard->view(), step_factors(hyperparameters, WeightDecay::decayed, ++step, rate, 1),
             {plan::Precision::fp32}, Pass::write);
    } else if (word == "weight") {
      const auto expected = floats(line);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        // Torch rounds the decay and the step apart, we their sum: a unit in the last place a step,
        // of the largest value the weight has had.
        largest[i] = std::max(largest[i], std::abs(expected[i]));
        const double unit = std::ldexp(1.0, std::ilogb(largest[i]) - 23);
        EXPECT_NEAR(shard->weight(i), expected[i], 1.5 * static_cast<double>(step) * unit)
            << name << ", step " << step << ", element " << i;
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 5 * 6 * 11);
}

}  // namespace
}  // namespace fourhold::engine
