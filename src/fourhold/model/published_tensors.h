// The tensors that a published weight file of a model holds: names, shapes, and which parameters
// each is made of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fourhold/model/model_config.h"
#include "fourhold/model/names.h"
#include "fourhold/model/parameters.h"

namespace fourhold::model {

// A parameter as the matrix a file stores: [out, in] of a linear, [rows, width] of a table; a
// vector has one column.
struct MatrixSize {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  [[nodiscard]] std::int64_t elements() const { return rows * columns; }
  friend constexpr bool operator==(const MatrixSize&, const MatrixSize&) = default;
};
[[nodiscard]] MatrixSize matrix_size(const Parameter& parameter);

struct PublishedPart {
  ParameterId id;
  MatrixSize size;
};

struct PublishedTensor {
  std::string name;                  // "transformer.h.0.attn.c_attn.weight"
  std::vector<std::int64_t> shape;   // as stored: [rows], [rows, columns] or [columns, rows]
  bool transposed = false;           // stored [columns, rows]
  std::vector<PublishedPart> parts;  // one below the other, all of the same columns
  [[nodiscard]] std::int64_t elements() const;
};

// In the order a step uses them; a tied head is the embedding and has no tensor of its own. Error
// for a model type or a parameter without a published spelling.
[[nodiscard]] std::vector<PublishedTensor> published_tensors(const ModelConfig& config);

// The name a tied model's head has in files that store it all the same.
[[nodiscard]] std::string published_head_name(const ModelConfig& config);

}  // namespace fourhold::model
