#include "fourhold/engine/data/sequences.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"

namespace fourhold::engine::data {
namespace {

std::int64_t document_length(const TokenSource& source, std::int64_t document) {
  return source.document_start(document + 1) - source.document_start(document);
}

void check_examples(const TokenSource& source, std::int64_t length) {
  std::int64_t longest = 0;
  std::int64_t first_too_long = -1;
  for (std::int64_t i = 0; i < source.documents(); ++i) {
    const std::int64_t tokens = document_length(source, i);
    if (first_too_long < 0 && tokens > length + 1) first_too_long = i;
    longest = std::max(longest, tokens);
  }
  if (first_too_long < 0) return;
  throw Error("--data",
              fmt::format("example {} has {} tokens; a sequence of {} holds {}", first_too_long,
                          format_count(document_length(source, first_too_long)),
                          format_count(length), format_count(length + 1)),
              fmt::format("--seq {} holds the longest; or leave long examples out when tokenizing",
                          longest - 1));
}

}  // namespace

Sequences::Sequences(const TokenSource& source, std::int64_t length)
    : source_(&source), length_(length) {
  assert(length >= 1);
  if (source.has_mask()) {
    check_examples(source, length);
    count_ = source.documents();
  } else {
    count_ = std::max<std::int64_t>(0, source.count() - 1) / length;
  }
  if (count_ > 0) return;
  throw Error("--data",
              fmt::format("{} {} less than one sequence of {} and the token after it",
                          counted(source.count(), "token"), source.count() == 1 ? "is" : "are",
                          format_count(length)),
              source.count() > 1 ? fmt::format("--seq {} at most, or more data", source.count() - 1)
                                 : std::string("give more data"));
}

std::int64_t Sequences::read(std::int64_t sequence, std::span<TokenId> inputs,
                             std::span<TokenId> targets) const {
  assert(sequence >= 0 && sequence < count_);
  assert(static_cast<std::int64_t>(inputs.size()) == length_ && targets.size() == inputs.size());
  if (!source_->has_mask()) {
    source_->read(sequence * length_, inputs);
    source_->read(sequence * length_ + 1, targets);
    return length_;
  }
  const std::int64_t first = source_->document_start(sequence);
  const std::int64_t tokens = document_length(*source_, sequence);
  const auto inputs_read = static_cast<std::size_t>(std::min(tokens, length_));
  const auto targets_read = static_cast<std::size_t>(std::max<std::int64_t>(0, tokens - 1));
  source_->read(first, inputs.first(inputs_read));
  std::fill(inputs.begin() + static_cast<std::ptrdiff_t>(inputs_read), inputs.end(), 0);
  if (targets_read > 0) source_->read(first + 1, targets.first(targets_read));
  std::fill(targets.begin() + static_cast<std::ptrdiff_t>(targets_read), targets.end(),
            kIgnoredTarget);
  std::int64_t learned = 0;
  for (std::size_t i = 0; i < targets_read; ++i) {
    if (source_->learned(first + 1 + static_cast<std::int64_t>(i))) {
      ++learned;
    } else {
      targets[i] = kIgnoredTarget;
    }
  }
  return learned;
}

Split split_sequences(std::int64_t sequences, double held_out_share) {
  if (!(held_out_share >= 0 && held_out_share < 1)) {
    throw Error("--held-out", fmt::format("a share of {} is not from 0 to below 1", held_out_share),
                fmt::format("{} is usual", kHeldOutShare));
  }
  std::int64_t held_out = 0;
  if (held_out_share > 0) {
    held_out = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(held_out_share * static_cast<double>(sequences)));
  }
  if (sequences - held_out < 1) {
    throw Error("--data",
                fmt::format("{} of {} would be held out: none is left to train on", held_out,
                            counted(sequences, "sequence")),
                "give more data, shorter sequences, or hold out a share of 0");
  }
  return {sequences - held_out, held_out};
}

}  // namespace fourhold::engine::data
