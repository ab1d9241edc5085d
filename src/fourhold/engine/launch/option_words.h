// Options in the words of a command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fourhold::engine {

// The option has that value and stands once, behind all others: "--dp 4" and "--dp=4" give way.
void set_option(std::vector<std::string>& words, std::string_view flag, std::string value);

}  // namespace fourhold::engine
