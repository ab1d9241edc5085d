#include "fourhold/model/hf_architecture.h"

#include <algorithm>

#include <fmt/format.h>

#include "fourhold/base/ascii.h"
#include "fourhold/base/error.h"
#include "fourhold/model/hf_families.h"

namespace fourhold::model {
namespace {

// Letters and digits in lower case: "GPTNeoX" and "gpt_neox" agree.
std::string normalised(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (is_letter(c) || is_digit(c)) out += lowered(c);
  }
  return out;
}

const json::Value* names_of(FieldReader& fields) {
  const json::Value* value = fields.value("architectures");
  if (value == nullptr) return nullptr;
  const bool names =
      value->is_array() && std::all_of(value->array().begin(), value->array().end(),
                                       [](const json::Value& name) { return name.is_string(); });
  if (names) return value;
  throw Error(fields.path("architectures"), "must be a list of names",
              "write for example [\"LlamaForCausalLM\"], or leave it out");
}

}  // namespace

std::optional<std::string> type_of_architecture(FieldReader& fields) {
  const json::Value* architectures = names_of(fields);
  if (architectures == nullptr || architectures->array().empty()) return std::nullopt;
  std::string_view name = architectures->array().front().string();
  for (const std::string_view suffix :
       {"ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "Model"}) {
    const std::size_t at = name.rfind(suffix);
    if (at == std::string_view::npos || at + suffix.size() != name.size()) continue;
    name = name.substr(0, at);
    break;
  }
  const std::string wanted = normalised(name);
  for (const std::string_view family : family_names()) {
    if (normalised(family) == wanted) return std::string(family);
  }
  if (wanted == "rw") return "falcon";
  if (wanted == "decilm") return "nemotron-nas";
  if (find_family(wanted) != nullptr) return wanted;
  return std::string(name);
}

void note_architecture(Reading& reading, std::string_view model_type) {
  const std::optional<std::string> derived = type_of_architecture(reading.fields);
  const Family* by_class = derived ? find_family(*derived) : nullptr;
  const Family* by_type = find_family(model_type);
  if (by_class == nullptr) return;
  if (by_type != nullptr && by_type->read == by_class->read) return;
  note(reading, fmt::format("{} names a class of '{}', but {} is '{:.60}': the latter is followed",
                            reading.fields.path("architectures"), by_class->model_type,
                            reading.fields.path("model_type"), model_type));
}

}  // namespace fourhold::model
