// A data file compiled into the program (see cmake/embed_files.cmake).
//
// A table of them is a function `std::span<const EmbeddedFile> name()`, declared in the header of
// its user and defined by a generated source; entries are sorted by name.
#pragma once

#include <string_view>

namespace fourhold {

struct EmbeddedFile {
  std::string_view name;  // file name without its extension
  std::string_view text;
};

}  // namespace fourhold
