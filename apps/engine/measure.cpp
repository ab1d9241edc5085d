// `fourhold measure`.
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "apps/engine/joined_ranks.h"
#include "apps/engine/machine.h"
#include "apps/engine/verbs.h"
#include "apps/shell/notes.h"
#include "apps/shell/output.h"
#include "fourhold/api/measure.h"
#include "fourhold/api/request.h"
#include "fourhold/base/json.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/measure/machine.h"
#include "fourhold/engine/measure/rank_links.h"
#include "fourhold/engine/train/process_memory.h"
#include "fourhold/hardware/device_file.h"
#include "fourhold/report/table.h"
#include "fourhold/report/text.h"

namespace fourhold::engine_app {
namespace {

using hardware::Device;
using report::Align;

void add_row(report::Table& table, const char* type, double peak, double bandwidth,
             const hardware::SustainedShares& shares) {
  const auto flops = [](double rate) { return fmt::format("{:.0f} GFLOP/s", rate / 1e9); };
  const auto bytes = [&](double share) {
    return fmt::format("{:.0f} GB/s", share * bandwidth / 1e9);
  };
  table.add({type, flops(peak), flops(peak * shares.matmul), flops(peak * shares.attention.flash_2),
             flops(peak * shares.attention.flash_2 * shares.attention.backward),
             bytes(shares.elementwise), bytes(shares.update)});
}

// A line on one kind of link; "" where there is none.
std::string link_text(const char* where, const hardware::Link& link, const report::Screen& screen) {
  if (!link.exists()) return "";
  return report::wrapped(
      fmt::format("{}: {:.1f} MB/s, {:.1f} us; reduce-scatter {:.1f} MB/s, starts in {:.1f} us",
                  where, link.bytes_per_second / 1e6, link.latency_seconds * 1e6,
                  link.sustained_bytes_per_second() / 1e6, link.start_seconds * 1e6),
      screen.columns, "Messages ");
}

std::string text_of(const Device& device, const api::MeasureRequest& request, double seconds,
                    const report::Screen& screen) {
  const auto fact = [&screen](std::string_view label, const std::string& fact_text) {
    return report::wrapped(fact_text, screen.columns, label);
  };
  std::string text =
      fact("", fmt::format("{}: products at {:.0f} GFLOP/s in bf16 and {:.0f} in fp32", device.name,
                           device.peak_flops.bf16 * device.sustained.matmul / 1e9,
                           device.peak_flops.fp32 * device.sustained_fp32->matmul / 1e9));
  text += fact("Memory   ", fmt::format("{} usable, {:.0f} GB/s", format_bytes(device.usable),
                                        device.memory_bandwidth_bytes_per_second / 1e9));
  text += request.output.empty()
              ? fact("", "Not kept; -o machine.json writes a file for --device")
              : fact("Written  ", fmt::format("{}: give it to --device", request.output));
  report::Table table({{"type"},
                       {"best product", Align::right},
                       {"a layer's", Align::right},
                       {"attention", Align::right},
                       {"its backward", Align::right},
                       {"others", Align::right},
                       {"AdamW", Align::right}});
  const double bandwidth = device.memory_bandwidth_bytes_per_second;
  add_row(table, "bf16", device.peak_flops.bf16, bandwidth, device.sustained);
  add_row(table, "fp32", device.peak_flops.fp32, bandwidth, *device.sustained_fp32);
  text += "\n" + table.text(screen);
  text += link_text("in a node", device.intra_node, screen) +
          link_text("between nodes", device.inter_node, screen);
  text += "\n" + fact("", device.note) +
          fact("", fmt::format("a kernel starts in {:.1f} us; measuring took {:.1f} s",
                               device.sustained.kernel_start_seconds * 1e6, seconds));
  return text;
}

// Nothing but a device file is replaced, and half a minute is not spent for what cannot be kept.
void require_device_file(const std::string& path) {
  shell::require_writable(path);
  std::error_code fault;
  if (!std::filesystem::is_regular_file(path, fault) || std::filesystem::is_empty(path, fault)) {
    return;
  }
  try {
    (void)hardware::read_device_file(path);
  } catch (const Error&) {
    throw Error(path, "is there already and is no device file",
                "name another file, or delete this one");
  }
}

Device measure_alone(const engine::Execution& execution, engine::Effort effort,
                     std::int64_t node_ranks) {
  constexpr std::array kComputes{DType::bf16, DType::fp32};
  const Bytes share(engine::available_memory().count() / node_ranks);
  return engine::measure_machine({processor_name(), share}, kComputes, execution, effort);
}

// As one of several ranks: all measure their kernels at the same time, as they run in a step, then
// the messages between them. The answer is rank 0's; the others have none.
std::optional<Device> measure_together(const JoinedRanks& ranks, const engine::Execution& execution,
                                       engine::Effort effort) {
  engine::Communicator& world = *ranks.communicator();
  const engine::RankPlace& place = ranks.place();
  const auto warnings = engine::check_ranks(
      {world.size(), execution.threads, shared_memory(place), "fourhold measure"}, place);
  const engine::RankRates rates = engine::measure_ranks(world, effort, execution.threads);
  engine::meet(world);
  const Device own = measure_alone(execution, effort, place.node_ranks);
  Device device = engine::common_device(world, own);
  engine::meet(world);  // none leaves before all were heard
  if (world.rank() != 0) return std::nullopt;
  for (const std::string& text : warnings) shell::write_note(shell::labelled("note: ", text));
  engine::set_links(device, rates, world.name());
  return device;
}

ExitCode measure_as(const Question& question, const api::MeasureRequest& request,
                    const JoinedRanks& ranks) {
  if (!request.output.empty()) require_device_file(request.output);
  const engine::Isa isa = use_isa(request.plan.isa);
  const engine::Execution execution{.threads = threads_of(request.plan.threads.value_or(0)),
                                    .isa = isa};
  const auto effort = request.quick ? engine::Effort::quick : engine::Effort::thorough;
  const double begin = engine::steady_seconds();
  const std::optional<Device> measured = ranks.communicator() == nullptr
                                             ? measure_alone(execution, effort, 1)
                                             : measure_together(ranks, execution, effort);
  if (!measured) return ExitCode::done;
  const double seconds = engine::steady_seconds() - begin;
  const json::Value file = hardware::device_json(*measured);
  if (!request.output.empty()) shell::write_file(request.output, json::write(file) + "\n");
  shell::write_output(
      question.form == api::Form::json
          ? json::write(json::Object{
                {"schema", "fourhold.measure/1"}, {"seconds", seconds}, {"device", file}}) +
                "\n"
          : text_of(*measured, request, seconds, question.screen));
  return ExitCode::done;
}

}  // namespace

ExitCode measure(const Question& question) {
  api::MeasureRequest request;
  try {
    request = api::request_of<api::MeasureRequest>(question.arguments);
  } catch (const Error&) {
    return refuse_on_all_ranks();
  }
  JoinedRanks ranks;
  return ranks.run([&] { return measure_as(question, request, ranks); });
}

}  // namespace fourhold::engine_app
