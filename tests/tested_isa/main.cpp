// The main of test binaries that ctest runs a second time, with portable kernels alone.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "fourhold/engine/kernels/process_isa.h"
#include "tests/tested_isa/tested_isa.h"

namespace fourhold::engine::testing {
namespace {

Isa& chosen_isa() {
  static Isa isa = best_isa();
  return isa;
}

// Of "--isa=NAME"; other words are GoogleTest's.
void read_option(std::string_view word) {
  constexpr std::string_view kOption = "--isa=";
  if (word.substr(0, kOption.size()) != kOption) return;
  chosen_isa() = isa_of_plan(word.substr(kOption.size()));
  limit_process_to(chosen_isa());
}

}  // namespace

Isa tested_isa() { return chosen_isa(); }

std::string tested_isa_option() { return " --isa " + std::string(to_string(tested_isa())); }

int run(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) read_option(argv[i]);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace fourhold::engine::testing

int main(int argc, char** argv) { return fourhold::engine::testing::run(argc, argv); }
