#include "fourhold/engine/optimizer/stall.h"

#include <cassert>
#include <cmath>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/engine/optimizer/float_format.h"

namespace fourhold::engine {
namespace {

FloatFormat checked_format(DType dtype) {
  const auto format = format_of(dtype);
  if (!format || dtype == DType::fp64) {
    throw Error("--dtype", "weights are not updated in " + std::string(to_string(dtype)),
                "choose bf16, fp16 or fp32");
  }
  return *format;
}

std::uint64_t load(const std::byte* bytes, std::size_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, size);  // little-endian, as the file and every CPU we build for
  return bits;
}

// Whether the sum rounds back to the weight.
bool is_lost(const FloatFormat& format, double weight, double change) {
  const double spacing = spacing_above(format, weight);
  const bool towards_zero = weight != 0 && std::signbit(weight) != std::signbit(change);
  // Just below a power of two the values lie twice as close, but for the smallest normal one.
  const double magnitude = std::abs(weight);
  const bool is_binade_start = magnitude > std::ldexp(1.0, 1 - format.bias()) &&
                               std::ldexp(1.0, std::ilogb(weight)) == magnitude;
  const double half = (towards_zero && is_binade_start ? spacing / 2 : spacing) / 2;
  const bool is_even = std::fmod(magnitude / spacing, 2) == 0;
  return std::abs(change) < half || (std::abs(change) == half && is_even);
}

}  // namespace

TensorStall& TensorStall::operator+=(const TensorStall& other) {
  count += other.count;
  elements += other.elements;
  nonfinite += other.nonfinite;
  return *this;
}

bool holds_weights(model::StoredType type) { return format_of(type).has_value(); }

StallCount stall_of_weight(const StallQuestion& question, double weight) {
  const FloatFormat format = checked_format(question.dtype);
  StallCount count;
  const double decay = question.learning_rate * question.weight_decay * weight;
  for (const double step : {question.learning_rate, -question.learning_rate}) {
    const double change = step - decay;
    if (change == 0) continue;
    ++count.updates;
    if (is_lost(format, weight, change)) ++count.lost;
  }
  return count;
}

StallAnalysis::StallAnalysis(const StallQuestion& question) : question_(question) {
  const FloatFormat format = checked_format(question.dtype);
  if (!(question.learning_rate > 0) || !std::isfinite(question.learning_rate)) {
    throw Error("--lr",
                fmt::format("must be positive and finite, not {:g}", question.learning_rate),
                "3e-4 is usual");
  }
  if (!(question.weight_decay >= 0) || !std::isfinite(question.weight_decay)) {
    throw Error("--weight-decay",
                fmt::format("must be at least 0 and finite, not {:g}", question.weight_decay),
                "0.1 is usual, 0 is none");
  }
  if (format.bits() > 16) return;
  by_bits_.resize(std::size_t{1} << format.bits());
  for (std::size_t bits = 0; bits < by_bits_.size(); ++bits) {
    const double weight = value_of_bits(format, bits);
    if (std::isfinite(weight)) by_bits_[bits] = stall_of_weight(question, weight);
  }
}

TensorStall StallAnalysis::of(std::span<const std::byte> bytes, model::StoredType type) const {
  const auto stored = format_of(type);
  assert(stored && "the caller asks holds_weights first");
  const FloatFormat format = *format_of(question_.dtype);
  const auto size = static_cast<std::size_t>(stored->bits()) / 8;
  assert(bytes.size() % size == 0);
  TensorStall result;
  result.elements = static_cast<std::int64_t>(bytes.size() / size);
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    const std::uint64_t bits = load(bytes.data() + at, size);
    const double value = value_of_bits(*stored, bits);
    const double weight = round_to(format, value);
    if (!std::isfinite(weight)) {
      ++result.nonfinite;
      if (!std::isfinite(value) && !result.first_not_a_weight) {
        result.first_not_a_weight = static_cast<std::int64_t>(at / size);
      }
    } else if (by_bits_.empty()) {
      result.count += stall_of_weight(question_, weight);
    } else {
      result.count += by_bits_[bits_of_value(format, weight)];
    }
  }
  return result;
}

}  // namespace fourhold::engine
