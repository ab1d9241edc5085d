// Requests from files and flags.
#include <cassert>

#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/plan/field_value.h"
#include "fourhold/plan/plan_fields.h"
#include "fourhold/plan/plan_request.h"

namespace fourhold::plan {
namespace {

template <class Value>
void set(const json::Value& value, const std::string& path, const FieldInfo& info,
         std::optional<Value>& out) {
  Value read{};
  read_field(value, path, info, read);
  out = std::move(read);
}

template <class Value>
void set_from_text(std::string_view text, const std::string& path, const FieldInfo& info,
                   std::optional<Value>& out) {
  constexpr const Value* type = nullptr;  // chooses how the text is read
  set(json_of_text(text, path, type, info.range), path, info, out);
}

}  // namespace

PlanRequest request_from_json(const json::Value& value, const std::string& where) {
  PlanRequest request;
  try {
    FieldReader reader(value, "");
    const auto read = [&reader](const FieldInfo& info, auto& field) {
      if (const json::Value* found = reader.value(info.name)) {
        set(*found, reader.path(info.name), info, field);
      }
    };
    visit_fields(read, request);
    read(kCountField, request.count);
    reader.refuse_unread();
  } catch (const Error& fault) {
    throw fault.inside(where);
  }
  return request;
}

void set_field(PlanRequest& request, std::string_view name, std::string_view text,
               const std::string& where) {
  bool known = false;
  const auto read = [&](const FieldInfo& info, auto& field) {
    if (info.name != name) return;
    set_from_text(text, where, info, field);
    known = true;
  };
  visit_fields(read, request);
  read(kCountField, request.count);
  assert(known && "flags are made from the list of fields");
  static_cast<void>(known);
}

}  // namespace fourhold::plan
