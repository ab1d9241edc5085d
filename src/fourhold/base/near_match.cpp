#include "fourhold/base/near_match.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "fourhold/base/ascii.h"

namespace fourhold {
namespace {

// Longer words are never typos of a name; the bound keeps the cost of a hostile word constant.
constexpr std::size_t kMaxLength = 64;

std::string folded(std::string_view word) {
  std::string out = lowered(word);
  for (char& c : out) {
    if (c == '_' || c == ' ') c = '-';
  }
  return out;
}

// Optimal string alignment distance: insert, delete, replace, swap of two neighbours.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::vector<std::string> near_matches(std::string_view word,
                                      const std::vector<std::string_view>& candidates,
                                      std::size_t limit) {
  if (word.empty() || word.size() > kMaxLength) return {};
  const std::string wanted = folded(word);
  const std::size_t allowed = std::max<std::size_t>(1, wanted.size() / 3);

  std::vector<std::pair<std::size_t, std::string>> found;
  for (const std::string_view candidate : candidates) {
    if (candidate.empty() || candidate.size() > kMaxLength) continue;
    const std::string name = folded(candidate);
    const std::size_t distance = edit_distance(wanted, name);
    const bool held = (wanted.size() >= 3 && name.find(wanted) != std::string::npos) ||
                      (name.size() >= 3 && wanted.find(name) != std::string::npos);
    if (distance <= allowed) {
      found.emplace_back(distance, candidate);
    } else if (held) {
      found.emplace_back(kMaxLength + distance, candidate);
    }
  }
  std::sort(found.begin(), found.end());

  std::vector<std::string> names;
  for (auto& [distance, name] : found) {
    if (names.size() == limit) break;
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  return names;
}

std::string likely_meant(std::string_view word, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t kLeastLength = 4;
  constexpr std::size_t kLong = 8;
  if (word.size() < kLeastLength || word.size() > kMaxLength) return {};
  const std::string wanted = folded(word);
  std::string_view meant;
  std::size_t least = wanted.size() < kLong ? 2 : 3;  // one above what is allowed
  for (const std::string_view candidate : candidates) {
    if (candidate.empty() || candidate.size() > kMaxLength) continue;
    const std::size_t distance = edit_distance(wanted, folded(candidate));
    if (distance >= least) continue;
    least = distance;
    meant = candidate;
  }
  return std::string(meant);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::vector<std::string> names = near_matches(word, candidates);
  if (names.empty()) return {};
  std::string text = "did you mean ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += "'" + names[i] + "'";
  }
  return text + "?";
}

}  // namespace fourhold
