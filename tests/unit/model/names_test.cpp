#include "fourhold/model/names.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace fourhold::model {
namespace {

TEST(Names, EveryNameHasASpellingOfItsOwn) {
  std::set<std::string_view> spellings;
  for (int i = 0; i < kTensorNameCount; ++i)
    spellings.insert(to_string(static_cast<TensorName>(i)));
  EXPECT_EQ(spellings.size(), static_cast<std::size_t>(kTensorNameCount));
}

TEST(Names, ASpellingIsTheEnumerator) {
  EXPECT_EQ(to_string(TensorName::token_embedding), "token_embedding");
  EXPECT_EQ(to_string(TensorName::head_bias), "head_bias");
  EXPECT_EQ(to_string(TensorName::gradient_norm), "gradient_norm");
}

TEST(Names, ParametersComeBeforeActivations) {
  EXPECT_TRUE(is_parameter(TensorName::token_embedding));
  EXPECT_TRUE(is_parameter(TensorName::head_bias));
  EXPECT_FALSE(is_parameter(TensorName::token_ids));
  EXPECT_FALSE(is_parameter(TensorName::gradient_norm));
}

TEST(Names, BlocksAreNamed) {
  EXPECT_EQ(to_string(Block::embedding), "embedding");
  EXPECT_EQ(to_string(Block::layer), "layer");
  EXPECT_EQ(to_string(Block::head), "head");
}

}  // namespace
}  // namespace fourhold::model
