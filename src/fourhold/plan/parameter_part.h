// Which elements of a parameter one rank holds and which of them it updates: what splits over tp
// and over the ranks of ZeRO leave of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fourhold/base/dims.h"
#include "fourhold/plan/mesh.h"
#include "fourhold/plan/plan.h"
#include "fourhold/plan/sharding.h"
#include "fourhold/plan/slice.h"

namespace fourhold::plan {

// Elements [begin, end) of a rank's local tensor, and what they are in the whole parameter. The
// local tensor of a padded vocabulary ends in rows that are in no parameter: they have local
// positions, but never a global one, and a range does not reach into them.
struct ParameterPart {
  Dims shape;   // of the whole parameter, without padding
  Slice local;  // the local tensor's elements in the whole parameter, without padding
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t elements() const { return end - begin; }
  [[nodiscard]] bool is_whole() const { return elements() == shape.elements(); }
  friend bool operator==(const ParameterPart&, const ParameterPart&) = default;
};

// All of a parameter.
[[nodiscard]] inline ParameterPart whole_part(const Dims& shape) {
  return {shape, contiguous(0, shape.elements()), 0, shape.elements()};
}

// All that the rank has of a parameter between ZeRO's splits: the local tensor.
[[nodiscard]] ParameterPart local_part(const Plan& plan, std::int64_t rank,
                                       const LocalParameter& parameter);

// Of a local tensor of `elements` split over n ranks, the elements of member j: pieces are
// ceil(elements / n) long, the last ones shorter or empty (predict/state.h counts the longest).
struct Piece {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t elements() const { return end - begin; }
};
[[nodiscard]] Piece piece_of(std::int64_t elements, std::int64_t ranks, std::int64_t member);

// The same part, cut down to the local elements [piece.begin, piece.end).
[[nodiscard]] ParameterPart cut(const ParameterPart& part, const Piece& piece);

// The part as slices of the flattened parameter, one after the other as they are held; three at
// most (a cut begins and ends within a run), none of an empty part.
[[nodiscard]] std::vector<Slice> slices_of(const ParameterPart& part);

// Where element `element` of the rank's local tensor stands in the whole parameter, and how many of
// the part follow it there directly, itself included. It lies within [part.begin, part.end).
struct GlobalRun {
  std::int64_t begin = 0;
  std::int64_t elements = 0;
};
[[nodiscard]] inline GlobalRun run_at(const ParameterPart& part, std::int64_t element) {
  const Slice& local = part.local;
  if (local.count == 1) return {local.begin + element, part.end - element};
  const std::int64_t within = element % local.length;
  const std::int64_t begin = local.begin + element / local.length * local.stride + within;
  return {begin, std::min(local.length - within, part.end - element)};
}

// Whether `rank` is the first of the ranks of one stage that hold the same elements of the local
// tensor, each of which would count and store them again: over tp for a parameter that tp does not
// split (or of which neighbours hold the same kv head), over dp x cp where ZeRO does not split what
// is updated.
[[nodiscard]] bool is_first_copy(const Plan& plan, std::int64_t rank,
                                 const LocalParameter& parameter);

}  // namespace fourhold::plan
