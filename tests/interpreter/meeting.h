// Collectives between simulated ranks: members post what they bring and wait until all have come.
//
// A step that must wait throws Waiting and is run again later from its beginning; it may therefore
// change nothing before its last meeting.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/interpreter/array.h"

namespace fourhold::interpreter {

struct Waiting {};

using Group = std::vector<std::int64_t>;  // ranks, ascending
using Payload = std::vector<Array>;

// All meetings of a run, by group and number.
class Meetings {
 public:
  struct Meeting {
    std::string topic;  // what the first member came for: all must come for the same
    std::map<std::int64_t, Payload> posted;
    std::vector<Payload> payloads;  // in order of the group, once all have posted
    std::size_t left = 0;           // members that are done with it
  };
  using Key = std::pair<Group, std::int64_t>;
  std::map<Key, Meeting> open;
  std::int64_t posts = 0;  // payloads posted so far: a step that waits may still get further
};

// One rank's way into the meetings.
class Door {
 public:
  Door(Meetings& meetings, std::int64_t rank) : meetings_(meetings), rank_(rank) {}

  // False while the meeting this rank waits for lacks somebody.
  [[nodiscard]] bool ready() const;
  // A step begins, or begins again.
  void begin_step();
  // The payloads of all members. Throws Waiting, or ProgramFault when topics differ.
  const std::vector<Payload>& meet(const Group& group, const std::string& topic, Payload payload);
  void end_step();

 private:
  Meetings& meetings_;
  std::int64_t rank_;
  std::map<Group, std::int64_t> held_;       // meetings of finished steps, by group
  std::map<Group, std::int64_t> this_step_;  // meetings of this attempt
  const Meetings::Meeting* waits_for_ = nullptr;
  std::size_t members_ = 0;
};

}  // namespace fourhold::interpreter
