#include "fourhold/plan/parameter_part.h"

#include <algorithm>
#include <cassert>

namespace fourhold::plan {
namespace {

using model::Dim;

// The first index of a rank's part of one dimension.
std::int64_t first_of(const Plan& plan, std::int64_t rank, const model::Extent& whole,
                      std::int64_t local_size) {
  const std::int64_t tp = coordinates(plan, rank).tp;
  switch (whole.dim) {
    case Dim::heads:
    case Dim::ffn:
    case Dim::expert_ffn:
    case Dim::vocab:
      return tp * local_size;
    case Dim::kv_heads:
      // With more ranks than kv heads, neighbours hold the same one.
      return whole.size >= plan.tp ? tp * local_size : tp / (plan.tp / whole.size);
    case Dim::experts: {
      const std::vector<std::int64_t> group = group_of(plan, Axis::ep, rank, 1);
      return (std::find(group.begin(), group.end(), rank) - group.begin()) * local_size;
    }
    default:
      return 0;
  }
}

Dims dims_of(const model::Shape& shape) {
  Dims dims;
  for (const model::Extent& extent : shape) dims.push_back(extent.size);
  return dims;
}

}  // namespace

ParameterPart local_part(const Plan& plan, std::int64_t rank, const LocalParameter& parameter) {
  const model::Shape& whole = parameter.use.parameter.shape;
  ParameterPart part;
  part.shape = dims_of(whole);
  const std::int64_t all = part.shape.elements();
  part.local = contiguous(0, all);
  std::int64_t outer = 1;  // indices of the dimensions before
  for (int i = 0; i < whole.rank(); ++i) {
    const std::int64_t size = whole[i].size;
    const std::int64_t local = parameter.shape[i].size;
    const std::int64_t inner = all / outer / size;  // elements of one index
    const std::int64_t first = std::min(size, first_of(plan, rank, whole[i], local));
    const std::int64_t held = std::min(local, size - first);  // the rest is padding
    if (held != size) {
      assert(part.local.elements() == all && "tp or ep splits one dimension of a parameter");
      part.local = {first * inner, held * inner, size * inner, outer};
      if (outer == 1) part.local.stride = 0;
    }
    outer *= size;
  }
  part.end = part.local.elements();
  return part;
}

Piece piece_of(std::int64_t elements, std::int64_t ranks, std::int64_t member) {
  const std::int64_t length = ceil_divide(elements, ranks);
  return {std::min(elements, member * length), std::min(elements, (member + 1) * length)};
}

ParameterPart cut(const ParameterPart& part, const Piece& piece) {
  ParameterPart less = part;
  less.begin = std::clamp(piece.begin, part.begin, part.end);
  less.end = std::clamp(piece.end, less.begin, part.end);
  return less;
}

std::vector<Slice> slices_of(const ParameterPart& part) {
  std::vector<Slice> slices;
  const Slice& local = part.local;
  const auto add = [&](std::int64_t begin, std::int64_t end) {  // within one run
    if (begin == end) return;
    const std::int64_t run = local.count == 1 ? 0 : begin / local.length;
    const std::int64_t at = local.begin + run * local.stride + (begin - run * local.length);
    slices.push_back(contiguous(at, at + end - begin));
  };
  if (part.elements() == 0) return slices;
  const std::int64_t first = ceil_divide(part.begin, local.length);  // runs held whole
  const std::int64_t last = part.end / local.length;
  if (local.count == 1 || first > last) {
    add(part.begin, part.end);
    return slices;
  }
  add(part.begin, first * local.length);
  if (last > first) {
    Slice whole{local.begin + first * local.stride, local.length, local.stride, last - first};
    if (whole.count == 1) whole.stride = 0;
    slices.push_back(whole);
  }
  add(last * local.length, part.end);
  return slices;
}

bool is_first_copy(const Plan& plan, std::int64_t rank, const LocalParameter& parameter) {
  const Axis axis = parameter.expert ? Axis::expert_sharding : Axis::sharding;
  const bool replicated = plan.zero == 0;
  if (replicated && group_of(plan, axis, rank, 1).front() != rank) return false;
  const ParameterPart own = local_part(plan, rank, parameter);
  for (const std::int64_t other : group_of(plan, Axis::tp, rank, 1)) {
    if (other >= rank) break;
    if (local_part(plan, other, parameter) == own) return false;
  }
  return true;
}

}  // namespace fourhold::plan
