// Names close to a mistyped one, for the hints of errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fourhold {

// The candidates a mistyped `word` may have meant, nearest first, at most `limit`: those within an
// edit distance of a third of the word (a swap of neighbours is one edit), then those that hold the
// word or are held by it. Names that begin with the word leave out all others, and up to twice
// `limit` of them are named where there are no more. Upper and lower case, '_', '-' and ' ' are the
// same. Ties by name.
[[nodiscard]] std::vector<std::string> near_matches(std::string_view word,
                                                    const std::vector<std::string_view>& candidates,
                                                    std::size_t limit = 3);

// The candidate that `word` is most likely a slip of the pen for: one edit away where the word has
// fewer than 8 letters, at most two where it has more; "" for shorter words than 4, and where none
// is. Stricter than near_matches: for words that are usually right.
[[nodiscard]] std::string likely_meant(std::string_view word,
                                       const std::vector<std::string_view>& candidates);

// "did you mean 'a', 'b' or 'c'?", or "" when nothing is near.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       const std::vector<std::string_view>& candidates);

}  // namespace fourhold
