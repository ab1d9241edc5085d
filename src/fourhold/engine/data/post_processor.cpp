#include "fourhold/engine/data/post_processor.h"

#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"

namespace fourhold::engine::data {
namespace {

constexpr std::int64_t kMostAddedId = std::numeric_limits<TokenId>::max() - 1;

// The ids behind a name of the template.
std::vector<TokenId> ids_of(FieldReader& specials, const std::string& name) {
  std::optional<FieldReader> special = specials.object(name);
  if (!special) throw Error(specials.path(name), "is missing", "the template names this token");
  std::vector<TokenId> ids;
  const auto values = special->integers("ids", {0, kMostAddedId});
  if (!values) throw Error(special->path("ids"), "is missing", "a special token has ids");
  for (const std::int64_t id : *values) ids.push_back(static_cast<TokenId>(id));
  return ids;
}

void read_template(FieldReader& reader, std::vector<TokenId>& prefix,
                   std::vector<TokenId>& suffix) {
  (void)reader.value("pair");  // of two texts: never asked for here
  const json::Array* pieces = reader.array("single");
  std::optional<FieldReader> specials = reader.object("special_tokens");
  if (pieces == nullptr || !specials) {
    throw Error(reader.path("single"), "is missing, or 'special_tokens' is",
                "a TemplateProcessing has both");
  }
  // A later processor of a sequence puts its tokens around those of an earlier one.
  std::vector<TokenId> before;
  bool text_seen = false;
  for (std::size_t i = 0; i < pieces->size(); ++i) {
    FieldReader piece((*pieces)[i], fmt::format("{}[{}]", reader.path("single"), i));
    if (std::optional<FieldReader> token = piece.object("SpecialToken")) {
      std::vector<TokenId>& side = text_seen ? suffix : before;
      const std::vector<TokenId> ids = ids_of(*specials, token->required_string("id"));
      side.insert(side.end(), ids.begin(), ids.end());
    } else if (piece.object("Sequence") && !text_seen) {
      text_seen = true;
    } else {
      throw Error(piece.path(), "is neither a SpecialToken nor the one Sequence",
                  "a template of one text is supported");
    }
    piece.refuse_unread();
  }
  if (!text_seen) throw Error(reader.path("single"), "has no Sequence", "it leaves out the text");
  prefix.insert(prefix.begin(), before.begin(), before.end());
}

}  // namespace

void read_post_processor(const json::Value& value, const std::string& path,
                         std::vector<TokenId>& prefix, std::vector<TokenId>& suffix) {
  FieldReader reader(value, path);
  const std::string type = reader.required_string("type");
  if (type == "TemplateProcessing") {
    read_template(reader, prefix, suffix);
  } else if (type == "Sequence") {
    const json::Array* members = reader.array("processors");
    for (std::size_t i = 0; members != nullptr && i < members->size(); ++i) {
      read_post_processor((*members)[i], fmt::format("{}[{}]", reader.path("processors"), i),
                          prefix, suffix);
    }
  } else if (type == "ByteLevel") {
    for (const char* flag : {"add_prefix_space", "trim_offsets", "use_regex"}) {
      (void)reader.boolean(flag);  // they move offsets, which ids do not show
    }
  } else {
    throw Error(reader.path("type"), fmt::format("'{:.40}' is not supported", type),
                "TemplateProcessing and ByteLevel are");
  }
  reader.refuse_unread();
}

}  // namespace fourhold::engine::data
