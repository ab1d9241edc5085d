#include "fourhold/api/plan_file_use.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fourhold/api/plan_file.h"
#include "fourhold/api/plan_file_conflict.h"
#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/plan/plan_fields.h"

namespace fourhold::api {
namespace {

std::string value_text(Bytes bytes) { return format_bytes(bytes); }
std::string value_text(double number) { return fmt::format("{:g}", number); }
std::string value_text(std::int64_t count) { return format_count(count); }

// Copies what a file says and a flag does not, and remembers it for the notes.
class Taker {
 public:
  template <class Value>
  void take(const char* flag, std::optional<Value>& field, const std::optional<Value>& filed) {
    if (field || !filed) return;
    field = filed;
    add(taken_, flag, *filed);
  }
  template <class Value>
  void leave(const char* flag, const std::optional<Value>& field,
             const std::optional<Value>& filed) {
    if (!field && filed) add(left_, flag, *filed);
  }

  [[nodiscard]] const std::string& taken() const { return taken_; }
  [[nodiscard]] const std::string& left() const { return left_; }

 private:
  template <class Value>
  static void add(std::string& list, const char* flag, const Value& value) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", flag, value_text(value));
  }

  std::string taken_;
  std::string left_;
};

// By whatever names. What is no device is not the same as one: load_target refuses it where it
// counts.
bool is_same(const std::string& a, const std::string& b) {
  if (a == b) return true;
  try {
    return exact_devices(a) == exact_devices(b);
  } catch (const Error&) {
    return false;
  }
}

void merge(const PlanFile& file, const std::string& path, RunRequest& request, TimeRequest* time) {
  refuse_conflict({request.plan, file.plan, path, request.model});
  TargetRequest& target = request.target;
  const bool same_device = target.device.empty() || is_same(target.device, file.target.device);
  if (!request.model.empty() && !file.model.empty() && request.model != file.model) {
    request.notes.push_back(fmt::format("{} was made for {}: its plan is taken for {}", path,
                                        file.model, request.model));
  }
  if (request.model.empty()) request.model = file.model;
  if (target.device.empty()) target.device = file.target.device;
  const auto take = [](const plan::FieldInfo& /*info*/, auto& flag, const auto& filed) {
    if (!flag) flag = filed;
  };
  // Without its split, what the file says of it falls away.
  const bool sp_falls = request.plan.tp == 1 && !request.plan.sp;
  const bool schedule_falls = request.plan.pp == 1 && !request.plan.schedule &&
                              file.plan.schedule == plan::ScheduleKind::gpipe;
  plan::visit_fields(take, request.plan, file.plan);
  if (sp_falls) request.plan.sp.reset();
  if (schedule_falls) request.plan.schedule.reset();
  take(plan::kCountField, request.plan.count, file.plan.count);

  Taker taker;
  const auto of_device = [&](const char* flag, auto& field, const auto& filed) {
    if (same_device) {
      taker.take(flag, field, filed);
    } else {
      taker.leave(flag, field, filed);
    }
  };
  of_device("--memory", target.memory, file.target.memory);
  of_device("--host-memory", target.host_memory, file.target.host_memory);
  // Two ways to say the same: a flag of either kind wins.
  const bool is_given = target.headroom || target.confidence;
  if (!is_given) taker.take("--headroom", target.headroom, file.target.headroom);
  if (!is_given) taker.take("--confidence", target.confidence, file.target.confidence);
  if (time != nullptr) {
    const bool speed_is_given = time->speed_is_given();
    taker.take("--tokens", time->tokens, file.time.tokens);
    taker.take("--deadline", time->deadline, file.time.deadline);
    of_device("--price", time->price, file.time.price);
    if (!speed_is_given) {
      of_device("--mfu", time->mfu, file.time.mfu);
      of_device("--tokens-per-second", time->tokens_per_second, file.time.tokens_per_second);
    }
  }
  if (!taker.taken().empty()) {
    request.notes.push_back(
        fmt::format("{} says {}: give the flag for another value", path, taker.taken()));
  }
  if (!taker.left().empty()) {
    request.notes.push_back(fmt::format("{} says {} of another device: not taken for {}", path,
                                        taker.left(), target.device));
  }
}

void read_and_merge(RunRequest& request, TimeRequest* time) {
  if (!request.plan_file.empty()) {
    if (!request.model.empty()) static_cast<void>(is_plan_file(request.model));
    const std::string path = std::exchange(request.plan_file, {});
    std::error_code fault;
    if (!std::filesystem::exists(path, fault)) {
      throw Error(path, "does not exist: behind MODEL stands a plan file",
                  "check the path; a value of several words needs quotes, such as --device 'RTX "
                  "4090'");
    }
    merge(read_plan_file(path, PlanFileKind::any), path, request, time);
  } else if (is_plan_file(request.model)) {
    const std::string path = std::exchange(request.model, {});
    merge(read_plan_file(path, PlanFileKind::names_its_model), path, request, time);
  }
}

}  // namespace

void read_plan_file(RunRequest& request, TimeRequest& time) { read_and_merge(request, &time); }

void read_plan_file(RunRequest& request) { read_and_merge(request, nullptr); }

}  // namespace fourhold::api
