// The parts of JSON answers that verbs share (the contract is docs/json.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fourhold/api/run_time.h"
#include "fourhold/api/sureness.h"
#include "fourhold/base/json.h"
#include "fourhold/ledger/ledger.h"
#include "fourhold/model/parameters.h"
#include "fourhold/model/trainable.h"
#include "fourhold/predict/memory.h"
#include "fourhold/predict/verdict.h"

namespace fourhold::api {

// {name, parameters, active_parameters}.
[[nodiscard]] json::Value model_json(const std::string& name, const model::ParameterCounts& counts);
// {trainable, total, adapters}, or null where all weights are trained.
[[nodiscard]] json::Value trainable_json(const std::optional<model::TrainableCounts>& counts);
// Every category, in the order of the enum.
[[nodiscard]] json::Value by_category_json(const ledger::CategoryBytes& bytes);
// {name, usable_bytes, headroom, budget_bytes}.
[[nodiscard]] json::Value device_json(const std::string& name, const predict::Capacity& capacity);
// What the device must hold, at its peak and per stage.
[[nodiscard]] json::Value memory_json(const predict::MemoryPrediction& memory,
                                      const std::optional<predict::Capacity>& capacity,
                                      const Sureness& sure = {});
[[nodiscard]] json::Value verdict_json(const predict::Verdict& verdict);
// Null where it is not known.
[[nodiscard]] json::Value number_json(std::optional<double> number);
// Seconds of a step by part, and its rates; null where they are not known.
[[nodiscard]] json::Value time_json(const std::optional<StepAnswer>& step,
                                    const Sureness& sure = {});
[[nodiscard]] json::Value run_json(const std::optional<RunAnswer>& run);
[[nodiscard]] json::Value texts_json(const std::vector<std::string>& texts);

}  // namespace fourhold::api
