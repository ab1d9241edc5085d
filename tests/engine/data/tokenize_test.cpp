#include "fourhold/engine/data/tokenize.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fourhold/engine/data/byte_bpe_tokenizer.h"
#include "fourhold/engine/data/byte_tokenizer.h"
#include "fourhold/engine/data/token_source.h"
#include "tests/engine/data/fault.h"
#include "tests/engine/data/files.h"

namespace fourhold::engine::data {
namespace {

using Ids = std::vector<TokenId>;

// Two tokens, "a" and the end of a text, under ids that need the given vocabulary.
std::unique_ptr<Tokenizer> tokenizer_of(std::int64_t vocabulary) {
  return make_byte_bpe_tokenizer(
      R"({"added_tokens":[{"id":)" + std::to_string(vocabulary - 1) +
          R"(,"content":"<|endoftext|>","special":true}],"pre_tokenizer":{"type":"ByteLevel",)"
          R"("add_prefix_space":false},"model":{"type":"BPE","vocab":{"a":0},"merges":[]}})",
      "t.json");
}

class TokenizeTest : public FolderTest {
 protected:
  Ids tokens(const std::string& name, std::int64_t vocabulary = 257) const {
    const TokenSource source = open_tokens(path(name), {.model_vocabulary = vocabulary});
    Ids ids(static_cast<std::size_t>(source.count()));
    source.read(0, ids);
    return ids;
  }
  Fault request_fault(const TokenizeRequest& request) const {
    const auto bytes = make_byte_tokenizer();
    return fault_of([&] { (void)tokenize(request, *bytes); });
  }
};

TEST_F(TokenizeTest, WritesLlmCWithACardAndNothingElse) {
  const auto bytes = make_byte_tokenizer();
  const TokenizeResult result = tokenize(
      {.inputs = {write("a.txt", "hi"), write("b.txt", "yo")}, .output = path("o.bin")}, *bytes);
  EXPECT_EQ(names(), (std::vector<std::string>{"a.txt", "b.txt", "o.bin", "o.bin.json"}));
  EXPECT_EQ(read("o.bin"), llm_c_header(20240520, 1, 6) + little_endian(std::vector<std::uint16_t>{
                                                              'h', 'i', 256, 'y', 'o', 256}));
  EXPECT_EQ(result.card.tokens, 6);
  EXPECT_EQ(result.card.documents, 2);
  EXPECT_EQ(result.card.vocabulary, 257);
  EXPECT_EQ(result.card.end_of_text, 256);
  EXPECT_EQ(result.text_bytes, 4);
  EXPECT_EQ(result.learned_tokens, 6);
  EXPECT_EQ(read_token_card(path("o.bin")), result.card);
  EXPECT_EQ(tokens("o.bin"), (Ids{'h', 'i', 256, 'y', 'o', 256}));
}

TEST_F(TokenizeTest, WritesNanoGptAndMegatron) {
  const auto bytes = make_byte_tokenizer();
  const std::string text = write("a.txt", "hi|yo|");
  (void)tokenize(
      {.inputs = {text}, .output = path("n.bin"), .format = TokenFormat::nanogpt, .separator = "|"},
      *bytes);
  EXPECT_EQ(read("n.bin"), little_endian(std::vector<std::uint16_t>{'h', 'i', 256, 'y', 'o', 256}));
  (void)tokenize({.inputs = {text},
                  .output = path("m.bin"),
                  .format = TokenFormat::megatron,
                  .separator = "|"},
                 *bytes);
  EXPECT_EQ(read("m.bin"), read("n.bin"));
  EXPECT_EQ(read("m.idx"), megatron_index(8, 2, {3, 3}, {0, 1, 2}));
  EXPECT_EQ(tokens("m.bin"), (Ids{'h', 'i', 256, 'y', 'o', 256}));
}

// The same faults as in the reader, where files are made (princeton-nlp/LLM-Shearing#65).
TEST_F(TokenizeTest, Uint16IsWrittenUpToAVocabularyOf65536AndUint32Above) {
  const std::string text = write("a.txt", "aa");
  struct Case {
    std::int64_t vocabulary;
    TokenType type;
  };
  for (const Case& item : {Case{50257, TokenType::uint16}, Case{65536, TokenType::uint16},
                           Case{65537, TokenType::uint32}, Case{128256, TokenType::uint32}}) {
    const std::string name = std::to_string(item.vocabulary) + ".bin";
    const auto tokenizer = tokenizer_of(item.vocabulary);
    const auto result = tokenize({.inputs = {text}, .output = path(name)}, *tokenizer);
    EXPECT_EQ(result.type, item.type);
    EXPECT_EQ(tokens(name, item.vocabulary),
              (Ids{0, 0, static_cast<TokenId>(item.vocabulary - 1)}));
  }
  const auto large = tokenizer_of(65537);
  const Fault fault = fault_of([&] {
    (void)tokenize({.inputs = {text}, .output = path("n.bin"), .format = TokenFormat::nanogpt},
                   *large);
  });
  EXPECT_TRUE(has(fault.what, "uint16, which cannot hold a vocabulary of 65,537")) << fault.what;
  const auto just = tokenizer_of(65536);
  (void)tokenize({.inputs = {text}, .output = path("n.bin"), .format = TokenFormat::nanogpt},
                 *just);
  EXPECT_EQ(tokens("n.bin", 65536), (Ids{0, 0, 65535}));
  (void)tokenize({.inputs = {text}, .output = path("m.bin"), .format = TokenFormat::megatron},
                 *large);
  EXPECT_EQ(tokens("m.bin", 65537), (Ids{0, 0, 65536}));
  EXPECT_EQ(read("m.idx").substr(17, 1), "\4");  // int32
}

TEST_F(TokenizeTest, PromptsAndAnswersKeepAMask) {
  const auto bytes = make_byte_tokenizer();
  const std::string lines = write("in.jsonl", R"({"prompt": "ab", "completion": "c", "id": 7}

{"response": "de", "prompt": "\n"}
)");
  const auto result = tokenize({.inputs = {lines}, .output = path("o.bin")}, *bytes);
  EXPECT_EQ(result.format, TokenFormat::megatron);
  EXPECT_EQ(result.card.documents, 2);
  EXPECT_EQ(result.learned_tokens, 5);
  EXPECT_EQ(result.text_bytes, 6);  // "ab", "c", a line's end and "de": not their JSON
  EXPECT_EQ(result.notes, (std::vector<std::string>{"members of examples that are not read: id"}));
  EXPECT_EQ(names(),
            (std::vector<std::string>{"in.jsonl", "o.bin", "o.bin.json", "o.bin.mask", "o.idx"}));
  EXPECT_EQ(tokens("o.bin"), (Ids{'a', 'b', 'c', 256, '\n', 'd', 'e', 256}));
  EXPECT_EQ(read("o.bin.mask"), std::string("\0\0\1\1\0\1\1\1", 8));
  EXPECT_TRUE(open_tokens(path("o.bin"), {.model_vocabulary = 257}).has_mask());
}

TEST_F(TokenizeTest, LongExamplesAreLeftOutOnlyWhenAskedAndCounted) {
  const auto bytes = make_byte_tokenizer();
  const std::string lines = write("in.jsonl", R"({"prompt": "ab", "answer": "c"}
{"prompt": "abcdef", "answer": "g"}
)");
  const auto result =
      tokenize({.inputs = {lines}, .output = path("o.bin"), .most_example_tokens = 4}, *bytes);
  EXPECT_EQ(result.examples_left_out, 1);
  EXPECT_EQ(result.card.documents, 1);
}

// "ab", "c" and the end are 4 tokens, the other example has 8.
TEST_F(TokenizeTest, WhereAllExamplesAreTooLongTheShortestIsNamed) {
  const std::string lines = write("in.jsonl", R"({"prompt": "abcdef", "answer": "g"}
{"prompt": "ab", "answer": "c"}
)");
  const Fault fault =
      request_fault({.inputs = {lines}, .output = path("o.bin"), .most_example_tokens = 1});
  EXPECT_EQ(fault.what, "all 2 examples are longer than 1 token");
  EXPECT_TRUE(has(fault.hint, "the shortest has 4 tokens")) << fault.hint;
}

TEST_F(TokenizeTest, NotesInputsThatAddNothingAndJsonThatIsReadAsText) {
  const auto bytes = make_byte_tokenizer();
  const std::string text = write("a.json", "[1]");
  const std::string empty = write("b.txt", "");
  const auto result = tokenize({.inputs = {text, empty}, .output = path("o.bin")}, *bytes);
  ASSERT_EQ(result.notes.size(), 2U);
  EXPECT_TRUE(has(result.notes[0], "a.json is read as plain text")) << result.notes[0];
  EXPECT_EQ(result.notes[1], empty + " holds no text");
}

TEST_F(TokenizeTest, AnExtensionIsTheSameInCapitals) {
  const auto bytes = make_byte_tokenizer();
  const std::string lines = write("IN.JSONL", R"({"prompt": "ab", "answer": "c"})");
  EXPECT_EQ(tokenize({.inputs = {lines}, .output = path("o.bin")}, *bytes).learned_tokens, 2);
}

TEST_F(TokenizeTest, AFolderThatIsMissingIsNamedByTheFileAskedFor) {
  const std::string text = write("a.txt", "hi");
  EXPECT_EQ(request_fault({.inputs = {text}, .output = path("none/o.bin")}).where,
            path("none/o.bin"));
}

TEST_F(TokenizeTest, APublishedTemplateStandsAroundEveryDocument) {
  const auto tokenizer = make_byte_bpe_tokenizer(
      R"({"added_tokens":[{"id":1,"content":"<s>"},{"id":2,"content":"</s>"}],
          "pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},
          "post_processor":{"type":"TemplateProcessing",
            "single":[{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence":{"id":"A","type_id":0}},
                      {"SpecialToken":{"id":"</s>","type_id":0}}],
            "special_tokens":{"<s>":{"ids":[1]},"</s>":{"ids":[2]}}},
          "model":{"vocab":{"a":0},"merges":[]}})",
      "t.json");
  (void)tokenize({.inputs = {write("a.txt", "a,aa")}, .output = path("o.bin"), .separator = ","},
                 *tokenizer);
  EXPECT_EQ(tokens("o.bin", 3), (Ids{1, 0, 2, 1, 0, 0, 2}));  // the suffix ends in </s>: once
}

TEST_F(TokenizeTest, RefusesRequestsThatCannotBeMeant) {
  const std::string text = write("a.txt", "hi");
  const std::string lines = write("a.jsonl", R"({"prompt": "a", "answer": "b"})");
  EXPECT_EQ(request_fault({.inputs = {}, .output = path("o.bin")}).where, "INPUT");
  EXPECT_TRUE(has(request_fault({.inputs = {text}, .output = path("o")}).what, ".bin"));
  EXPECT_TRUE(has(request_fault({.inputs = {text, lines}, .output = path("o.bin")}).what, "mixed"));
  EXPECT_EQ(
      request_fault({.inputs = {lines}, .output = path("o.bin"), .format = TokenFormat::llm_c})
          .where,
      "--format");
  EXPECT_EQ(request_fault({.inputs = {text}, .output = path("o.bin"), .separator = ""}).where,
            "--separator");
  EXPECT_EQ(request_fault({.inputs = {lines}, .output = path("o.bin"), .separator = "x"}).where,
            "--separator");
  EXPECT_EQ(request_fault({.inputs = {text}, .output = path("o.bin"), .end_of_text = "nope"}).where,
            "--end-of-text");
  EXPECT_EQ(
      request_fault({.inputs = {text}, .output = path("o.bin"), .most_example_tokens = 3}).where,
      "--most-example-tokens");
  EXPECT_EQ(request_fault({.inputs = {path("none.txt")}, .output = path("o.bin")}).where,
            path("none.txt"));
  EXPECT_TRUE(has(request_fault({.inputs = {write("e.txt", " \n")}, .output = path("o.bin")}).what,
                  "holds no text"));
  EXPECT_TRUE(
      has(request_fault({.inputs = {write("z.txt", "\x1F\x8B\x08")}, .output = path("o.bin")}).what,
          "byte 0: is a gzip archive"));
  write("there.bin", "x");
  EXPECT_EQ(request_fault({.inputs = {text}, .output = path("there.bin")}).what,
            "is there already");
  EXPECT_EQ(read("there.bin"), "x");
}

TEST_F(TokenizeTest, FaultsNameTheFileAndTheLineAndLeaveNothing) {
  const std::string lines = write("in.jsonl", R"({"prompt": "a", "answer": "b"}
{"prompt": "a", "answer": ""}
)");
  Fault fault = request_fault({.inputs = {lines}, .output = path("o.bin")});
  EXPECT_EQ(fault.where, lines + ", line 2 at byte 31: answer");
  const auto tokenizer = tokenizer_of(3);
  const std::string text = write("in.txt", "a a");
  fault =
      fault_of([&] { (void)tokenize({.inputs = {text}, .output = path("o.bin")}, *tokenizer); });
  EXPECT_TRUE(fault.where.starts_with(text + ", document at byte 0")) << fault.where;
  EXPECT_EQ(names(), (std::vector<std::string>{"in.jsonl", "in.txt"}));
}

TEST_F(TokenizeTest, StoppingHalfWayLeavesNothing) {
  const auto bytes = make_byte_tokenizer();
  const std::string text = write("in.txt", std::string(100'000, 'x'));
  std::int64_t tokens = 0;
  EXPECT_THROW((void)tokenize({.inputs = {text}, .output = path("o.bin")}, *bytes,
                              [&](const TokenizeProgress& progress) {
                                EXPECT_EQ(progress.bytes_total, 100'000);
                                tokens = progress.tokens;
                                if (tokens > 50'000) throw std::runtime_error("stop");
                              }),
               std::runtime_error);
  EXPECT_GT(tokens, 50'000);
  EXPECT_EQ(names(), std::vector<std::string>{"in.txt"});
}

// A limit on the size of files stands for a full disk: writes fail in the same place.
TEST_F(TokenizeTest, AFullDiskIsAnErrorThatLeavesNothing) {
  const std::string text = write("in.txt", std::string(3 << 20, 'x'));
  const std::string output = path("o.bin");
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int code = 1;
    try {
      const auto bytes = make_byte_tokenizer();
      (void)tokenize({.inputs = {text}, .output = output}, *bytes);
    } catch (const Error& error) {
      const bool said = has(error.what(), "cannot be written") && has(error.hint(), "make room");
      code = said ? 0 : 2;
    }
    ::_exit(code);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(names(), std::vector<std::string>{"in.txt"});
}

// Ctrl-C: whatever is left behind is not called like a token file.
TEST_F(TokenizeTest, AKilledRunLeavesNothingUnderTheFinalNames) {
  const std::string text = write("in.txt", std::string(3 << 20, 'x'));
  const std::string output = path("o.bin");
  const pid_t child = ::fork();
  if (child == 0) {
    const auto bytes = make_byte_tokenizer();
    (void)tokenize({.inputs = {text}, .output = output}, *bytes,
                   [](const TokenizeProgress& progress) {
                     if (progress.tokens > 2'000'000) std::raise(SIGINT);
                   });
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(names(), (std::vector<std::string>{"in.txt", "o.bin.partial"}));
  const auto bytes = make_byte_tokenizer();
  (void)tokenize({.inputs = {text}, .output = output}, *bytes);
  EXPECT_EQ(names(), (std::vector<std::string>{"in.txt", "o.bin", "o.bin.json"}));
}

}  // namespace
}  // namespace fourhold::engine::data
