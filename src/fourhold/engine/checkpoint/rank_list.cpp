#include "fourhold/engine/checkpoint/rank_list.h"

#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/json.h"
#include "fourhold/engine/checkpoint/marker.h"

namespace fourhold::engine {
namespace {

constexpr std::string_view kListSchema = "fourhold.rank_files/1";
constexpr IntegerRange kListCount{.least = 0};

RankList read_list(FieldReader& fields) {
  if (fields.required_string("schema") != kListSchema) {
    throw Error("schema", fmt::format("is not {}", kListSchema),
                "all ranks must run the same version of this program");
  }
  RankList list;
  list.step = fields.required_integer("step", kListCount);
  list.token = fields.required_string("token");
  const json::Array* files = fields.array("files");
  for (std::size_t i = 0; files != nullptr && i < files->size(); ++i) {
    list.files.push_back(read_file_sum(FieldReader((*files)[i], fmt::format("files[{}]", i))));
  }
  const json::Array* shared = fields.array("shared");
  for (std::size_t i = 0; shared != nullptr && i < shared->size(); ++i) {
    FieldReader one((*shared)[i], fmt::format("shared[{}]", i));
    SharedShare share;
    share.written = {one.required_integer("written", kListCount),
                     one.required_integer("places", kListCount)};
    const json::Value* sum = one.value("file");
    if (sum == nullptr) throw Error(one.path("file"), "is missing", "the file is damaged");
    share.sum = read_file_sum(FieldReader(*sum, one.path("file")));
    one.refuse_unread();
    list.shared.push_back(std::move(share));
  }
  fields.refuse_unread();
  return list;
}

}  // namespace

std::string rank_list_name(RankOf who) {
  return fmt::format("files-{:05}-of-{:05}.json", who.rank + 1, who.ranks);
}

std::string write_rank_list(const RankList& list) {
  json::Array files;
  for (const FileSum& file : list.files) files.emplace_back(to_json(file));
  json::Array shared;
  for (const SharedShare& share : list.shared) {
    shared.emplace_back(json::Object{{"file", to_json(share.sum)},
                                     {"written", share.written.count},
                                     {"places", share.written.places}});
  }
  return json::write(json::Object{{"schema", kListSchema},
                                  {"step", list.step},
                                  {"token", list.token},
                                  {"files", std::move(files)},
                                  {"shared", std::move(shared)}}) +
         "\n";
}

RankList parse_rank_list(std::string_view text, const std::string& where) {
  try {
    FieldReader fields(json::parse(text, where), "");
    return read_list(fields);
  } catch (const Error& fault) {
    throw fault.inside(where);
  }
}

}  // namespace fourhold::engine
