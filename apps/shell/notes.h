// How notes and errors read on standard error.
#pragma once

#include <string>
#include <string_view>

#include "fourhold/base/error.h"

namespace fourhold::shell {

// A line behind its label, without control characters of foreign files: wrapped where standard
// error is a terminal; whole elsewhere, so that it can be searched.
[[nodiscard]] std::string labelled(std::string_view label, const std::string& line);

// "fourhold: where: what" and the hint.
[[nodiscard]] std::string error_text(const Error& error);

}  // namespace fourhold::shell
