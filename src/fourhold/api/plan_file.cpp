#include "fourhold/api/plan_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "fourhold/api/option_value.h"
#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/json.h"
#include "fourhold/base/text_file.h"

namespace fourhold::api {
namespace {

constexpr std::string_view kSchema = "fourhold.plan-file/1";
constexpr std::int64_t kMaxFileBytes = 1 << 20;

constexpr std::string_view kHowToWriteOne =
    "write the plan into a file of its own: `fourhold plan ... -o plan.json`";

// Calls visit(Option, field) for what a file says of the place and the run beside the plan.
template <class Visitor>
void visit_situation(Visitor&& visit, TargetRequest& target, TimeRequest& time) {
  visit_memory_options(visit, target);
  visit_time_options(visit, time);
}

json::Value value_json(Bytes bytes) { return bytes.count(); }
json::Value value_json(double number) { return number; }
json::Value value_json(std::int64_t count) { return count; }

// Answers that hold a plan, and may be taken for the plan's file.
constexpr std::array<std::string_view, 5> kAnswers{"fourhold.plan/", "fourhold.predict/",
                                                   "fourhold.fit/", "fourhold.explain/",
                                                   "fourhold.difference/"};

bool is_answer(std::string_view schema) {
  return std::any_of(kAnswers.begin(), kAnswers.end(), [schema](std::string_view answer) {
    return schema.substr(0, answer.size()) == answer;
  });
}

// "fourhold.plan/1" of {"schema": "fourhold.plan/1", ...; "" where the text starts otherwise.
std::string leading_schema(std::string_view start) {
  constexpr std::string_view kKey = "\"schema\"";
  std::size_t at = start.find(kKey);
  if (at == std::string_view::npos || start.find_first_not_of(" \t\r\n{") != at) return {};
  at = start.find('"', at + kKey.size());
  if (at == std::string_view::npos) return {};
  const std::size_t end = start.find('"', at + 1);
  if (end == std::string_view::npos) return {};
  return std::string(start.substr(at + 1, end - at - 1));
}

[[noreturn]] void refuse_schema(const std::string& schema) {
  if (is_answer(schema)) {
    throw Error("schema", fmt::format("'{:.60}' is an answer, not a plan file", schema),
                std::string(kHowToWriteOne));
  }
  throw Error("schema", fmt::format("'{:.60}' is not a plan file this version reads", schema),
              fmt::format("it must be '{}'", kSchema));
}

// A plan without a schema may be any object; one with a model's own fields is another file.
void refuse_model_config(const json::Value& value) {
  if (!value.is_object()) return;
  for (const char* field : {"model_type", "architectures"}) {
    if (value.find(field) == nullptr) continue;
    throw Error(field, "is of a model's config, and a plan file is expected here",
                "name the model once, and the plan's file after it");
  }
}

PlanFile plan_file_from(const json::Value& value, PlanFileKind kind) {
  PlanFile file;
  FieldReader reader(value, "");
  const std::optional<std::string> schema = reader.string("schema");
  if (!schema) {
    if (kind == PlanFileKind::names_its_model) {
      throw Error("schema", "is missing", fmt::format("write \"schema\": \"{}\"", kSchema));
    }
    refuse_model_config(value);
    file.plan = plan::request_from_json(value, "");
    return file;
  }
  if (*schema != kSchema) refuse_schema(*schema);
  file.model = reader.string("model").value_or("");
  file.target.device = reader.string("device").value_or("");
  visit_situation(
      [&reader](const Option& option, auto& field) {
        if (const json::Value* found = reader.value(option.field.name)) {
          set_from_json(option, *found, reader.path(option.field.name), field);
        }
      },
      file.target, file.time);
  const std::optional<std::int64_t> count = reader.integer("count", plan::kCountField.range);
  const json::Value* plan = reader.value("plan");
  if (plan == nullptr) throw Error("plan", "is missing", "write {} for a plan without a field");
  file.plan = plan::request_from_json(*plan, "plan");
  if (count && file.plan.count && *count != *file.plan.count) {
    throw Error("plan.count", fmt::format("is {}, but count is {}", *file.plan.count, *count),
                "leave out one of them");
  }
  if (count) file.plan.count = count;
  reader.refuse_unread();
  if (kind == PlanFileKind::names_its_model && file.model.empty()) {
    throw Error("model", "is missing", "add the model, or name it before the plan file");
  }
  return file;
}

}  // namespace

std::string plan_file_text(const std::string& model, const TargetRequest& target,
                           const TimeRequest& time, const plan::Plan& plan) {
  json::Object file;
  file.emplace_back("schema", kSchema);
  if (!model.empty()) file.emplace_back("model", model);
  if (!target.device.empty()) file.emplace_back("device", target.device);
  TargetRequest place = target;
  TimeRequest run = time;
  visit_situation(
      [&file](const Option& option, const auto& field) {
        if (field) file.emplace_back(std::string(option.field.name), value_json(*field));
      },
      place, run);
  file.emplace_back("count", plan.devices());
  file.emplace_back("plan", plan::to_json(plan));
  return json::write(std::move(file)) + "\n";
}

bool is_plan_file(const std::string& path) {
  std::error_code fault;
  if (!std::filesystem::is_regular_file(path, fault)) return false;
  std::array<char, 256> start{};
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  const std::string schema =
      leading_schema({start.data(), static_cast<std::size_t>(file.gcount())});
  if (is_answer(schema)) {
    throw Error(path, fmt::format("is an answer ('{:.60}'), not a plan file", schema),
                std::string(kHowToWriteOne));
  }
  if (std::filesystem::file_size(path, fault) > kMaxFileBytes || fault) return false;
  // The word decides, so that a plan file with a fault is judged by the reader of plan files.
  return read_text_file(path, kMaxFileBytes).find("\"fourhold.plan-file/") != std::string::npos;
}

PlanFile parse_plan_file(std::string_view text, const std::string& where, PlanFileKind kind) {
  const json::Value document = json::parse(text, where);
  try {
    return plan_file_from(document, kind);
  } catch (const Error& fault) {
    throw fault.inside(where);
  }
}

PlanFile read_plan_file(const std::string& path, PlanFileKind kind) {
  return parse_plan_file(read_text_file(path, kMaxFileBytes), path, kind);
}

}  // namespace fourhold::api
