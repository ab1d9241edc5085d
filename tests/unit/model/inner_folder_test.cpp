#include "fourhold/model/inner_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::model {
namespace {

TEST(InnerFolder, TheLastByNameThatHoldsWhatIsAskedForIsFound) {
  const TestFolder folder;
  for (const char* name : {"a", "b", "c", ".d"}) {
    std::filesystem::create_directory(folder.path() + "/" + name);
  }
  (void)folder.write("z", "a file is no folder");
  const auto named = [](const std::string& unwanted) {
    return [unwanted](const std::filesystem::path& path) { return path.filename() != unwanted; };
  };
  EXPECT_EQ(last_folder_with(folder.path(), named("")), folder.path() + "/c");
  EXPECT_EQ(last_folder_with(folder.path(), named("c")), folder.path() + "/b");
  EXPECT_FALSE(last_folder_with(folder.path(), [](const auto&) { return false; }).has_value());
  EXPECT_FALSE(last_folder_with(folder.path() + "/none", named("")).has_value());
}

}  // namespace
}  // namespace fourhold::model
