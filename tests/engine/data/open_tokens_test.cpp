// Opening token files of every format, and refusing what is wrong with them.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fourhold/engine/data/content_hash.h"
#include "fourhold/engine/data/token_source.h"
#include "tests/engine/data/fault.h"
#include "tests/engine/data/files.h"

namespace fourhold::engine::data {
namespace {

constexpr OpenTokens kGpt2{.model_vocabulary = 50257};

class OpenTokensTest : public FolderTest {
 protected:
  static std::vector<TokenId> all(const TokenSource& source) {
    std::vector<TokenId> ids(static_cast<std::size_t>(source.count()));
    source.read(0, ids);
    return ids;
  }
  static Fault open_fault(const std::string& path, const OpenTokens& options = kGpt2) {
    return fault_of([&] { (void)open_tokens(path, options); });
  }
};

TEST_F(OpenTokensTest, ReadsLlmCOfBothWidths) {
  write("a.bin",
        llm_c_header(20240520, 1, 3) + little_endian(std::vector<std::uint16_t>{5, 0, 50256}));
  const TokenSource narrow = open_tokens(path("a.bin"), kGpt2);
  EXPECT_EQ(narrow.description(), "llm.c, uint16, 3 tokens");
  EXPECT_EQ(all(narrow), (std::vector<TokenId>{5, 0, 50256}));
  EXPECT_EQ(narrow.documents(), 0);
  EXPECT_FALSE(narrow.has_mask());

  write("b.bin",
        llm_c_header(20240801, 7, 2) + little_endian(std::vector<std::uint32_t>{128255, 9}));
  const TokenSource wide = open_tokens(path("b.bin"), {.model_vocabulary = 128256});
  EXPECT_EQ(wide.type(), TokenType::uint32);
  EXPECT_EQ(all(wide), (std::vector<TokenId>{128255, 9}));
}

TEST_F(OpenTokensTest, ReadsNanoGpt) {
  write("train.bin", little_endian(std::vector<std::uint16_t>{5, 6, 7, 50256}));
  const TokenSource source = open_tokens(path("train.bin"), kGpt2);
  EXPECT_EQ(source.format(), TokenFormat::nanogpt);
  EXPECT_EQ(all(source), (std::vector<TokenId>{5, 6, 7, 50256}));
  std::vector<TokenId> middle(2);
  source.read(1, middle);
  EXPECT_EQ(middle, (std::vector<TokenId>{6, 7}));
}

TEST_F(OpenTokensTest, ReadsMegatronByAnyOfItsNames) {
  write("m.bin", little_endian(std::vector<std::int32_t>{1, 2, 3, 4, 5}));
  write("m.idx", megatron_index(4, 4, {2, 3}, {0, 1, 2}));
  for (const char* name : {"m", "m.bin", "m.idx"}) {
    const TokenSource source = open_tokens(path(name), kGpt2);
    EXPECT_EQ(source.description(), "Megatron, int32, 5 tokens in 2 documents");
    EXPECT_EQ(source.document_start(1), 2);
    EXPECT_EQ(all(source), (std::vector<TokenId>{1, 2, 3, 4, 5}));
  }
}

TEST_F(OpenTokensTest, NamesTheMissingHalfOfAMegatronDataSet) {
  write("m.idx", megatron_index(4, 4, {2, 3}, {0, 1, 2}));
  EXPECT_EQ(open_fault(path("m.idx")).where, path("m.bin"));
  EXPECT_EQ(open_fault(path("m")).where, path("m.bin"));
  write("n.bin", std::string(8, '\1'));
  const Fault fault =
      open_fault(path("n.bin"), {.model_vocabulary = 50257, .format = TokenFormat::megatron});
  EXPECT_EQ(fault.where, path("n.idx"));
  EXPECT_EQ(open_fault(path("nothing")).what, "does not exist");
  EXPECT_EQ(open_fault(path("nothing.bin")).what, "does not exist");
  EXPECT_EQ(open_fault(path("")).what, "is a folder");
}

TEST_F(OpenTokensTest, NamesTheFirstIdOutsideTheVocabulary) {
  write("a.bin", llm_c_header(20240520, 1, 3) +
                     little_endian(std::vector<std::uint16_t>{50256, 50257, 60000}));
  const Fault fault = open_fault(path("a.bin"));
  EXPECT_EQ(fault.where, path("a.bin"));
  EXPECT_TRUE(has(fault.what,
                  "byte 1026: token 1 is 50257, outside the model's vocabulary of "
                  "50,257"))
      << fault.what;
}

TEST_F(OpenTokensTest, NegativeAndHugeIdsAreOutside) {
  write("m.bin", little_endian(std::vector<std::int64_t>{1, -2}));
  write("m.idx", megatron_index(5, 8, {2}, {0, 1}));
  EXPECT_TRUE(has(open_fault(path("m")).what, "byte 8: token 1 is -2"))
      << open_fault(path("m")).what;
  write("u.bin", llm_c_header(20240801, 7, 1) + little_endian(std::uint32_t{4'000'000'000}));
  EXPECT_TRUE(has(open_fault(path("u.bin")).what, "token 0 is 4000000000"));
}

// princeton-nlp/LLM-Shearing#65, huggingface/transformers#2825, huggingface/datatrove#118: ids
// above 65,535 wrapped silently in uint16 files, 54,012 of 119,547 tokens in one of them.
TEST_F(OpenTokensTest, Uint16HoldsVocabulariesUpTo65536AndNoLarger) {
  write("t.bin", llm_c_header(20240520, 1, 2) + little_endian(std::vector<std::uint16_t>{1, 2}));
  EXPECT_EQ(open_tokens(path("t.bin"), {.model_vocabulary = 50257}).count(), 2);
  EXPECT_EQ(open_tokens(path("t.bin"), {.model_vocabulary = 65536}).count(), 2);
  for (const std::int64_t vocabulary : {65537, 128256}) {
    const Fault fault = open_fault(path("t.bin"), {.model_vocabulary = vocabulary});
    EXPECT_TRUE(has(fault.what, "stores uint16 tokens, which cannot hold")) << fault.what;
    EXPECT_TRUE(has(fault.hint, "uint32")) << fault.hint;
  }
  // Said to be of a smaller tokenizer, the same file is right for a larger model.
  EXPECT_EQ(open_tokens(path("t.bin"), {.model_vocabulary = 128256, .tokenizer_vocabulary = 50257})
                .count(),
            2);
  write("u.bin", llm_c_header(20240801, 7, 1) + little_endian(std::uint32_t{128255}));
  EXPECT_EQ(open_tokens(path("u.bin"), {.model_vocabulary = 128256}).type(), TokenType::uint32);
}

TEST_F(OpenTokensTest, ATokenizersVocabularyThatContradictsTheCardOrTheModelIsRefused) {
  const std::string tokens = little_endian(std::vector<std::uint16_t>{1, 2});
  write("t.bin", tokens);
  const auto with = [](std::int64_t ids) {
    return OpenTokens{.model_vocabulary = 50257, .tokenizer_vocabulary = ids};
  };
  EXPECT_EQ(open_tokens(path("t.bin"), with(300)).count(), 2);
  const Fault larger = open_fault(path("t.bin"), with(50258));
  EXPECT_EQ(larger.where, "--tokenizer-vocabulary");
  EXPECT_TRUE(has(larger.what, "50,258 ids are more than the 50,257 of the model")) << larger.what;
  write("t.bin.json", json::write(to_json(TokenCard{.tokenizer = "bytes",
                                                    .vocabulary = 257,
                                                    .end_of_text = std::nullopt,
                                                    .tokens = 2,
                                                    .documents = 1,
                                                    .hash = content_hash(tokens),
                                                    .mask_hash = std::nullopt})));
  EXPECT_EQ(open_tokens(path("t.bin"), with(257)).count(), 2);
  const Fault other = open_fault(path("t.bin"), with(300));
  EXPECT_EQ(other.where, "--tokenizer-vocabulary");
  EXPECT_TRUE(has(other.what, "300 ids, but the card")) << other.what;
}

// Said to be of a tokenizer of 100 ids, a file may hold none from 100 on: 180 is the third token.
TEST_F(OpenTokensTest, IdsAreThoseOfTheTokenizerWhereItsSizeIsSaid) {
  write("t.bin", little_endian(std::vector<std::uint16_t>{1, 99, 180}));
  const Fault fault =
      open_fault(path("t.bin"), {.model_vocabulary = 257, .tokenizer_vocabulary = 100});
  EXPECT_EQ(fault.what,
            "byte 4: token 2 is 180, outside the 100 ids given by "
            "--tokenizer-vocabulary");
  EXPECT_EQ(
      open_tokens(path("t.bin"), {.model_vocabulary = 257, .tokenizer_vocabulary = 181}).count(),
      3);
}

// 14 bytes of ASCII are 7 ids of some 0x2020 to 0x7a7a; Latin-1 is no UTF-8.
TEST_F(OpenTokensTest, ATextOfAnyLengthIsSaidToBeOne) {
  for (const std::string text :
       {"some text here", "odd text here", "caf\xE9 ol\xE9 caf\xE9 ol\xE9"}) {
    write("t.txt", text);
    const Fault fault = open_fault(path("t.txt"), {.model_vocabulary = 257});
    EXPECT_EQ(fault.what, "byte 0: is text, not tokens") << text;
    EXPECT_TRUE(has(fault.hint, "fourhold tokenize")) << fault.hint;
  }
}

// The tokens alone make it: not the file's name, its header or its format.
TEST_F(OpenTokensTest, TheFingerprintIsThatOfTheTokens) {
  const std::string tokens = little_endian(std::vector<std::uint16_t>{5, 6, 7, 8});
  write("a.bin", tokens);
  write("b.bin", llm_c_header(20240520, 1, 4) + tokens);
  write("c.bin", little_endian(std::vector<std::uint16_t>{5, 6, 7, 9}));
  const std::string fingerprint = open_tokens(path("a.bin"), kGpt2).fingerprint();
  EXPECT_EQ(fingerprint, content_hash(tokens));
  EXPECT_EQ(open_tokens(path("b.bin"), kGpt2).fingerprint(), fingerprint);
  EXPECT_NE(open_tokens(path("c.bin"), kGpt2).fingerprint(), fingerprint);
  EXPECT_EQ(TokenSource({5, 6, 7, 8}, {0}).fingerprint(), fingerprint);
}

// microsoft/LMOps#321: a .bin of 200,060,928 bytes beside an index of 20.5 GB.
TEST_F(OpenTokensTest, ABinMuchShorterThanItsIndexIsRefusedWithBothSizes) {
  write("train.bin", "");
  std::filesystem::resize_file(path("train.bin"), 200'060'928);  // sparse
  // 10 sequences of 1,025,000,000 uint16 tokens are 20.5e9 bytes.
  write("train.idx", megatron_index(8, 2, std::vector<std::int32_t>(10, 1'025'000'000),
                                    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  const Fault fault = open_fault(path("train"));
  EXPECT_EQ(fault.where, path("train.bin"));
  EXPECT_TRUE(has(fault.what, "20,500,000,000")) << fault.what;
  EXPECT_TRUE(has(fault.what, "200,060,928")) << fault.what;
  EXPECT_TRUE(has(fault.what, "byte 200060928")) << fault.what;
  EXPECT_TRUE(has(fault.hint, "cut short")) << fault.hint;
}

// The same report: "wrong width looks like noise".
TEST_F(OpenTokensTest, ABinOfHalfOrTwiceTheSizeHintsAtUint16AndUint32MixedUp) {
  write("half.bin", std::string(10, '\1'));
  write("half.idx", megatron_index(4, 4, {5}, {0, 1}));
  EXPECT_TRUE(has(open_fault(path("half")).hint, "uint16 and uint32 mixed up"));
  write("twice.bin", std::string(20, '\1'));
  write("twice.idx", megatron_index(8, 2, {5}, {0, 1}));
  EXPECT_TRUE(has(open_fault(path("twice")).hint, "uint16 and uint32 mixed up"));
}

class CardTest : public OpenTokensTest {
 protected:
  // XXH3 of the six bytes 01 00 02 00 03 00 (xxhsum -H3, 0.8.1).
  static constexpr const char* kHash = "c416cfbf9546d233";

  std::string card(const std::string& changed = "", const std::string& to = "") const {
    std::string text = R"({"schema": "fourhold.tokens/1", "tokenizer": "test", "vocabulary": 300,
      "end_of_text": null, "tokens": 3, "documents": 1, "hash": ")" +
                       std::string(kHash) + R"(", "mask_hash": null})";
    if (!changed.empty()) text.replace(text.find(changed), changed.size(), to);
    return text;
  }
  void write_tokens() const {
    write("c.bin",
          llm_c_header(20240520, 1, 3) + little_endian(std::vector<std::uint16_t>{1, 2, 3}));
  }
};

TEST_F(CardTest, ACardSaysTheVocabularyThatTheFormatCannot) {
  write_tokens();
  write("c.bin.json", card());
  EXPECT_EQ(open_tokens(path("c.bin"), {.model_vocabulary = 300}).count(), 3);
  EXPECT_EQ(open_tokens(path("c.bin"), {.model_vocabulary = 128256}).count(), 3);
  EXPECT_TRUE(has(open_fault(path("c.bin"), {.model_vocabulary = 299}).what, "300"));
}

TEST_F(CardTest, RefusesTokensThatAreNotTheCards) {
  write_tokens();
  write("c.bin.json", card("\"tokens\": 3", "\"tokens\": 4"));
  EXPECT_TRUE(has(open_fault(path("c.bin")).what, "has 3 tokens, but its card"));
  write("c.bin.json", card(kHash, "0123456789abcdef"));
  EXPECT_TRUE(has(open_fault(path("c.bin")).what, "but its card says 0123456789abcdef"));
  write("c.bin.json", card("fourhold.tokens/1", "other/1"));
  EXPECT_EQ(open_fault(path("c.bin")).where, path("c.bin.json") + ": schema");
  write("c.bin.json", card(kHash, "xyz"));
  EXPECT_EQ(open_fault(path("c.bin")).where, path("c.bin.json") + ": hash");
  write("c.bin.json", card("300", "0"));
  EXPECT_EQ(open_fault(path("c.bin")).where, path("c.bin.json") + ": vocabulary");
}

TEST_F(CardTest, RefusesAMaskWithoutAnIndex) {
  write_tokens();
  write("c.bin.json", card("\"mask_hash\": null", "\"mask_hash\": \"0123456789abcdef\""));
  EXPECT_TRUE(has(open_fault(path("c.bin")).what, "mask for 1 example"));
}

TEST_F(CardTest, RefusesADamagedMaskByItsByte) {
  write("c.bin", little_endian(std::vector<std::uint16_t>{1, 2, 3}));
  write("c.idx", megatron_index(8, 2, {3}, {0, 1}));
  write("c.bin.json", card("\"mask_hash\": null", "\"mask_hash\": \"0123456789abcdef\""));
  EXPECT_EQ(open_fault(path("c")).where, path("c.bin.mask"));
  write("c.bin.mask", std::string("\0\1", 2));
  EXPECT_TRUE(has(open_fault(path("c")).what, "byte 2: has 2 bytes for 3 tokens"));
  write("c.bin.mask", std::string("\0\2\1", 3));
  EXPECT_TRUE(has(open_fault(path("c")).what, "byte 1: 2 is neither 0"));
  write("c.bin.mask", std::string("\0\1\1", 3));
  EXPECT_TRUE(has(open_fault(path("c")).what, "has the hash"));
}

}  // namespace
}  // namespace fourhold::engine::data
