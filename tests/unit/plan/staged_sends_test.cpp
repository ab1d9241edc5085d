// Stages of a pipeline that send into a staging buffer, one for each direction, never wait for each
// other in a circle: every schedule ends, although a message takes the buffer until the other side
// comes for it (plan/communication_buffers.h).
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "fourhold/plan/schedule.h"

namespace fourhold::plan {
namespace {

struct Action {
  enum class Kind : std::uint8_t { receive, send } kind = Kind::receive;
  Direction direction = Direction::forward;
  std::int64_t virtual_stage = 0;  // that the message is for
  std::int64_t micro_batch = 0;
};

std::vector<Action> actions_of(ScheduleKind kind, std::int64_t pp, std::int64_t stage,
                               std::int64_t vpp, std::int64_t micro_batches) {
  std::vector<Action> actions;
  const std::int64_t last = pp * vpp - 1;
  for (const Slot& slot : stage_slots(kind, pp, stage, vpp, micro_batches)) {
    const std::int64_t here = slot.chunk * pp + stage;
    const bool forward = slot.direction == Direction::forward;
    const bool receives = forward ? here > 0 : here < last;
    const bool sends = forward ? here < last : here > 0;
    const std::int64_t there = here + (forward ? 1 : -1);
    if (receives) {
      actions.push_back({Action::Kind::receive, slot.direction, here, slot.micro_batch});
    }
    if (sends) actions.push_back({Action::Kind::send, slot.direction, there, slot.micro_batch});
  }
  return actions;
}

// Runs all stages until none gets on; whether all are done.
bool ends(ScheduleKind kind, std::int64_t pp, std::int64_t vpp, std::int64_t micro_batches) {
  using Key = std::tuple<Direction, std::int64_t, std::int64_t>;
  struct Stage {
    std::vector<Action> actions;
    std::size_t next = 0;
    std::array<std::optional<Key>, 2> under_way;  // by direction: not fetched yet
  };
  std::vector<Stage> stages(static_cast<std::size_t>(pp));
  for (std::int64_t s = 0; s < pp; ++s) {
    stages[static_cast<std::size_t>(s)].actions = actions_of(kind, pp, s, vpp, micro_batches);
  }
  std::map<Key, Stage*> sent;
  for (bool moved = true; moved;) {
    moved = false;
    for (Stage& stage : stages) {
      while (stage.next < stage.actions.size()) {
        const Action& action = stage.actions[stage.next];
        const auto side = static_cast<std::size_t>(action.direction);
        const Key key{action.direction, action.virtual_stage, action.micro_batch};
        if (action.kind == Action::Kind::send) {
          if (stage.under_way[side]) break;  // its buffer is taken
          stage.under_way[side] = key;
          sent[key] = &stage;
        } else {
          const auto found = sent.find(key);
          if (found == sent.end()) break;
          found->second->under_way[side].reset();
          sent.erase(found);
        }
        ++stage.next;
        moved = true;
      }
    }
  }
  for (const Stage& stage : stages) {
    if (stage.next < stage.actions.size()) return false;
  }
  return true;
}

TEST(StagedSends, NoScheduleWaitsInACircle) {
  for (std::int64_t pp = 2; pp <= 8; ++pp) {
    for (const std::int64_t micro_batches : {pp, 2 * pp, 5 * pp}) {
      EXPECT_TRUE(ends(ScheduleKind::gpipe, pp, 1, micro_batches)) << pp << " " << micro_batches;
      EXPECT_TRUE(ends(ScheduleKind::one_f_one_b, pp, 1, micro_batches));
      for (std::int64_t vpp = 2; vpp <= 5; ++vpp) {
        EXPECT_TRUE(ends(ScheduleKind::interleaved, pp, vpp, micro_batches))
            << "pp " << pp << " vpp " << vpp << " m " << micro_batches;
      }
    }
    for (std::int64_t micro_batches = 1; micro_batches <= 12; ++micro_batches) {
      EXPECT_TRUE(ends(ScheduleKind::one_f_one_b, pp, 1, micro_batches));
      EXPECT_TRUE(ends(ScheduleKind::gpipe, pp, 1, micro_batches));
    }
  }
}

}  // namespace
}  // namespace fourhold::plan
