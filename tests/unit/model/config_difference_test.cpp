#include "fourhold/model/config_difference.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fourhold/model/load_model.h"

namespace fourhold::model {
namespace {

TEST(ConfigDifferences, NameTheFieldAndBothValues) {
  const ModelConfig saved = load_model("gpt2");
  ModelConfig here = saved;
  here.hidden = 1024;
  here.tied = false;
  here.kinds.front().attention.heads = 16;
  here.name = "elsewhere";
  EXPECT_EQ(config_differences(saved, here),
            (std::vector<std::string>{"hidden is 768, here 1024", "tied is true, here false",
                                      "layer 0: attention.heads is 12, here 16"}));
}

}  // namespace
}  // namespace fourhold::model
