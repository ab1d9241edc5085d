// The optimizer's state on disk: one safetensors file per rank, every tensor with the name, the
// whole shape and the slice of the parameter it belongs to, so that any other set of ranks finds
// its own.
//
// A file is named state-00001-of-00004.safetensors. Its tensors are named
// "layer.3.q_weight.moment1@4096" (parameter, kind, first element); what they are stands in the
// metadata under the same name, as JSON: {"parameter", "kind", "shape", "begin", "length",
// "stride", "count"} (slice.h).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fourhold/base/dims.h"
#include "fourhold/engine/checkpoint/file_sum.h"
#include "fourhold/engine/checkpoint/safetensors_reader.h"
#include "fourhold/engine/tensor/tensor.h"
#include "fourhold/model/names.h"
#include "fourhold/plan/slice.h"

namespace fourhold::engine {

using plan::contiguous;
using plan::Slice;

struct StateTensor {
  std::string kind;  // "master", "moment1", "moment2": ledger::Role, or what an optimizer adds
  model::ParameterId parameter;
  Dims shape;  // of the whole parameter
  Slice slice;
  Tensor data;  // the slice's elements; of any type
};

struct RankOf {
  int rank = 0;
  int ranks = 1;
};

// Writes the file of one rank. A rank may hold nothing.
[[nodiscard]] FileSum write_state(const std::string& folder, RankOf who,
                                  std::span<const StateTensor> tensors);

// All state of a checkpoint.
class StateFiles {
 public:
  // Error when one of the files of a set is missing, when metadata and tensors disagree, or when
  // the slices of a parameter do not add up to it.
  explicit StateFiles(const std::string& folder);
  // The same from one file in memory that stands for the whole set; it must outlive the object.
  StateFiles(std::span<const std::byte> file, const std::string& where);

  // Copies a slice of a parameter's state. Error when it is not stored, or with another shape or
  // type. `out` holds the slice's elements.
  void read(const std::string& kind, const model::ParameterId& parameter, const Dims& shape,
            const Slice& slice, const Tensor& out) const;
  [[nodiscard]] bool holds(const std::string& kind, const model::ParameterId& parameter) const;

 private:
  struct Piece {
    Slice slice;
    std::span<const std::byte> bytes;
  };
  struct State {
    DType dtype = DType::fp32;
    Dims shape;
    std::vector<Piece> pieces;
  };
  using Name = std::pair<std::string, std::string>;  // parameter, kind

  void add(const SafetensorsFile& file, const std::string& where);
  void check_sums() const;

  std::string where_;
  std::vector<MappedFile> files_;
  std::map<Name, State> states_;
};

}  // namespace fourhold::engine
