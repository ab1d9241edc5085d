#include "fourhold/model/load_model.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "fourhold/base/error.h"
#include "tests/unit/model/read_config.h"

namespace fourhold::model {
namespace {

namespace fs = std::filesystem;

// A folder of its own per test, removed at the end.
class LoadModel : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / (std::string("fourhold_load_") + info->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    const fs::path path = folder_ / name;
    std::ofstream(path) << text;
    return path.string();
  }
  [[nodiscard]] std::string folder() const { return folder_.string(); }

  static Error refused(const std::string& argument) {
    try {
      static_cast<void>(load_model(argument));
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "accepted: " << argument;
    return Error("", "");
  }

 private:
  fs::path folder_;
};

constexpr const char* kGpt2 = R"({"model_type": "gpt2"})";

TEST_F(LoadModel, ABuiltInNameNeedsNoFile) {
  const ModelConfig config = load_model("gpt2");
  EXPECT_EQ(config.name, "gpt2");
  EXPECT_EQ(total(config), 124'439'808);
}

TEST_F(LoadModel, AFileOrItsFolderIsRead) {
  const std::string path = write("config.json", kGpt2);
  EXPECT_EQ(total(load_model(path)), 124'439'808);
  EXPECT_EQ(total(load_model(folder())), 124'439'808);
  EXPECT_EQ(load_model(path).name, path);
}

TEST_F(LoadModel, WeightsLeadToTheConfigBesideThem) {
  write("config.json", kGpt2);
  EXPECT_EQ(total(load_model(write("model.safetensors", "x"))), 124'439'808);
  EXPECT_EQ(total(load_model(write("model.safetensors.index.json", "{}"))), 124'439'808);
}

TEST_F(LoadModel, WeightsAloneCanBeCountedButNotPlannedWith) {
  const Error error = refused(write("model.safetensors", "x"));
  EXPECT_NE(std::string(error.what()).find("no config.json beside"), std::string::npos);
  EXPECT_NE(error.hint().find("params"), std::string::npos);
}

TEST_F(LoadModel, AFolderWithoutAConfigIsRefused) {
  EXPECT_NE(std::string(refused(folder()).what()).find("holds no config.json"), std::string::npos);
}

TEST_F(LoadModel, AnUnknownNameGetsNearMatches) {
  EXPECT_NE(refused("lama-3.1-8b").hint().find("'llama-3.1-8b'"), std::string::npos);
  EXPECT_NE(refused("meta-llama/Llama-3.1-8B").hint().find("'llama-3.1-8b'"), std::string::npos);
  EXPECT_NE(std::string(refused("lama-3.1-8b").what()).find("neither a built-in model"),
            std::string::npos);
}

TEST_F(LoadModel, APathThatDoesNotExistSaysSo) {
  EXPECT_NE(std::string(refused(folder() + "/none/config.json").what()).find("does not exist"),
            std::string::npos);
  EXPECT_NE(std::string(refused("./nowhere").what()).find("does not exist"), std::string::npos);
  EXPECT_STREQ(refused("").what(), "is empty");
}

TEST_F(LoadModel, AFailedDownloadIsRecognised) {
  EXPECT_NE(
      std::string(refused(write("a.json", "version https://git-lfs.github.com/spec/v1\n")).what())
          .find("Git LFS pointer"),
      std::string::npos);
  EXPECT_NE(std::string(refused(write("b.json", "\n<!DOCTYPE html>")).what()).find("web page"),
            std::string::npos);
}

TEST_F(LoadModel, ErrorsInsideAFileNameTheFileAndTheField) {
  const std::string path = write("config.json", R"({"model_type": "gpt2", "n_layer": 0})");
  EXPECT_EQ(refused(path).where(), path + ": n_layer");
}

TEST_F(LoadModel, AFileTooLargeForAConfigIsRefused) {
  EXPECT_NE(std::string(refused(write("c.json", std::string((1 << 20) + 1, ' '))).what())
                .find("larger than"),
            std::string::npos);
}

}  // namespace
}  // namespace fourhold::model
