#include "fourhold/api/plan_file.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/json.h"
#include "fourhold/base/text_file.h"

namespace fourhold::api {
namespace {

constexpr std::string_view kSchema = "fourhold.plan-file/1";
constexpr std::int64_t kMaxFileBytes = 1 << 20;

PlanFile plan_file_from(const json::Value& value, PlanFileKind kind) {
  PlanFile file;
  FieldReader reader(value, "");
  const std::optional<std::string> schema = reader.string("schema");
  if (!schema) {
    if (kind == PlanFileKind::names_its_model) {
      throw Error("schema", "is missing", fmt::format("write \"schema\": \"{}\"", kSchema));
    }
    file.plan = plan::request_from_json(value, "");
    return file;
  }
  if (*schema != kSchema) {
    throw Error("schema", fmt::format("'{:.60}' is not a plan file this version reads", *schema),
                fmt::format("it must be '{}'", kSchema));
  }
  file.model = reader.string("model").value_or("");
  file.device = reader.string("device").value_or("");
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

std::string plan_file_text(const std::string& model, const std::string& device,
                           const plan::Plan& plan) {
  json::Object file;
  file.emplace_back("schema", kSchema);
  if (!model.empty()) file.emplace_back("model", model);
  if (!device.empty()) file.emplace_back("device", device);
  file.emplace_back("count", plan.devices());
  file.emplace_back("plan", plan::to_json(plan));
  return json::write(std::move(file)) + "\n";
}

bool is_plan_file(const std::string& path) {
  std::error_code fault;
  if (!std::filesystem::is_regular_file(path, fault)) return false;
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
