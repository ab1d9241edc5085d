// The only file that knows xxHash.
#include "fourhold/engine/data/content_hash.h"

#include <xxhash.h>

#include <new>

#include <fmt/format.h>

namespace fourhold::engine::data {

struct ContentHash::State {
  XXH3_state_t* value = XXH3_createState();
  State() {
    if (value == nullptr) throw std::bad_alloc();
    XXH3_64bits_reset(value);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { XXH3_freeState(value); }
};

ContentHash::ContentHash() : state_(std::make_unique<State>()) {}
ContentHash::~ContentHash() = default;
ContentHash::ContentHash(ContentHash&&) noexcept = default;
ContentHash& ContentHash::operator=(ContentHash&&) noexcept = default;

void ContentHash::add(std::string_view bytes) {
  XXH3_64bits_update(state_->value, bytes.data(), bytes.size());
}

std::string ContentHash::text() const {
  return fmt::format("{:016x}", XXH3_64bits_digest(state_->value));
}

std::string content_hash(std::string_view bytes) {
  return fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}

}  // namespace fourhold::engine::data
