// `fourhold man`: the manual page, from the table of verbs.
#pragma once

#include <string>

#include "fourhold/base/json.h"
#include "fourhold/report/screen.h"

namespace fourhold::api {

struct ManRequest {};

template <class Visitor>
void visit_options(Visitor&& /*visit*/, ManRequest& /*request*/) {}

struct ManResult {
  std::string page;  // in the format of man(7)
};

[[nodiscard]] ManResult man(const ManRequest& request);

[[nodiscard]] json::Value to_json(const ManResult& result);
[[nodiscard]] std::string to_text(const ManResult& result, const report::Screen& screen);

}  // namespace fourhold::api
