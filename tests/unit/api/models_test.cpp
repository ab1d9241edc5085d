#include "fourhold/api/models.h"

#include <gtest/gtest.h>

#include "fourhold/model/catalogue.h"
#include "tests/unit/api/expect_error.h"
#include "tests/unit/api/json_keys.h"
#include "tests/unit/api/test_folder.h"

namespace fourhold::api {
namespace {

TEST(Models, ListsEveryBuiltInModelWithItsSources) {
  const ModelsResult result = models({});
  EXPECT_EQ(result.models.size(), model::catalogue_names().size());
  for (const ModelRow& row : result.models) {
    EXPECT_FALSE(row.facts_source.empty()) << row.name;
    EXPECT_FALSE(row.total_source.empty()) << row.name;
    EXPECT_NE(row.counts.total > 0, !row.refused.empty()) << row.name;
  }
}

TEST(Models, SaysWhyAModelCannotBeCounted) {
  const ModelsResult result = models({"nemotron-h-56b"});
  EXPECT_TRUE(holds(result.models.front().refused, "Mamba"));
  EXPECT_TRUE(holds(to_text(result, report::Screen{}), "not supported"));
}

TEST(Models, DescribesAModelOfAFile) {
  const TestFolder folder;
  const ModelsResult result =
      models({folder.write("config.json", R"({"model_type": "gpt2", "n_layer": 3})")});
  EXPECT_EQ(result.models.front().config.layer_count(), 3);
  EXPECT_TRUE(result.models.front().facts_source.empty());
}

TEST(Models, ItsJsonHasTheseMembers) {
  EXPECT_EQ(keys_of(to_json(models({"gpt2"}))),
            (std::vector<std::string>{
                "schema text", "models[].name text", "models[].type text",
                "models[].parameters integer", "models[].active_parameters integer",
                "models[].layers integer", "models[].hidden integer", "models[].vocab integer",
                "models[].max_positions integer", "models[].tied boolean", "models[].refused null",
                "models[].facts_source text", "models[].total_source text"}));
}

TEST(Models, RefusesAnUnknownNameWithTheNearest) {
  EXPECT_TRUE(holds(refusal_of([] { static_cast<void>(models({"gtp2"})); }).hint, "gpt2"));
}

}  // namespace
}  // namespace fourhold::api
