// `fourhold launch`.
#include "fourhold/api/launch.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/engine/launch_setup.h"
#include "apps/engine/launched_job.h"
#include "apps/engine/verbs.h"
#include "apps/shell/notes.h"
#include "apps/shell/output.h"
#include "apps/shell/terminal.h"
#include "fourhold/api/request.h"
#include "fourhold/base/json.h"

namespace fourhold::engine_app {
namespace {

constexpr int kProbeSeconds = 30;

void note(const std::string& text) { shell::write_note(shell::labelled("launch: ", text)); }

// On a terminal over lines that can be pasted; elsewhere whole, so that it can be searched.
void note_command(const std::vector<std::string>& words) {
  const std::optional<int> columns = shell::columns_of_notes();
  shell::write_note(columns ? "launch:\n" + engine::shell_lines(words, *columns) + "\n"
                            : "launch: " + engine::shell_text(words) + "\n");
}

json::Value to_json(const PreparedLaunch& prepared, const engine::LaunchCommand& command,
                    const std::vector<std::string>& notes) {
  const auto texts = [](const std::vector<std::string>& list) {
    json::Array array;
    for (const std::string& text : list) array.emplace_back(text);
    return array;
  };
  return json::Object{{"schema", "fourhold.launch/1"},
                      {"launcher", std::string(engine::program_of(prepared.launcher))},
                      {"ranks", prepared.first.plan.devices()},
                      {"threads", prepared.first.plan.threads},
                      {"words", texts(command.words)},
                      {"command", engine::shell_text(command.words)},
                      {"notes", texts(notes)}};
}

// Hosts on which the launcher still starts a program.
std::vector<engine::Host> answering(const PreparedLaunch& prepared, LaunchedJob& process,
                                    const std::vector<engine::Host>& hosts) {
  std::vector<engine::Host> left;
  for (const engine::Host& host : hosts) {
    engine::LaunchJob probe;
    probe.hosts = {{host.name, 1}};
    probe.node_cores = prepared.node_cores;
    probe.run_as_root = prepared.run_as_root;
    probe.program = {"true"};
    const auto code =
        process.run_quietly(engine::launch_command(prepared.launcher, probe).words, kProbeSeconds);
    if (code == 0) left.push_back(host);
  }
  return left;
}

int run_job(const PreparedLaunch& prepared, std::int64_t restarts) {
  LaunchedJob process;
  const engine::RestartWorld world{
      .run =
          [&](const engine::Attempt& attempt) {
            const engine::LaunchCommand command =
                engine::launch_command(prepared.launcher, job_of(prepared, attempt));
            note_command(command.words);
            return process.run(command.words);
          },
      .answering =
          [&](const std::vector<engine::Host>& hosts) {
            return answering(prepared, process, hosts);
          },
      .room =
          [&](const std::vector<engine::Host>& hosts, const plan::Plan& plan) {
            return engine::room_of(hosts, prepared.node_cores, plan.threads);
          },
      .stop_asked = [&] { return process.stop_asked(); },
      .say = note};
  return engine::run_with_restarts(prepared.first, restarts, world);
}

}  // namespace

ExitCode launch(const Question& question) {
  const auto request = api::request_of<api::LaunchRequest>(question.arguments);
  const bool runs = request.run || request.restarts;
  const bool shown = question.form == api::Form::text;
  if (runs && !shown) {
    throw Error("--json", "describes the command; a run answers with what train prints",
                "leave out --json, or give it to train behind --");
  }
  const PreparedLaunch prepared = prepare_launch(request);
  const engine::LaunchCommand command =
      engine::launch_command(prepared.launcher, job_of(prepared, prepared.first));
  std::vector<std::string> notes = prepared.notes;
  notes.insert(notes.end(), command.notes.begin(), command.notes.end());
  if (shown) {
    for (const std::string& text : notes) shell::write_note(shell::labelled("note: ", text));
  }
  if (runs) {
    // Whatever the job's own code is: also one that is none of ours, such as 137.
    return static_cast<ExitCode>(run_job(prepared, request.restarts.value_or(0)));
  }
  shell::write_output(shown ? engine::shell_lines(command.words, question.screen.columns) + "\n"
                            : json::write(to_json(prepared, command, notes)) + "\n");
  return ExitCode::done;
}

}  // namespace fourhold::engine_app
