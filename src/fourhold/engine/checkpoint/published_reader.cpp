#include "fourhold/engine/checkpoint/published_reader.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/element_copy.h"
#include "fourhold/engine/checkpoint/published_match.h"

namespace fourhold::engine {
namespace {

using model::ParameterId;

std::optional<DType> dtype_of(model::StoredType type) {
  switch (type) {
    case model::StoredType::f32:
      return DType::fp32;
    case model::StoredType::bf16:
      return DType::bf16;
    case model::StoredType::f16:
      return DType::fp16;
    default:
      return std::nullopt;
  }
}

void check_tensor(const model::PublishedTensor& wanted, const StoredBytes& stored) {
  const model::StoredTensor& tensor = stored.tensor;
  if (tensor.shape != wanted.shape) {
    const bool turned =
        wanted.shape.size() == 2 && tensor.shape.size() == 2 &&
        std::equal(wanted.shape.rbegin(), wanted.shape.rend(), tensor.shape.begin());
    throw Error(
        stored.file,
        fmt::format("'{:.120}' has the shape [{}], the model's config gives [{}]", tensor.name,
                    fmt::join(tensor.shape, ", "), fmt::join(wanted.shape, ", ")),
        turned ? "it is stored the other way round than this model type publishes it"
               : "the config.json is of another model, or its sizes were changed");
  }
  if (!dtype_of(tensor.type).has_value()) {
    throw Error(
        stored.file, fmt::format("'{:.120}' is stored as {}", tensor.name, to_string(tensor.type)),
        fmt::format("weights are read from F32, BF16 and F16: {}",
                    model::info(tensor.type).bits <= 8
                        ? "dequantise the model first"
                        : "store this tensor as F32, or fetch the model as it is published"));
  }
}

}  // namespace

PublishedWeights::PublishedWeights(std::span<const StoredBytes> stored,
                                   const model::ModelConfig& config, std::string where)
    : where_(std::move(where)) {
  const std::vector<model::PublishedTensor> wanted = model::published_tensors(config);
  PublishedMatch match = match_published(wanted, stored, config, where_);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    check_tensor(wanted[i], *match.stored[i]);
    add_places(wanted[i], *match.stored[i]);
  }
  notes_ = std::move(match.notes);
}

void PublishedWeights::add_places(const model::PublishedTensor& tensor, const StoredBytes& stored) {
  const DType dtype = *dtype_of(stored.tensor.type);
  const std::int64_t across = tensor.transposed ? tensor.shape.back() : 1;
  std::int64_t first_row = 0;
  for (const model::PublishedPart& part : tensor.parts) {
    Place place;
    place.size = part.size;
    place.dtype = dtype;
    place.row_stride = tensor.transposed ? 1 : part.size.columns;
    place.column_stride = across;
    place.data = stored.bytes.data() + bytes_of(first_row * place.row_stride, dtype);
    places_.emplace(to_string(part.id), place);
    first_row += part.size.rows;
  }
}

const PublishedWeights::Place& PublishedWeights::place_of(const ParameterId& id) const {
  const auto found = places_.find(to_string(id));
  if (found == places_.end()) {
    throw Error(where_, fmt::format("holds no {}", to_string(id)),
                "the model that was opened has no such parameter");
  }
  return found->second;
}

model::MatrixSize PublishedWeights::size_of(const ParameterId& id) const {
  return place_of(id).size;
}

void PublishedWeights::copy(const Place& place, const HeldWindow& held, DType dtype,
                            std::byte* out) {
  const Window& window = held.window;
  assert(window.row_begin >= 0 && window.row_end <= place.size.rows);
  assert(window.column_begin >= 0 && window.column_end <= place.size.columns);
  const std::int64_t first =
      window.row_begin * place.row_stride + window.column_begin * place.column_stride;
  copy_elements({place.data + bytes_of(first, place.dtype), place.dtype, place.row_stride,
                 place.column_stride},
                {out + bytes_of(held.offset, dtype), dtype, held.row_stride}, window.rows(),
                window.columns());
}

void PublishedWeights::read(const ParameterId& id, std::span<const plan::Slice> slices, DType dtype,
                            std::byte* out) const {
  const Place& place = place_of(id);
  for (const HeldWindow& held : windows_of(slices, place.size.columns)) {
    copy(place, held, dtype, out);
  }
}

void PublishedWeights::read(const ParameterId& id, const Tensor& out) const {
  const plan::Slice all = plan::contiguous(0, size_of(id).elements());
  assert(out.elements() == all.length && "a tensor takes its parameter");
  read(id, std::span(&all, 1), out.dtype, out.data);
}

}  // namespace fourhold::engine
