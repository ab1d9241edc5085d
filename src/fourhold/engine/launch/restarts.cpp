#include "fourhold/engine/launch/restarts.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/launch/fewer_ranks.h"

namespace fourhold::engine {
namespace {

bool is_answer(int code) {
  return code >= static_cast<int>(ExitCode::done) && code <= static_cast<int>(ExitCode::bad_input);
}

std::string lost_text(const std::vector<Host>& before, const std::vector<Host>& after) {
  std::string names;
  for (const Host& host : before) {
    if (std::find(after.begin(), after.end(), host) != after.end()) continue;
    names += (names.empty() ? "" : ", ") + host.name;
  }
  return names;
}

// The attempt after `last` on the hosts that answer, or nothing; says which.
std::optional<Attempt> next_attempt(const Attempt& last, const std::vector<Host>& hosts,
                                    const RestartWorld& world) {
  Attempt next{last.plan, hosts, true};
  if (hosts.size() == last.hosts.size()) return next;
  const std::string lost = lost_text(last.hosts, hosts);
  const std::int64_t room = hosts.empty() ? 0 : world.room(hosts, last.plan);
  if (room >= last.plan.devices()) {
    world.say(fmt::format("{} does not answer; the others have room for all {}", lost,
                          counted(last.plan.devices(), "rank")));
    return next;
  }
  const std::optional<plan::Plan> fewer = plan_for_ranks(last.plan, room);
  if (!fewer) {
    world.say(
        fmt::format("{} does not answer, and on the {} that are left no number of replicas "
                    "keeps the global batch of {}: not started again",
                    lost, counted(room, "rank"), format_count(last.plan.global_batch)));
    return std::nullopt;
  }
  world.say(fmt::format(
      "{} does not answer: dp {} x grad_accum {} on {} instead of dp {} x "
      "grad_accum {} on {}; the global batch stays {}",
      lost, fewer->dp, fewer->grad_accum, counted(fewer->devices(), "rank"), last.plan.dp,
      last.plan.grad_accum, last.plan.devices(), format_count(last.plan.global_batch)));
  next.plan = *fewer;
  return next;
}

}  // namespace

int run_with_restarts(const Attempt& first, std::int64_t restarts, const RestartWorld& world) {
  Attempt attempt = first;
  for (std::int64_t used = 0;; ++used) {
    const int code = world.run(attempt);
    if (code == static_cast<int>(ExitCode::done) || world.stop_asked()) return code;
    if (used == restarts) {
      if (restarts > 0) {
        world.say(fmt::format("the job ended with exit code {} after {}", code,
                              counted(restarts, "restart")));
      }
      return code;
    }
    const std::vector<Host> hosts = world.answering(attempt.hosts);
    if (world.stop_asked()) return code;
    if (is_answer(code) && hosts.size() == attempt.hosts.size()) {
      world.say(
          fmt::format("exit code {} is the program's answer, which another start would "
                      "repeat: not started again",
                      code));
      return code;
    }
    const std::optional<Attempt> next = next_attempt(attempt, hosts, world);
    if (!next) return code;
    world.say(
        fmt::format("the job ended with exit code {}: restart {} of {} on {}, from the "
                    "newest checkpoint",
                    code, used + 1, restarts, counted(next->plan.devices(), "rank")));
    attempt = *next;
  }
}

}  // namespace fourhold::engine
