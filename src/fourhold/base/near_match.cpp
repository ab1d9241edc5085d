#include "fourhold/base/near_match.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

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

// Shorter words are part of too many names.
constexpr std::size_t kLeastPart = 3;

struct Match {
  std::size_t distance = 0;
  bool replaces = false;  // letters, where others only end the word
  std::string_view name;
  friend bool operator==(const Match&, const Match&) = default;
  friend bool operator<(const Match& a, const Match& b) {
    return std::tie(a.distance, a.replaces, a.name) < std::tie(b.distance, b.replaces, b.name);
  }
};

}  // namespace

std::vector<std::string> near_matches(std::string_view word,
                                      const std::vector<std::string_view>& candidates,
                                      std::size_t limit) {
  if (word.empty() || word.size() > kMaxLength) return {};
  const std::string wanted = folded(word);
  const std::size_t allowed = std::max<std::size_t>(1, wanted.size() / 3);

  std::vector<Match> found;
  for (const std::string_view candidate : candidates) {
    if (candidate.empty() || candidate.size() > kMaxLength) continue;
    const std::string name = folded(candidate);
    const std::size_t distance = edit_distance(wanted, name);
    const bool long_enough = wanted.size() >= kLeastPart;
    const bool completes = long_enough && name.starts_with(wanted);
    const bool held = (long_enough && name.find(wanted) != std::string::npos) ||
                      (name.size() >= kLeastPart && wanted.find(name) != std::string::npos);
    if (distance <= allowed) {
      found.push_back({distance, !completes, candidate});
    } else if (held) {
      found.push_back({kMaxLength + distance, !completes, candidate});
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());

  // A word that was not ended: what ends it is meant, and few such are all named.
  const auto ends = static_cast<std::size_t>(
      std::count_if(found.begin(), found.end(), [](const Match& one) { return !one.replaces; }));
  if (ends > 0) {
    std::erase_if(found, [](const Match& one) { return one.replaces; });
    if (ends <= 2 * limit) limit = ends;
  }
  if (found.size() > limit) found.resize(limit);
  std::vector<std::string> names;
  names.reserve(found.size());
  for (const Match& one : found) names.emplace_back(one.name);
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
