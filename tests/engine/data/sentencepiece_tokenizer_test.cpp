#include "fourhold/engine/data/sentencepiece_tokenizer.h"

#include <sentencepiece_trainer.h>

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fourhold/engine/data/builtin_text.h"
#include "fourhold/engine/data/token_source.h"
#include "fourhold/engine/data/tokenize.h"
#include "tests/engine/data/fault.h"
#include "tests/engine/data/files.h"

namespace fourhold::engine::data {
namespace {

using Ids = std::vector<TokenId>;

class Sentences final : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(std::vector<std::string> sentences) : sentences_(std::move(sentences)) {}
  [[nodiscard]] bool done() const override { return at_ == sentences_.size(); }
  void Next() override { ++at_; }
  [[nodiscard]] const std::string& value() const override { return sentences_[at_]; }
  [[nodiscard]] sentencepiece::util::Status status() const override { return {}; }

 private:
  std::vector<std::string> sentences_;
  std::size_t at_ = 0;
};

// A model trained by SentencePiece itself.
std::string trained(const std::vector<std::string>& sentences, const std::string& options) {
  std::string model;
  Sentences iterator(sentences);
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      options + " --minloglevel=2 --num_threads=1", &iterator, &model);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return model;
}

// By hand: characters are ordered by how often they occur, behind <unk>, <s> and </s>. A text
// begins with the space mark U+2581, so "aaaa bb c" has a four times, the mark three times, b
// twice, c once.
std::string characters() {
  return trained(std::vector<std::string>(10, "aaaa bb c"), "--model_type=char --vocab_size=7");
}

TEST(SentencePieceTokenizer, GivesTheIdsOfItsModel) {
  const auto tokenizer = make_sentencepiece_tokenizer(characters(), "t.model");
  EXPECT_EQ(tokenizer->vocabulary_size(), 7);
  EXPECT_EQ(tokenizer->encode("ab c"), (Ids{4, 3, 5, 4, 6}));
  EXPECT_EQ(tokenizer->decode(Ids{4, 3, 5, 4, 6}), "ab c");
  EXPECT_EQ(tokenizer->prefix(), (Ids{1}));
  EXPECT_EQ(tokenizer->end_of_text(), 2);
  EXPECT_EQ(tokenizer->id_of("</s>"), 2);
  EXPECT_EQ(tokenizer->id_of("b"), 5);
  EXPECT_EQ(tokenizer->id_of("z"), std::nullopt);
  EXPECT_EQ(tokenizer->unknown(), 0);
  EXPECT_EQ(tokenizer->encode("az"), (Ids{4, 3, 0}));
  EXPECT_TRUE(has(fault_of([&] { (void)tokenizer->decode(Ids{7}); }).what, "id 7"));
  EXPECT_TRUE(has(fault_of([&] { (void)tokenizer->decode(Ids{-1}); }).what, "id -1"));
}

TEST(SentencePieceTokenizer, AModelWithBytesKeepsEveryText) {
  std::vector<std::string> sentences = builtin_documents();
  sentences.resize(300);
  const auto tokenizer = make_sentencepiece_tokenizer(
      trained(sentences,
              "--model_type=bpe --vocab_size=600 --byte_fallback=true "
              "--normalization_rule_name=identity --remove_extra_whitespaces=false"),
      "t.model");
  for (const std::string text :
       {"Mira  lived\nin the lighthouse.", "caf\xC3\xA9 \xE4\xBD\xA0\xE5\xA5\xBD \t"}) {
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  }
}

TEST(SentencePieceTokenizer, RefusesWhatIsNoModel) {
  const std::string model = characters();
  for (const std::string& bad : {std::string(), std::string("no model"), std::string(100, '\0'),
                                 model.substr(0, model.size() / 2)}) {
    const Fault fault = fault_of([&] { (void)make_sentencepiece_tokenizer(bad, "t.model"); });
    EXPECT_EQ(fault.where, "t.model");
    EXPECT_TRUE(has(fault.what, "no SentencePiece model")) << fault.what;
  }
}

class SentencePieceFileTest : public FolderTest {};

TEST_F(SentencePieceFileTest, OpensByNameAndCountsWhatItDoesNotKnow) {
  const auto tokenizer = open_tokenizer(write("t.model", characters()));
  const auto result =
      tokenize({.inputs = {write("a.txt", "az bz")}, .output = path("o.bin")}, *tokenizer);
  EXPECT_EQ(result.unknown_tokens, 2);
  const TokenSource source = open_tokens(path("o.bin"), {.model_vocabulary = 7});
  Ids ids(static_cast<std::size_t>(source.count()));
  source.read(0, ids);
  EXPECT_EQ(ids, (Ids{1, 4, 3, 0, 4, 5, 0, 2}));
}

TEST_F(SentencePieceFileTest, RefusesNamesThatAreNoTokenizer) {
  EXPECT_TRUE(has(fault_of([] { (void)open_tokenizer("byte"); }).hint, "'bytes'"));
  EXPECT_TRUE(has(fault_of([&] { (void)open_tokenizer(path("")); }).what, "neither"));
  const std::string pointer = write("p.model", "version https://git-lfs.github.com/spec/v1\n");
  EXPECT_TRUE(has(fault_of([&] { (void)open_tokenizer(pointer); }).what, "Git LFS"));
  const auto what = [this](const std::string& content) {
    const std::string file = write("t.model", content);
    return fault_of([&] { (void)open_tokenizer(file); }).what;
  };
  EXPECT_EQ(what(""), "is empty, and no tokenizer");
  EXPECT_EQ(what("some words"), "is text, not a tokenizer");
  EXPECT_EQ(what("\x1F\x8B\x08\x01"), "is a gzip archive, not a tokenizer");
  EXPECT_EQ(what("\1\2\3\4"), "is no tokenizer.json and no SentencePiece model");
  write("tokenizer.json", "{}");
  EXPECT_EQ(fault_of([&] { (void)open_tokenizer(path("")); }).where,
            path("tokenizer.json") + ": model");
}

}  // namespace
}  // namespace fourhold::engine::data
