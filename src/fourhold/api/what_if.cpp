#include "fourhold/api/what_if.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/near_match.h"
#include "fourhold/plan/plan_fields.h"

namespace fourhold::api {
namespace {

std::vector<std::string_view> field_names() {
  std::vector<std::string_view> names;
  plan::Plan plan;
  plan::visit_fields(
      [&names](const plan::FieldInfo& info, const auto& /*field*/) { names.push_back(info.name); },
      plan);
  return names;
}

struct Change {
  std::string field;
  std::string value;
};

Change change_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw Error("--change", fmt::format("'{:.60}' is no FIELD=VALUE", text), "for example tp=4");
  }
  Change change{text.substr(0, equals), text.substr(equals + 1)};
  std::replace(change.field.begin(), change.field.end(), '-', '_');
  const std::vector<std::string_view> names = field_names();
  if (std::find(names.begin(), names.end(), change.field) == names.end()) {
    std::string hint = did_you_mean(change.field, names);
    if (hint.empty()) {
      hint =
          "a field is a flag without its dashes: tp, pp, zero, micro_batch, recompute ... "
          "(`fourhold predict --help` lists them)";
    }
    throw Error("--change", fmt::format("'{:.60}' is no field of a plan", change.field), hint);
  }
  return change;
}

}  // namespace

void apply_changes(const std::vector<std::string>& changes, plan::PlanRequest& request) {
  std::vector<Change> list;
  const auto changes_field = [&list](std::string_view field) {
    return std::any_of(list.begin(), list.end(),
                       [field](const Change& change) { return change.field == field; });
  };
  for (const std::string& text : changes) {
    Change change = change_of(text);
    if (changes_field(change.field)) {
      throw Error("--change", fmt::format("gives {} twice", change.field), "give it once");
    }
    list.push_back(std::move(change));
  }
  const bool more_devices = changes_field("dp");
  const bool more_steps = changes_field("grad_accum");
  if (more_devices) request.count.reset();
  request.dp.reset();
  request.grad_accum.reset();
  if (more_steps && !changes_field("global_batch")) request.global_batch.reset();
  if (changes_field("tp")) request.sp.reset();
  if (changes_field("pp") || changes_field("vpp")) {
    request.layers_per_stage.reset();
    request.schedule.reset();
  }
  if (changes_field("schedule") && !changes_field("vpp")) request.layers_per_stage.reset();
  for (const Change& change : list) {
    plan::set_field(request, change.field, change.value, "--change " + change.field);
  }
}

}  // namespace fourhold::api
