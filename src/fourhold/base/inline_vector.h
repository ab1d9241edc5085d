// A short list stored in place: operations have a handful of operands, and planning makes thousands
// of operations, so their lists must not allocate.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <initializer_list>

namespace fourhold {

template <class T, int Capacity>
class InlineVector {
 public:
  constexpr InlineVector() = default;
  constexpr InlineVector(std::initializer_list<T> values) {
    for (const T& value : values) push_back(value);
  }
  constexpr void push_back(const T& value) {
    assert(size_ < Capacity && "an inline list is full");
    values_[static_cast<std::size_t>(size_++)] = value;
  }
  constexpr void clear() { size_ = 0; }
  [[nodiscard]] constexpr int size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] constexpr const T& operator[](int i) const {
    return values_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] constexpr T& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] constexpr const T* begin() const { return values_.data(); }
  [[nodiscard]] constexpr const T* end() const { return values_.data() + size_; }
  [[nodiscard]] constexpr T* begin() { return values_.data(); }
  [[nodiscard]] constexpr T* end() { return values_.data() + size_; }
  [[nodiscard]] constexpr bool contains(const T& value) const {
    for (const T& own : *this) {
      if (own == value) return true;
    }
    return false;
  }

 private:
  std::array<T, Capacity> values_{};
  int size_ = 0;
};

}  // namespace fourhold
