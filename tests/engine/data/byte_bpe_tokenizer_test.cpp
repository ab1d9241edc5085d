#include "fourhold/engine/data/byte_bpe_tokenizer.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "fourhold/base/json.h"
#include "fourhold/base/text_file.h"
#include "tests/engine/data/fault.h"

namespace fourhold::engine::data {
namespace {

using Ids = std::vector<TokenId>;

std::vector<std::int64_t> integers(const json::Value& value) {
  std::vector<std::int64_t> result;
  for (const json::Value& element : value.array()) result.push_back(element.integer());
  return result;
}

const json::Value& vectors() {
  static const json::Value value = json::parse(
      read_text_file(FOURHOLD_SOURCE_DIR "/tests/engine/data/fixtures/bpe_vectors.json", 1 << 20),
      "bpe_vectors.json");
  return value;
}

enum class Spelling { joined, pairs };

// The tokenizer.json of a style of the vectors, with its merges in one of the two spellings.
std::string document_of(const json::Value& style, Spelling spelling) {
  json::Array merges = vectors().find("merges")->array();
  for (json::Value& merge : merges) {
    const std::string& text = merge.string();
    const std::size_t space = text.find(' ');
    if (spelling == Spelling::pairs) {
      merge = json::Array{text.substr(0, space), text.substr(space + 1)};
    }
  }
  const json::Value model = json::Object{{"type", "BPE"},
                                         {"dropout", nullptr},
                                         {"byte_fallback", false},
                                         {"ignore_merges", *style.find("ignore_merges")},
                                         {"vocab", *vectors().find("vocab")},
                                         {"merges", merges}};
  return json::write(json::Object{{"version", "1.0"},
                                  {"added_tokens", *style.find("added_tokens")},
                                  {"normalizer", *style.find("normalizer")},
                                  {"pre_tokenizer", *style.find("pre_tokenizer")},
                                  {"model", model}});
}

// The vectors come from huggingface/tokenizers: fixtures/make_vectors.mjs.
void expect_the_published_ids(Spelling spelling) {
  int compared = 0;
  for (const json::Value& style : vectors().find("styles")->array()) {
    const auto tokenizer = make_byte_bpe_tokenizer(document_of(style, spelling), "t.json");
    for (const json::Value& vector : style.find("vectors")->array()) {
      const std::string& text = vector.find("text")->string();
      const Ids ids = tokenizer->encode(text);
      EXPECT_EQ(std::vector<std::int64_t>(ids.begin(), ids.end()), integers(*vector.find("ids")))
          << style.find("name")->string() << ": " << json::write(text);
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000);
}

TEST(ByteBpeTokenizer, GivesTheIdsOfHuggingFaceTokenizersInEveryStyle) {
  expect_the_published_ids(Spelling::joined);
}

TEST(ByteBpeTokenizer, ReadsMergesSpelledAsPairsAlike) {
  expect_the_published_ids(Spelling::pairs);
}

RC_GTEST_PROP(ByteBpeTokenizer, DecodesWhatItEncoded, (std::vector<std::uint32_t> codes)) {
  static const auto tokenizer = make_byte_bpe_tokenizer(
      document_of(vectors().find("styles")->array()[0], Spelling::joined), "t.json");
  std::string text;
  for (const std::uint32_t code : codes) {
    const std::uint32_t letter = code % 0x2FFF;  // below the surrogates
    if (letter < 0x80) {
      text += static_cast<char>(letter);
    } else if (letter < 0x800) {
      text += static_cast<char>(0xC0U | letter >> 6U);
      text += static_cast<char>(0x80U | (letter & 0x3FU));
    } else {
      text += static_cast<char>(0xE0U | letter >> 12U);
      text += static_cast<char>(0x80U | (letter >> 6U & 0x3FU));
      text += static_cast<char>(0x80U | (letter & 0x3FU));
    }
  }
  RC_ASSERT(tokenizer->decode(tokenizer->encode(text)) == text);
}

// By hand: bytes a, b, c are 0, 1, 2; "ab" is 3 and "abc" 4.
std::string small_model(const std::string& merges, const std::string& more = "") {
  return R"({"added_tokens":[{"id":5,"content":"<|endoftext|>","special":true}],)"
         R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":false},)"
         R"("model":{"type":"BPE","vocab":{"a":0,"b":1,"c":2,"ab":3,"abc":4},"merges":[)" +
         merges + "]}" + more + "}";
}

TEST(ByteBpeTokenizer, JoinsTheLowestRankFirstAndTheLeftmostOfEquals) {
  const auto tokenizer = make_byte_bpe_tokenizer(small_model(R"("a b","ab c")"), "t.json");
  EXPECT_EQ(tokenizer->encode("abc"), (Ids{4}));
  EXPECT_EQ(tokenizer->encode("abab"), (Ids{3, 3}));
  EXPECT_EQ(tokenizer->encode("aabcb"), (Ids{0, 4, 1}));
  EXPECT_EQ(tokenizer->encode("cba"), (Ids{2, 1, 0}));
  EXPECT_EQ(tokenizer->encode("a<|endoftext|>b"), (Ids{0, 5, 1}));
  EXPECT_EQ(tokenizer->vocabulary_size(), 6);
  EXPECT_EQ(tokenizer->end_of_text(), 5);
  EXPECT_EQ(tokenizer->id_of("abc"), 4);
  EXPECT_EQ(tokenizer->id_of("abcd"), std::nullopt);
  EXPECT_EQ(tokenizer->decode(Ids{4, 5, 1}), "abc<|endoftext|>b");
}

TEST(ByteBpeTokenizer, ALongWordTakesNoQuadraticTime) {
  // A million symbols: n log n steps are a second at most, n^2 would be hours.
  const auto tokenizer = make_byte_bpe_tokenizer(small_model(R"("a b","ab c")"), "t.json");
  std::string word;
  for (int i = 0; i < 333'333; ++i) word += "abc";
  EXPECT_EQ(tokenizer->encode(word), Ids(333'333, 4));
}

TEST(ByteBpeTokenizer, ATemplateSaysWhatStandsAroundAText) {
  const auto tokenizer = make_byte_bpe_tokenizer(
      small_model(R"("a b")", R"(,"post_processor":{"type":"Sequence","processors":[
        {"type":"ByteLevel","add_prefix_space":true,"trim_offsets":false,"use_regex":true},
        {"type":"TemplateProcessing","pair":[],
         "single":[{"SpecialToken":{"id":"S","type_id":0}},{"Sequence":{"id":"A","type_id":0}},
                   {"SpecialToken":{"id":"E","type_id":0}}],
         "special_tokens":{"S":{"id":"S","ids":[2],"tokens":["c"]},
                           "E":{"id":"E","ids":[5],"tokens":["E"]}}}]})"),
      "t.json");
  EXPECT_EQ(tokenizer->prefix(), (Ids{2}));
  EXPECT_EQ(tokenizer->suffix(), (Ids{5}));
  EXPECT_EQ(tokenizer->encode("ab"), (Ids{3}));
}

TEST(ByteBpeTokenizer, RefusesTextThatIsNoUtf8ByItsByte) {
  const auto tokenizer = make_byte_bpe_tokenizer(small_model(R"("a b")"), "t.json");
  const Fault fault = fault_of([&] { (void)tokenizer->encode("ab\xFF"); });
  EXPECT_TRUE(has(fault.what, "byte 2: 0xFF is not UTF-8")) << fault.what;
}

TEST(ByteBpeTokenizer, RefusesAByteWithoutAToken) {
  const auto tokenizer = make_byte_bpe_tokenizer(small_model(R"("a b")"), "t.json");
  const Fault fault = fault_of([&] { (void)tokenizer->encode("abz"); });
  EXPECT_TRUE(has(fault.what, "0x7A has no token")) << fault.what;
}

TEST(ByteBpeTokenizer, RefusesAnUnknownIdInDecode) {
  const auto tokenizer = make_byte_bpe_tokenizer(small_model(R"("a b")"), "t.json");
  EXPECT_TRUE(has(fault_of([&] { (void)tokenizer->decode(Ids{7}); }).what, "id 7"));
}

struct Refusal {
  std::string json;
  std::string where;
  std::string what;
};

TEST(ByteBpeTokenizer, RefusesWhatItWouldDoOtherwiseByName) {
  const auto pre = [](const std::string& value) {
    return R"({"pre_tokenizer":)" + value + R"(,"model":{"vocab":{"a":0},"merges":[]}})";
  };
  const auto model = [](const std::string& members) {
    return R"({"pre_tokenizer":{"type":"ByteLevel"},"model":{)" + members + "}}";
  };
  const auto top = [](const std::string& members) {
    return "{" + members +
           R"(,"pre_tokenizer":{"type":"ByteLevel"},)"
           R"("model":{"vocab":{"a":0},"merges":[]}})";
  };
  const std::vector<Refusal> refusals{
      {pre(R"({"type":"Metaspace"})"), "pre_tokenizer.type", "Metaspace"},
      {pre(R"({"type":"Sequence","pretokenizers":[{"type":"Digits"}]})"), "pre_tokenizer",
       "does not end in ByteLevel"},
      {pre(R"({"type":"Sequence","pretokenizers":[{"type":"ByteLevel"},{"type":"Digits"}]})"),
       "pretokenizers[1]", "Digits after ByteLevel"},
      {pre(R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"String":"a"},)"
           R"("behavior":"MergedWithNext","invert":false},{"type":"ByteLevel"}]})"),
       "pretokenizers[0].behavior", "MergedWithNext"},
      {pre(R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"a*"},)"
           R"("behavior":"Isolated"},{"type":"ByteLevel"}]})"),
       "pattern.Regex", "may match nothing"},
      {pre(R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"a\\h"},)"
           R"("behavior":"Isolated"},{"type":"ByteLevel"}]})"),
       "pattern.Regex", "'\\h' at byte 1"},
      {pre(R"({"type":"ByteLevel","new_field":1})"), "new_field", ""},
      {model(R"("type":"Unigram","vocab":[])"), "model.type", "Unigram"},
      {model(R"("vocab":{"a":0},"merges":[],"byte_fallback":true)"), "model.byte_fallback", ""},
      {model(R"("vocab":{"a":0},"merges":[],"dropout":0.1)"), "model.dropout", ""},
      {model(R"("vocab":{"a":0},"merges":[],"continuing_subword_prefix":"##")"),
       "model.continuing_subword_prefix", ""},
      {model(R"("vocab":{"a":0,"b":0},"merges":[])"), "model.vocab", "id 0"},
      {model(R"("vocab":{"a":-1},"merges":[])"), "model.vocab['a']", "-1"},
      {model(R"("vocab":{"a":0},"merges":["a b"])"), "model.merges[0]", "'b' is not in"},
      {model(R"("vocab":{"a":0,"b":1},"merges":["a b"])"), "model.merges[0]", "'ab' is not in"},
      {model(R"("vocab":{"a":0,"aa":1},"merges":["a a","a a"])"), "model.merges[1]", "twice"},
      {model(R"("vocab":{"a":0},"merges":["a a a"])"), "model.merges[0]", "no pair"},
      {model(R"("vocab":{"a":0},"merges":[["a"]])"), "model.merges[0]", "no pair"},
      {model(R"("vocab":{"a":0})"), "model.merges", "missing"},
      {top(R"("normalizer":{"type":"NFKC"})"), "normalizer.type", "NFKC"},
      {top(R"("normalizer":{"type":"Sequence","normalizers":[{"type":"Lowercase"}]})"),
       "normalizer.normalizers[0].type", "Lowercase"},
      {top(R"("truncation":{"max_length":512})"), "truncation", ""},
      {top(R"("post_processor":{"type":"BertProcessing"})"), "post_processor.type",
       "BertProcessing"},
      {top(R"("decoder":{"type":"WordPiece"})"), "decoder.type", "WordPiece"},
      {top(R"("added_tokens":[{"id":1,"content":"<x>","lstrip":true}])"), "added_tokens[0].lstrip",
       ""},
      {top(R"("added_tokens":[{"id":0,"content":"<x>"}])"), "added_tokens[0].id", "another token"},
      {top(R"("added_tokens":[{"id":4,"content":"a"}])"), "added_tokens[0].id", "gives it 0"},
      {top(R"("surprise":1)"), "surprise", ""},
      {"{}", "model", "missing"},
      {"[1]", "t.json", ""},
      {R"({"model")", "t.json", "line 1"},
  };
  for (const Refusal& refusal : refusals) {
    const Fault fault = fault_of([&] { (void)make_byte_bpe_tokenizer(refusal.json, "t.json"); });
    EXPECT_TRUE(fault.where.starts_with("t.json")) << fault.where << "\n" << refusal.json;
    EXPECT_TRUE(has(fault.where, refusal.where)) << fault.where << "\n" << refusal.json;
    EXPECT_TRUE(has(fault.what, refusal.what)) << fault.what << "\n" << refusal.json;
  }
}

}  // namespace
}  // namespace fourhold::engine::data
