#include "fourhold/model/checkpoint_count.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/base/quantity.h"
#include "fourhold/model/checkpoint_rules.h"

namespace fourhold::model {
namespace {

struct KindText {
  std::string_view what;
  CountEffect effect;
  std::string_view why;
};

// In the order of StoredKind; `parameter` has no line.
constexpr std::array<KindText, kStoredKindCount> kTexts{{
    {"", CountEffect::counted, ""},
    {"causal mask buffers", CountEffect::set_aside,
     "the triangle of the attention mask, not trained"},
    {"rotary frequencies", CountEffect::set_aside, "computed from the config, not trained"},
    {"position indices", CountEffect::set_aside, "the numbers 0, 1, 2 ..., not trained"},
    {"quantisation scales", CountEffect::set_aside,
     "scales of the stored low-precision weights; training has no use for them"},
    {"packed 4-bit weights", CountEffect::unpacked, "each stored byte holds two values"},
    {"multi-token prediction", CountEffect::set_aside,
     "an extra layer beside the language model, with its copies of embedding and head"},
    {"other towers", CountEffect::set_aside, "vision or audio parts beside the language model"},
    {"router correction bias", CountEffect::counted,
     "counted as published; moved by the load of the experts, not by gradient"},
}};

void add_line(CheckpointCount& count, const KindText& text, const StoredTensor& tensor) {
  auto line = std::find_if(count.lines.begin(), count.lines.end(),
                           [&text](const CountLine& l) { return l.what == text.what; });
  if (line == count.lines.end()) {
    count.lines.push_back({std::string(text.what), text.effect, 0, 0, std::string(text.why)});
    line = count.lines.end() - 1;
  }
  ++line->tensors;
  line->elements = checked_add(line->elements, tensor.elements);
}

std::vector<TypeCount> count_types(const std::vector<StoredTensor>& tensors) {
  std::array<TypeCount, kStoredTypeCount> all{};
  for (const StoredTensor& tensor : tensors) {
    TypeCount& one = all[static_cast<std::size_t>(tensor.type)];
    one.type = tensor.type;
    ++one.tensors;
    one.elements = checked_add(one.elements, tensor.elements);
  }
  std::vector<TypeCount> types;
  for (const TypeCount& one : all) {
    if (one.tensors > 0) types.push_back(one);
  }
  return types;
}

void count_head(const std::vector<StoredTensor>& tensors, Tie tie, CheckpointCount& count) {
  const TiedPair pair = find_tied_pair(tensors);
  if (pair.head == nullptr || tie == Tie::untied) return;
  if (tie == Tie::tied) {
    const KindText text{"duplicated tied head", CountEffect::set_aside,
                        "the config ties the head to the embedding; one storage is trained"};
    add_line(count, text, *pair.head);
    return;
  }
  count.notes.push_back(fmt::format(
      "{} and {} have the same shape and dtype; if the config ties them, {} of these elements are "
      "a duplicate (counted here)",
      pair.embedding->name, pair.head->name, format_count(pair.head->elements)));
}

void note_precision(const std::vector<StoredTensor>& tensors, CheckpointCount& count) {
  std::int64_t fp8 = 0;
  for (const TypeCount& type : count.types) {
    if (is_fp8(type.type)) fp8 += type.elements;
  }
  if (fp8 > 0) {
    count.notes.push_back(
        fmt::format("{} elements are stored in fp8; training holds weights in 16 bits, 2 bytes per "
                    "parameter",
                    format_count(fp8)));
  }
  const bool opaque = std::any_of(tensors.begin(), tensors.end(), [](const StoredTensor& tensor) {
    return is_opaque_quantised(tensor.name);
  });
  if (opaque) {
    count.notes.emplace_back(
        "the weights are packed (GPTQ, AWQ or bitsandbytes): a header does not say how many "
        "parameters an element holds, so this counts stored elements; give the config.json of the "
        "original model");
  }
}

void note_stated(std::int64_t counted, std::optional<std::int64_t> stated, const std::string& unit,
                 CheckpointCount& count) {
  if (!stated.has_value()) return;
  if (auto note = stated_total_note(counted, *stated, unit)) {
    count.notes.push_back(*std::move(note));
  }
}

}  // namespace

CheckpointCount count_checkpoint(const std::vector<StoredTensor>& tensors,
                                 const CountOptions& options) {
  CheckpointCount count;
  count.types = count_types(tensors);
  const StoredKinds kinds(tensors);
  std::array<std::vector<const StoredTensor*>, kStoredKindCount> by_kind;
  for (const StoredTensor& tensor : tensors) {
    count.stored_elements = checked_add(count.stored_elements, tensor.elements);
    count.stored_bytes = checked_add(count.stored_bytes, tensor.bytes());
    by_kind[static_cast<std::size_t>(kinds.of(tensor))].push_back(&tensor);
  }
  for (std::size_t kind = 1; kind < by_kind.size(); ++kind) {
    for (const StoredTensor* tensor : by_kind[kind]) add_line(count, kTexts[kind], *tensor);
  }
  count_head(tensors, options.tie, count);

  count.parameters = count.stored_elements;
  for (const CountLine& line : count.lines) {
    if (line.effect == CountEffect::set_aside) count.parameters -= line.elements;
    if (line.effect == CountEffect::unpacked) {
      count.parameters = checked_add(count.parameters, line.elements);
    }
  }
  note_precision(tensors, count);
  note_stated(count.parameters, options.stated_parameters, "parameters", count);
  note_stated(count.stored_bytes, options.stated_bytes, "bytes", count);
  return count;
}

std::optional<std::string> stated_total_note(std::int64_t counted, std::int64_t stated,
                                             const std::string& unit) {
  constexpr double kTolerance = 0.20;
  const double larger = static_cast<double>(std::max(counted, stated));
  const double difference = static_cast<double>(counted) - static_cast<double>(stated);
  if ((difference < 0 ? -difference : difference) <= kTolerance * larger) return std::nullopt;
  return fmt::format("the metadata state {} {}, the shapes give {}: the shapes are used",
                     format_count(stated), unit, format_count(counted));
}

}  // namespace fourhold::model
