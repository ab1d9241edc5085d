// The data of a run: opened, split and checked against the run before anything is allocated.
#pragma once

#include <cstdint>
#include <string>

#include "fourhold/engine/data/dataset.h"
#include "fourhold/engine/data/token_source.h"
#include "fourhold/engine/train/train_run.h"

namespace fourhold::engine {

class RunData {
 public:
  // Throws Error for data that is missing, damaged, of another vocabulary or too short, and where
  // evaluations are asked for that it has nothing for.
  explicit RunData(const TrainSetup& setup);
  RunData(const RunData&) = delete;
  RunData& operator=(const RunData&) = delete;

  [[nodiscard]] const data::TokenSource& source() const { return source_; }
  [[nodiscard]] const data::Dataset& dataset() const { return dataset_; }
  // Evaluation takes whole micro-batches: why there is none, or "".
  [[nodiscard]] std::string too_few_held_out() const;

 private:
  std::int64_t micro_batch_ = 1;
  data::TokenSource source_;
  data::Dataset dataset_;
};

}  // namespace fourhold::engine
