// Runs case files: run_cases PROGRAM SOURCE_FOLDER FILE.case... Exits 0 when every check holds, 1
// when one does not, 2 when a file is not a case file.
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "fourhold/base/error.h"
#include "tests/cases/harness/case_file.h"
#include "tests/cases/harness/process.h"
#include "tests/cases/harness/runner.h"

namespace {

int run(const std::vector<std::string>& arguments) {
  using namespace fourhold::cases;
  if (arguments.size() < 3) {
    std::cerr << "usage: run_cases PROGRAM SOURCE_FOLDER FILE.case...\n";
    return 2;
  }
  const std::string program = std::filesystem::absolute(arguments[0]).string();
  const std::string source = std::filesystem::absolute(arguments[1]).string();
  std::int64_t checks = 0;
  std::size_t failures = 0;
  std::size_t shortfalls = 0;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const CaseFile file = parse_case_file(arguments[i], read_file(arguments[i]));
    const Result result = run_case(file, program, source);
    for (const std::string& failure : result.failures) std::cout << failure << "\n";
    for (const std::string& shortfall : result.shortfalls) {
      std::cout << "shortfall: " << shortfall << "\n";
    }
    checks += result.checks;
    shortfalls += result.shortfalls.size();
    failures += result.failures.size();
  }
  std::cout << checks << " checks, " << failures << " failed, " << shortfalls << " short\n";
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const fourhold::Error& error) {
    std::cerr << error.where() << ": " << error.what() << ". " << error.hint() << "\n";
    return 2;
  } catch (const std::exception& fault) {
    std::cerr << fault.what() << "\n";
    return 3;
  }
}
