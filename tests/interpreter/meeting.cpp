#include "tests/interpreter/meeting.h"

#include "tests/interpreter/fault.h"

namespace fourhold::interpreter {

bool Door::ready() const { return waits_for_ == nullptr || waits_for_->posted.size() == members_; }

void Door::begin_step() {
  this_step_.clear();
  waits_for_ = nullptr;
}

const std::vector<Payload>& Door::meet(const Group& group, const std::string& topic,
                                       Payload payload) {
  const std::int64_t number = held_[group] + this_step_[group]++;
  Meetings::Meeting& meeting = meetings_.open[{group, number}];
  if (meeting.posted.empty()) meeting.topic = topic;
  if (meeting.topic != topic) {
    throw ProgramFault("ranks of one group meet for '" + meeting.topic + "' and for '" + topic +
                       "'");
  }
  if (meeting.posted.emplace(rank_, std::move(payload)).second) ++meetings_.posts;
  if (meeting.posted.size() < group.size()) {
    waits_for_ = &meeting;
    members_ = group.size();
    throw Waiting{};
  }
  if (meeting.payloads.empty()) {
    for (const std::int64_t member : group) meeting.payloads.push_back(meeting.posted.at(member));
  }
  return meeting.payloads;
}

void Door::end_step() {
  for (const auto& [group, count] : this_step_) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto meeting = meetings_.open.find({group, held_[group]++});
      if (++meeting->second.left == group.size()) meetings_.open.erase(meeting);
    }
  }
  this_step_.clear();
}

}  // namespace fourhold::interpreter
