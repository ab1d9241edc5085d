// Two plans side by side: what differs in the plan, in bytes by category and in seconds by part.
#pragma once

#include <string>

#include "fourhold/api/predict.h"
#include "fourhold/base/json.h"
#include "fourhold/report/screen.h"

namespace fourhold::api {

// Schema "fourhold.difference/1". Bytes are those of the fullest device at its peak.
[[nodiscard]] json::Value difference_json(const PredictResult& a, const PredictResult& b);
[[nodiscard]] std::string difference_text(const PredictResult& a, const PredictResult& b,
                                          const report::Screen& screen);

}  // namespace fourhold::api
