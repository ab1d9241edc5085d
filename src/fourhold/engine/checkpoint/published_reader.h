// Finds a model's parameters in the tensors of published weight files.
//
// Files differ: names with and without the trunk's prefix, wrappers' prefixes (module., _orig_mod.,
// language_model.), buffers beside the parameters, a tied head stored as well or alone, fused and
// transposed tensors. What does not fit is an Error that names the tensors; nothing is left out in
// silence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fourhold/base/dtype.h"
#include "fourhold/engine/checkpoint/safetensors_reader.h"
#include "fourhold/engine/checkpoint/windows.h"
#include "fourhold/engine/tensor/tensor.h"
#include "fourhold/model/model_config.h"
#include "fourhold/model/published_tensors.h"
#include "fourhold/plan/slice.h"

namespace fourhold::engine {

class PublishedWeights {
 public:
  // `where` names the weights in Errors: tensors that are missing, that have another shape or a
  // type that is no fp32, bf16 or fp16, that the model has no place for, or that are stored twice
  // with different values. The files must outlive the object.
  PublishedWeights(std::span<const StoredBytes> stored, const model::ModelConfig& config,
                   std::string where);

  // What was set aside: buffers, other towers, second copies; as sentences.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  // The whole parameter. `out` has its number of elements and is fp32 or bf16.
  void read(const model::ParameterId& id, const Tensor& out) const;
  // Slices of the flattened parameter, one after the other. Nothing else of it is read.
  void read(const model::ParameterId& id, std::span<const plan::Slice> slices, DType dtype,
            std::byte* out) const;
  [[nodiscard]] model::MatrixSize size_of(const model::ParameterId& id) const;

 private:
  // Where a parameter's matrix stands in a stored tensor.
  struct Place {
    model::MatrixSize size;
    const std::byte* data = nullptr;  // of its first element
    DType dtype = DType::fp32;
    std::int64_t row_stride = 0;  // in elements
    std::int64_t column_stride = 0;
  };
  static void copy(const Place& place, const HeldWindow& held, DType dtype, std::byte* out);
  [[nodiscard]] const Place& place_of(const model::ParameterId& id) const;
  void add_places(const model::PublishedTensor& tensor, const StoredBytes& stored);

  std::string where_;
  std::unordered_map<std::string, Place> places_;  // by to_string(ParameterId)
  std::vector<std::string> notes_;
};

}  // namespace fourhold::engine
