// A map whose callers mostly ask for the place they asked for last: the steps of a program that
// belong to one block follow each other.
#pragma once

#include <map>

namespace fourhold::predict {

template <class Key, class Value>
class RecentMap {
 public:
  RecentMap() = default;
  RecentMap(const RecentMap&) = delete;  // the remembered place is of this map
  RecentMap& operator=(const RecentMap&) = delete;

  // The value at that key, made where there is none. References stay valid.
  [[nodiscard]] Value& operator[](const Key& key) {
    if (recent_ == values_.end() || recent_->first != key) {
      recent_ = values_.try_emplace(key).first;
    }
    return recent_->second;
  }

 private:
  using Values = std::map<Key, Value>;
  Values values_;
  typename Values::iterator recent_ = values_.end();
};

}  // namespace fourhold::predict
