// The parts of messages that are under way: one where the carrier takes a message whole, several,
// linked, where it is longer than that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fourhold/engine/communicator/communicator.h"

namespace fourhold::engine {

// A message is the place of its first part.
template <typename Request>
class MessageParts {
 public:
  struct Part {
    Request request{};
    int peer = -1;
    int bytes = 0;
    bool receives = false;
    std::int64_t next = -1;
  };

  [[nodiscard]] std::size_t size() const { return parts_.size(); }
  [[nodiscard]] std::size_t capacity() const { return parts_.capacity(); }
  [[nodiscard]] Part& operator[](std::int64_t place) {
    return parts_[static_cast<std::size_t>(place)];
  }
  [[nodiscard]] const Part& operator[](std::int64_t place) const {
    return parts_[static_cast<std::size_t>(place)];
  }

  // The place of an unused part. References to others are good until then.
  std::int64_t take(const Part& part) {
    if (unused_.empty()) {
      unused_.push_back(static_cast<std::int64_t>(parts_.size()));
      parts_.emplace_back();
      unused_.reserve(parts_.capacity());
    }
    const std::int64_t place = unused_.back();
    unused_.pop_back();
    (*this)[place] = part;
    return place;
  }
  void release(std::span<const Message> messages) {
    for_each(messages, [this](std::int64_t place) { unused_.push_back(place); });
  }
  void release_all() {
    unused_.clear();
    for (std::size_t place = 0; place < parts_.size(); ++place) {
      unused_.push_back(static_cast<std::int64_t>(place));
    }
  }

  template <typename Visit>
  void for_each(std::span<const Message> messages, const Visit& visit) const {
    for (const Message& message : messages) {
      for (std::int64_t place = message.id; place >= 0; place = (*this)[place].next) visit(place);
    }
  }

 private:
  std::vector<Part> parts_;
  std::vector<std::int64_t> unused_;
};

}  // namespace fourhold::engine
