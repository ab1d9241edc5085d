#include "apps/engine/disk_checks.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/checkpoint/checkpoint_names.h"
#include "fourhold/engine/checkpoint/disk_room.h"
#include "fourhold/plan/plan.h"

namespace fourhold::engine_app {
namespace {

// Steps in (begin, steps] after which the run saves.
std::int64_t saves_after(const engine::TrainSetup& setup, std::int64_t begin) {
  if (begin >= setup.steps) return 0;
  const std::int64_t every = setup.checkpoints.save_every.value_or(setup.steps);
  const bool at_end = setup.steps % every != 0;
  return setup.steps / every - begin / every + (at_end ? 1 : 0);
}

}  // namespace

std::int64_t added_checkpoints(std::int64_t saves, std::int64_t keep, std::int64_t there) {
  return std::min(saves, std::max<std::int64_t>(keep + 1 - there, 1));
}

void require_disk(const engine::TrainSetup& setup) {
  const engine::CheckpointChoice& choice = setup.checkpoints;
  if (choice.folder.empty()) return;
  const std::optional<Bytes> free = engine::free_disk_bytes(choice.folder);
  if (!free) return;
  const plan::Recipe recipe = plan::recipe_of(setup.plan, setup.profile);
  const Bytes one = engine::checkpoint_bytes(
      setup.model, {.dtype = recipe.weight, .carried = setup.carried}, recipe);
  const std::vector<std::int64_t> there = engine::steps_in(choice.folder);
  const bool goes_on = !choice.resume.empty() && !there.empty();
  const std::int64_t added =
      added_checkpoints(saves_after(setup, goes_on ? there.front() : 0), choice.keep,
                        static_cast<std::int64_t>(there.size()));
  const Bytes needed(one.count() * added);
  if (needed <= *free) return;
  const std::int64_t room = free->count() / std::max<std::int64_t>(one.count(), 1);
  const std::int64_t keep = room - 1 + static_cast<std::int64_t>(there.size());
  throw Error(
      "--out",
      fmt::format("{} has {} free, and {} there at once, of {} each, {} {}", choice.folder,
                  format_bytes(*free), counted(added, "more checkpoint"), format_bytes(one),
                  added == 1 ? "takes" : "take", format_bytes(needed)),
      room > 0 && keep > 0
          ? fmt::format(
                "keep fewer (--keep {}), free space there, or name a folder on another disk", keep)
          : std::string("free space there, or name a folder on another disk"));
}

}  // namespace fourhold::engine_app
