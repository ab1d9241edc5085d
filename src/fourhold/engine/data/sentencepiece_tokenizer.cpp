// The only file that knows SentencePiece.
#include "fourhold/engine/data/sentencepiece_tokenizer.h"

#include <sentencepiece_processor.h>

#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/data/content_hash.h"

namespace fourhold::engine::data {
namespace {

class SentencePieceTokenizer final : public Tokenizer {
 public:
  SentencePieceTokenizer(const std::string& model, const std::string& where)
      : hash_(content_hash(model)) {
    const auto status = processor_.LoadFromSerializedProto(model);
    if (!status.ok() || processor_.GetPieceSize() <= 0) {
      throw Error(where, "is no tokenizer.json and no SentencePiece model",
                  "give the file that was published with the weights, or 'bytes'");
    }
  }

  void encode(std::string_view text, const TokenSink& sink) override {
    if (static_cast<std::int64_t>(text.size()) > kMostSentencePieceBytes) {
      throw Error("text",
                  fmt::format("a document of {} bytes; SentencePiece reads {} at once",
                              format_count(static_cast<std::int64_t>(text.size())),
                              format_count(kMostSentencePieceBytes)),
                  "split it into documents: several files, a separator, or JSON lines");
    }
    const auto status = processor_.Encode({text.data(), text.size()}, &ids_);
    if (!status.ok()) throw Error("text", status.ToString(), "save the text as UTF-8");
    if (!ids_.empty()) sink(ids_);
  }

  [[nodiscard]] std::string decode(std::span<const TokenId> ids) const override {
    for (const TokenId id : ids) {
      if (id >= 0 && id < processor_.GetPieceSize()) continue;
      throw Error("tokens", fmt::format("no token has id {}", id),
                  fmt::format("ids are below {}", processor_.GetPieceSize()));
    }
    std::string text;
    const auto status = processor_.Decode(std::vector<int>(ids.begin(), ids.end()), &text);
    if (!status.ok()) throw Error("tokens", status.ToString(), "the ids are of another tokenizer");
    return text;
  }

  [[nodiscard]] std::int64_t vocabulary_size() const override { return processor_.GetPieceSize(); }
  [[nodiscard]] std::string name() const override { return "SentencePiece, model " + hash_; }
  [[nodiscard]] std::vector<TokenId> prefix() const override {
    const int id = processor_.bos_id();
    return id < 0 ? std::vector<TokenId>() : std::vector<TokenId>{id};
  }
  [[nodiscard]] std::optional<TokenId> end_of_text() const override {
    const int id = processor_.eos_id();
    return id < 0 ? std::nullopt : std::optional<TokenId>(id);
  }
  [[nodiscard]] std::optional<TokenId> id_of(std::string_view token) const override {
    const int id = processor_.PieceToId({token.data(), token.size()});
    const bool known = processor_.IdToPiece(id) == token;
    return known ? std::optional<TokenId>(id) : std::nullopt;
  }
  [[nodiscard]] std::optional<TokenId> unknown() const override {
    const int id = processor_.unk_id();
    return id < 0 ? std::nullopt : std::optional<TokenId>(id);
  }

 private:
  sentencepiece::SentencePieceProcessor processor_;
  std::string hash_;
  std::vector<int> ids_;
};

}  // namespace

std::unique_ptr<Tokenizer> make_sentencepiece_tokenizer(const std::string& model,
                                                        const std::string& where) {
  return std::make_unique<SentencePieceTokenizer>(model, where);
}

}  // namespace fourhold::engine::data
