#include "fourhold/api/published_total.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "fourhold/base/quantity.h"
#include "fourhold/model/checkpoint_count.h"

namespace fourhold::api {
namespace {

// Sets of extras tried; no published checkpoint has as many kinds of them.
constexpr std::size_t kMostExtras = 12;

}  // namespace

PublishedTotal explain_published(std::int64_t published, std::int64_t counted,
                                 const std::vector<model::Extra>& extras) {
  PublishedTotal result{.total = published, .difference = published - counted, .explained = {}};
  if (result.difference <= 0) return result;
  const std::size_t count = std::min(extras.size(), kMostExtras);
  for (std::size_t set = 1; set < (std::size_t{1} << count); ++set) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if ((set >> i & 1U) != 0) sum += extras[i].elements;
    }
    if (sum != result.difference) continue;
    for (std::size_t i = 0; i < count; ++i) {
      if ((set >> i & 1U) != 0) {
        result.explained.push_back(
            fmt::format("{}: {}", extras[i].name, format_count(extras[i].elements)));
      }
    }
    return result;
  }
  return result;
}

std::string published_text(const PublishedTotal& published, std::int64_t counted) {
  const std::string total = format_count(published.total);
  if (published.difference == 0) return fmt::format("the published total {} is exact", total);
  if (!published.explained.empty()) {
    return fmt::format("the published total {} is {} more: {}", total,
                       format_count(published.difference), fmt::join(published.explained, ", "));
  }
  const double percent =
      100 * static_cast<double>(published.difference) / static_cast<double>(counted);
  std::string text = fmt::format("the published total {} is {} {} ({:+.2f}%)", total,
                                 format_count(std::abs(published.difference)),
                                 published.difference > 0 ? "more" : "less", percent);
  if (model::stated_total_note(counted, published.total, "parameters")) {
    return text + ": too far off to be this model; the shapes are used";
  }
  return text + "; nothing known beside the language model adds up to that";
}

}  // namespace fourhold::api
