#include "fourhold/model/foreign_file.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace fourhold::model {
namespace {

std::string what_of(std::string_view start) {
  const auto foreign = recognise_foreign_file(start);
  return foreign.has_value() ? foreign->what : "";
}

TEST(ForeignFile, NamesWhatPeopleFindInsteadOfWeights) {
  EXPECT_EQ(what_of("version https://git-lfs.github.com/spec/v1\noid sha256:00"),
            "is a Git LFS pointer, not the weights");
  EXPECT_EQ(what_of("<!DOCTYPE html><html>"), "is an HTML or XML page, not the weights");
  EXPECT_EQ(what_of("\n  <HTML>"), "is an HTML or XML page, not the weights");
  EXPECT_EQ(what_of("<?xml version=\"1.0\"?><Error>"), "is an HTML or XML page, not the weights");
  EXPECT_EQ(what_of("{\"error\":\"Entry not found\"}"), "is a JSON text, not a safetensors file");
  EXPECT_EQ(what_of(std::string_view("PK\x03\x04\x00\x00\x08\x08", 8)),
            "is a zip archive, as PyTorch's .bin and .pt files are, not safetensors");
  EXPECT_EQ(what_of("GGUF\x03"), "is a GGUF file, not safetensors");
  EXPECT_EQ(what_of("\x80\x02\x8a\x0a"),
            "is a Python pickle, as older PyTorch files are, not safetensors");
}

TEST(ForeignFile, EveryOneHasANextStep) {
  for (const char* start :
       {"version https://git-lfs", "<!DOCTYPE", "{\"a\"", "PK\x03\x04", "GGUF", "\x80\x02"}) {
    ASSERT_TRUE(recognise_foreign_file(start).has_value()) << start;
    EXPECT_FALSE(recognise_foreign_file(start)->hint.empty()) << start;
  }
}

TEST(ForeignFile, SaysNothingAboutOtherBytes) {
  EXPECT_EQ(what_of(""), "");
  EXPECT_EQ(what_of("<"), "");
  EXPECT_EQ(what_of("   "), "");
  EXPECT_EQ(what_of("weights"), "");
}

}  // namespace
}  // namespace fourhold::model
