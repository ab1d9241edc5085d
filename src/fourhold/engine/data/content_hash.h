// A number that changes when any byte of a file does: XXH3, 64 bits (xxhash.com).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace fourhold::engine::data {

// Taken in pieces, while a file is written.
class ContentHash {
 public:
  ContentHash();
  ~ContentHash();
  ContentHash(ContentHash&&) noexcept;
  ContentHash& operator=(ContentHash&&) noexcept;
  void add(std::string_view bytes);
  // 16 hexadecimal digits of all bytes so far.
  [[nodiscard]] std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] std::string content_hash(std::string_view bytes);

}  // namespace fourhold::engine::data
