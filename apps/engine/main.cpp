// fourhold-engine: answers the verbs that need the training engine. `fourhold` starts it.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/engine/joined_ranks.h"
#include "apps/engine/machine.h"
#include "apps/engine/verbs.h"
#include "apps/shell/first_rank.h"
#include "apps/shell/output.h"
#include "apps/shell/parse.h"
#include "apps/shell/program.h"
#include "apps/shell/terminal.h"
#include "fourhold/api/help.h"
#include "fourhold/api/verbs.h"
#include "fourhold/base/error.h"

namespace {

using fourhold::Error;
using fourhold::ExitCode;
namespace api = fourhold::api;
namespace app = fourhold::engine_app;
namespace shell = fourhold::shell;

enum class Ranks : std::uint8_t {
  one,   // each of several would do the same work again
  many,  // several do it together
};

struct Answer {
  std::string_view verb;
  ExitCode (*run)(const app::Question& question);
  Ranks ranks = Ranks::one;
};
constexpr std::array kAnswers{Answer{"train", app::train, Ranks::many},
                              Answer{"measure", app::measure, Ranks::many},
                              Answer{"launch", app::launch},
                              Answer{"sample", app::sample},
                              Answer{"tokenize", app::tokenize},
                              Answer{"stall", app::stall}};

// Throws Error where a launcher has started several ranks for what one does.
void require_ranks(const Answer& answer) {
  const std::int64_t ranks = app::rank_place().started.ranks;
  if (ranks == 1 || answer.ranks == Ranks::many) return;
  throw Error(std::string(answer.verb),
              "runs as one process, and a launcher has started " + std::to_string(ranks),
              "start it without mpirun or srun");
}

ExitCode run(const std::vector<std::string>& words) {
  if (words.empty()) {
    throw Error("fourhold-engine", "is started by fourhold", "try `fourhold train --help`");
  }
  for (const Answer& answer : kAnswers) {
    if (answer.verb != words.front()) continue;
    const api::Verb& verb = api::verb_named(answer.verb);
    std::optional<shell::ParsedVerb> words_read;
    try {
      require_ranks(answer);
      words_read = shell::parse_verb(verb, {words.begin() + 1, words.end()});
    } catch (const Error&) {
      return app::refuse_on_all_ranks();
    }
    const shell::ParsedVerb& parsed = *words_read;
    const fourhold::report::Screen screen = shell::screen_of_output(parsed.color);
    if (parsed.help) {
      if (shell::is_first_rank()) shell::write_output(api::help_text(verb, screen));
      return ExitCode::done;
    }
    return answer.run({parsed.arguments, parsed.form, screen});
  }
  throw Error(words.front(), "is not a verb of the engine", "`fourhold --help` lists the verbs");
}

}  // namespace

int main(int argc, char** argv) { return shell::run_program(argc, argv, run); }
