// Checks that the source tree keeps its floors: every include under src/ and apps/, and the length
// of every file. Usage: check_layers ROOT [--max-lines N] [--expect FILE]
//
// Prints one line per fault and exits 1 if there is any. With --expect the faults must be exactly
// the lines of FILE: that is how the checker itself is tested.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

enum class Side : std::uint8_t { planner, engine };

struct Floor {
  std::string_view folder;  // below src/fourhold/
  int floor;
  Side side;
};

// The floors. A file includes its own folder and lower floors; neighbours do not see each other.
constexpr std::array kFloors{
    Floor{"base", 0, Side::planner},
    Floor{"ledger", 1, Side::planner},
    Floor{"model", 2, Side::planner},
    Floor{"hardware", 2, Side::planner},
    Floor{"plan", 3, Side::planner},
    Floor{"predict", 4, Side::planner},
    Floor{"confidence", 4, Side::planner},
    Floor{"measured", 5, Side::planner},
    Floor{"search", 5, Side::planner},
    Floor{"report", 5, Side::planner},
    Floor{"export", 5, Side::planner},
    Floor{"readback", 5, Side::planner},
    Floor{"api", 6, Side::planner},
    Floor{"engine/threads", 1, Side::engine},
    Floor{"engine/files", 1, Side::engine},
    Floor{"engine/arena", 2, Side::engine},
    Floor{"engine/tensor", 3, Side::engine},
    Floor{"engine/kernels", 4, Side::engine},
    Floor{"engine/executor", 5, Side::engine},
    Floor{"engine/communicator", 4, Side::engine},
    Floor{"engine/launch", 4, Side::engine},
    Floor{"engine/data", 5, Side::engine},
    Floor{"engine/optimizer", 5, Side::engine},
    Floor{"engine/measure", 6, Side::engine},
    Floor{"engine/sample", 6, Side::engine},
    Floor{"engine/train", 6, Side::engine},
    Floor{"engine/checkpoint", 5, Side::engine},
};

// The engine runs what the planner predicted, so it may see descriptions but no search or report.
constexpr int kHighestPlannerFloorForEngine = 4;

// Libraries that one place alone may know: a file, or with a trailing slash one file of a folder.
struct Owner {
  std::string_view header;  // prefix of the included name
  std::string_view place;
};
constexpr std::array kOwners{
    Owner{"nlohmann/", "src/fourhold/base/json_parse.cpp"},
    Owner{"CLI/", "apps/shell/"},
    Owner{"dnnl", "src/fourhold/engine/kernels/onednn.cpp"},
    Owner{"oneapi/", "src/fourhold/engine/kernels/onednn.cpp"},
    Owner{"mpi.h", "src/fourhold/engine/communicator/mpi_communicator.cpp"},
    Owner{"pcre2", "src/fourhold/engine/data/split_pattern.cpp"},
    Owner{"sentencepiece", "src/fourhold/engine/data/sentencepiece_tokenizer.cpp"},
    Owner{"utf8proc", "src/fourhold/engine/data/nfc.cpp"},
};

// Standard headers that one of the compilers lacks.
constexpr std::array<std::string_view, 7> kMissingHeaders{
    "expected", "format", "mdspan", "print", "ranges", "source_location", "stdfloat"};

struct Include {
  std::int64_t line = 0;
  std::string name;
  char quote = '"';
};

struct File {
  std::string path;  // relative to the root, with '/'
  std::int64_t lines = 0;
  std::vector<Include> includes;
};

File read(const fs::path& root, const fs::path& path) {
  File file;
  file.path = fs::relative(path, root).generic_string();
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    ++file.lines;
    const std::size_t hash = line.find_first_not_of(" \t");
    if (hash == std::string::npos || line[hash] != '#') continue;
    const std::size_t word = line.find_first_not_of(" \t", hash + 1);
    if (word == std::string::npos || line.compare(word, 7, "include") != 0) continue;
    const std::size_t open = line.find_first_of("\"<", word);
    if (open == std::string::npos) continue;
    const std::size_t close = line.find_first_of("\">", open + 1);
    if (close == std::string::npos) continue;
    file.includes.push_back({file.lines, line.substr(open + 1, close - open - 1), line[open]});
  }
  return file;
}

std::vector<File> read_tree(const fs::path& root, std::string_view folder) {
  std::vector<File> files;
  if (!fs::exists(root / folder)) return files;
  for (auto it = fs::recursive_directory_iterator(root / folder);
       it != fs::recursive_directory_iterator(); ++it) {
    if (it->is_directory() && it->path().filename() == "fixtures") {
      it.disable_recursion_pending();
      continue;
    }
    const std::string extension = it->path().extension().string();
    if (extension == ".h" || extension == ".cpp") files.push_back(read(root, it->path()));
  }
  return files;
}

bool starts_with_folder(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/';
}

// The floor of "ledger/key.h" or "engine/train/step.h"; nullptr outside the table.
const Floor* floor_of(std::string_view path) {
  const auto found = std::find_if(kFloors.begin(), kFloors.end(), [&](const Floor& floor) {
    return starts_with_folder(path, floor.folder);
  });
  return found == kFloors.end() ? nullptr : &*found;
}

class Checker {
 public:
  explicit Checker(fs::path root) : root_(std::move(root)) {}

  void check_includes() {
    for (const std::string_view folder : {"src", "apps"}) {
      for (const File& file : read_tree(root_, folder)) {
        for (const Include& include : file.includes) check(file, include);
      }
    }
    for (const Owner& owner : kOwners) check_single_user(owner);
  }

  void check_lengths(std::int64_t limit) {
    for (const std::string_view folder : {"src", "apps", "tests", "fuzz", "bench"}) {
      for (const File& file : read_tree(root_, folder)) {
        if (file.lines > limit) {
          faults_.push_back(file.path + ": " + std::to_string(file.lines) + " lines, limit " +
                            std::to_string(limit) + "; split it by idea");
        }
      }
    }
  }

  // Sorted, because directories are read in no order.
  std::vector<std::string> faults() const {
    std::vector<std::string> sorted = faults_;
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }

 private:
  void fault(const File& file, const Include& include, const std::string& text) {
    faults_.push_back(file.path + ":" + std::to_string(include.line) + ": includes " +
                      include.name + ": " + text);
  }

  void check(const File& file, const Include& include) {
    for (const Owner& owner : kOwners) {
      if (!include.name.starts_with(owner.header)) continue;
      users_[owner.header].push_back(file.path);
      const bool allowed = owner.place.ends_with('/') ? file.path.starts_with(owner.place)
                                                      : file.path == owner.place;
      if (!allowed) fault(file, include, "only " + std::string(owner.place) + " may");
      return;
    }
    const bool ours = include.name.starts_with("fourhold/") || include.name.starts_with("apps/");
    if (include.quote == '<') {
      if (ours) fault(file, include, "write our own headers in quotes");
      if (std::find(kMissingHeaders.begin(), kMissingHeaders.end(), include.name) !=
          kMissingHeaders.end()) {
        fault(file, include, "one of the supported compilers has no such header");
      }
      return;
    }
    if (!ours) {
      fault(file, include, "write the path from src/ or from the root: fourhold/..., apps/...");
    } else if (!fs::exists(root_ / "src" / include.name) && !fs::exists(root_ / include.name)) {
      fault(file, include, "no such file");
    } else if (file.path.starts_with("apps/")) {
      check_app(file, include);
    } else {
      check_library(file, include);
    }
  }

  // Apps sit on top: their own folder and any library; the planner's program never the engine.
  void check_app(const File& file, const Include& include) {
    const std::string folder = file.path.substr(0, file.path.find('/', 5) + 1);
    // apps/shell is what the programs of the command line share.
    if (include.name.starts_with("apps/") && !include.name.starts_with(folder) &&
        !include.name.starts_with("apps/shell/")) {
      fault(file, include, "apps do not see each other");
    }
    if (folder == "apps/cli/" && include.name.starts_with("fourhold/engine/")) {
      fault(file, include, "this program links the planner only");
    }
  }

  void check_library(const File& file, const Include& include) {
    if (include.name.starts_with("apps/")) {
      fault(file, include, "a library does not know its apps");
      return;
    }
    const std::string source = file.path.substr(std::string_view("src/fourhold/").size());
    const std::string target = include.name.substr(std::string_view("fourhold/").size());
    const Floor* from = floor_of(source);
    const Floor* to = floor_of(target);
    if (from == nullptr || to == nullptr) {
      fault(file, include, "a folder without a floor; add it to the table of check_layers.cpp");
    } else if (from->folder == to->folder) {
      return;
    } else if (from->side == Side::planner && to->side == Side::engine) {
      fault(file, include, "the planner does not see the engine");
    } else if (from->side == Side::engine && to->side == Side::planner &&
               to->floor > kHighestPlannerFloorForEngine) {
      fault(file, include, "the engine sees the planner up to floor 4");
    } else if (to->floor >= from->floor) {
      fault(file, include,
            std::string(from->folder) + " is on floor " + std::to_string(from->floor) + ", " +
                std::string(to->folder) + " on floor " + std::to_string(to->floor) +
                "; only lower floors may be included");
    }
  }

  void check_single_user(const Owner& owner) {
    std::vector<std::string>& users = users_[owner.header];
    std::sort(users.begin(), users.end());
    users.erase(std::unique(users.begin(), users.end()), users.end());
    for (std::size_t i = 1; owner.place.ends_with('/') && i < users.size(); ++i) {
      if (!users[i].starts_with(owner.place)) continue;
      faults_.push_back(users[i] + ": includes " + std::string(owner.header) +
                        ": one file alone may, and " + users[0] + " does");
    }
  }

  fs::path root_;
  std::vector<std::string> faults_;
  std::map<std::string_view, std::vector<std::string>> users_;  // header prefix -> files
};

int expect(const std::vector<std::string>& faults, const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> expected;
  for (std::string line; std::getline(in, line);) expected.push_back(line);
  for (const std::string& line : expected) {
    if (!std::binary_search(faults.begin(), faults.end(), line)) {
      std::cout << "not found: " << line << "\n";
    }
  }
  for (const std::string& line : faults) {
    if (std::find(expected.begin(), expected.end(), line) == expected.end()) {
      std::cout << "not expected: " << line << "\n";
    }
  }
  return !expected.empty() && faults == expected ? EXIT_SUCCESS : EXIT_FAILURE;
}

int run(const std::vector<std::string>& arguments) {
  std::string root;
  std::string expected;
  std::int64_t max_lines = 400;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool has_value = i + 1 < arguments.size();
    if (arguments[i] == "--max-lines" && has_value) {
      const std::string& text = arguments[++i];
      std::from_chars(text.data(), text.data() + text.size(), max_lines);
    } else if (arguments[i] == "--expect" && has_value) {
      expected = arguments[++i];
    } else {
      root = arguments[i];
    }
  }
  if (!fs::exists(fs::path(root) / "src" / "fourhold")) {
    std::cerr << "usage: check_layers ROOT [--max-lines N] [--expect FILE]; no src/fourhold in '"
              << root << "'\n";
    return 2;
  }
  Checker checker{root};
  checker.check_includes();
  checker.check_lengths(max_lines);
  if (!expected.empty()) return expect(checker.faults(), expected);
  for (const std::string& fault : checker.faults()) std::cout << fault << "\n";
  return checker.faults().empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& fault) {
    std::cerr << fault.what() << "\n";
    return 3;
  }
}
