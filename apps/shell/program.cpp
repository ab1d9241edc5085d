#include "apps/shell/program.h"

#include <csignal>
#include <exception>
#include <new>

#include "apps/shell/first_rank.h"
#include "apps/shell/notes.h"
#include "apps/shell/output.h"

namespace fourhold::shell {

int run_program(int argc, char** argv, ExitCode (*answer)(const std::vector<std::string>& words)) {
  std::signal(SIGPIPE, SIG_IGN);  // only standard output ends by it: write_output
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on files is an error of the write that meets it
  try {
    return static_cast<int>(answer({argv + 1, argv + argc}));
  } catch (const Error& error) {
    if (is_first_rank()) write_note(error_text(error));
    return static_cast<int>(error.exit_code());
  } catch (const std::bad_alloc&) {
    write_note("fourhold: not enough memory for this question\n");
  } catch (const std::exception& fault) {
    write_note(std::string("fourhold: a fault of ours: ") + fault.what() + "\n");
  }
  return static_cast<int>(ExitCode::internal_error);
}

}  // namespace fourhold::shell
