// What `fourhold fit` prints: the answer in three lines, the picture, what to change, how far it
// goes.
#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "fourhold/api/fit.h"
#include "fourhold/api/run_text.h"
#include "fourhold/base/quantity.h"
#include "fourhold/report/table.h"
#include "fourhold/report/text.h"

namespace fourhold::api {
namespace {

bool fits(const FitResult& result) { return predict::fits(result.verdict.verdict); }

std::string verdict_line(const FitResult& result, const report::Screen& screen) {
  // What is offloaded is not the device's.
  const bool offloads = result.memory && result.memory->host_bytes > Bytes(0);
  const Sizes sizes{
      .state = offloads ? Bytes(result.memory->worst().state_bytes) : result.state.total(),
      .needed = result.memory ? predict::shown_bytes(*result.memory, result.verdict.verdict)
                              : result.state.at_step(),
      .capacity = result.capacity};
  Wording wording = verdict_wording(result.verdict, sizes);
  if (!result.memory && fits(result)) {
    wording.full = "the state " + wording.full;
    wording.brief = wording.full;
  }
  return headline({result.name, result.device, result.plan.devices()}, wording,
                  verdict_ink(result.verdict), screen);
}

std::string parameters_text(std::int64_t count) {
  return format_count(count) + (count == 1 ? " parameter" : " parameters");
}

// "State 119.66 GiB (16 bytes x 8,030,261,248 parameters), activations 8.32 GiB, of 23.51 GiB":
// what is offloaded is not the device's.
std::string numbers_line(const FitResult& result, const report::Screen& screen) {
  const std::string state = format_bytes(result.state.total());
  // Two decimals where they say something: 16, 3.75, 1.88.
  std::string each = fmt::format("{:.2f}", result.state.bytes_per_parameter);
  each.erase(each.find_last_not_of('0') + 1);
  if (each.back() == '.') each.pop_back();
  const std::string per = result.plan.devices() > 1 ? " per device" : "";
  const std::string parameters = parameters_text(result.parameters);
  std::string rest;
  if (result.activations) rest = ", activations " + format_bytes(result.activations->total);
  rest += ", of " + format_bytes(predict::budget_of(result.capacity));
  if (result.memory && result.memory->host_bytes > Bytes(0)) {
    const std::string here = format_bytes(Bytes(result.memory->worst().state_bytes));
    const std::string host = format_bytes(result.memory->host_bytes);
    return report::first_that_fits(
               {fmt::format("State{} {} here and {} on the host{}", per, here, host, rest),
                fmt::format("State {}, {} on the host{}", here, host, rest)},
               screen.columns) +
           "\n";
  }
  return report::first_that_fits(
             {fmt::format("State{} {} ({} bytes x {}){}", per, state, each, parameters, rest),
              fmt::format("State{} {} ({} bytes per parameter){}", per, state, each, rest),
              fmt::format("State{} {} ({} bytes each){}", per, state, each, rest),
              fmt::format("State{} {}{}", per, state, rest)},
             screen.columns) +
         "\n";
}

std::string largest_text(const FitResult& result, const report::Screen& screen) {
  if (result.largest.empty()) return {};
  const auto count = [](std::int64_t value) {
    return value == 0 ? std::string("none fits") : format_count(value);
  };
  report::Table table(
      {{"recompute"},
       {fmt::format("micro-batch at seq {}", result.plan.seq), report::Align::right},
       {fmt::format("seq at micro-batch {}", result.plan.micro_batch), report::Align::right}});
  for (const predict::Largest& row : result.largest) {
    table.add({row.recompute, count(row.micro_batch), count(row.seq)});
  }
  return title_text("Largest that fits", screen) + table.text(screen, 2);
}

std::string largest_line(const FitResult& result, const report::Screen& screen) {
  for (const predict::Largest& row : result.largest) {
    if (row.recompute != plan::to_string(result.plan.recompute)) continue;
    const std::string batch = format_count(row.micro_batch);
    const std::string seq = format_count(row.seq);
    return report::first_that_fits(
               {fmt::format(
                    "It has room for micro-batch {} at seq {}, or seq {} at micro-batch {}.", batch,
                    result.plan.seq, seq, result.plan.micro_batch),
                fmt::format("It has room for micro-batch {}, or for seq {}.", batch, seq)},
               screen.columns) +
           "\n";
  }
  return "Nothing needs to change.\n";
}

std::string third_line(const FitResult& result, const report::Screen& screen) {
  if (!fits(result)) return first_answer_text(result.verdict, screen);
  if (std::string close = result.sure ? closeness_text(*result.sure, screen) : ""; !close.empty()) {
    return close;
  }
  if (result.memory) return largest_line(result, screen);
  const Bytes room = predict::budget_of(result.capacity) - result.state.at_step();
  return report::first_that_fits(
             {fmt::format("{} are left for activations; name a MODEL to know what they take.",
                          format_bytes(room)),
              fmt::format("{} are left for activations.", format_bytes(room))},
             screen.columns) +
         "\n";
}

// Facts beside the answer, one line each.
std::string fact_lines(const FitResult& result, const report::Screen& screen) {
  std::string text;
  const auto add = [&](std::string_view label, const std::string& fact) {
    text += report::wrapped(fact, screen.columns, report::padded_right(label, 8));
  };
  add("Why", result.verdict.explanation);
  if (result.sure) text += sureness_text(*result.sure, screen);
  if (result.state.step_temporary > Bytes(0)) {
    add("Step", fmt::format("the optimizer holds {} more while it runs: {} in all",
                            format_bytes(result.state.step_temporary),
                            format_bytes(result.state.at_step())));
  }
  add("Serving", fmt::format("would hold {} of weights alone, {}", format_bytes(result.serving),
                             parameters_text(result.counts.total)));
  if (result.zero3_devices) {
    add("Sharded", *result.zero3_devices == 1
                       ? std::string("not needed: the state alone fits one device")
                       : fmt::format("with ZeRO-3 the state alone fits {} devices, and any more",
                                     format_count(*result.zero3_devices)));
  }
  if (result.activations) {
    add("Layer", fmt::format("each keeps {} from forward to backward; the logits take {}",
                             format_bytes(result.activations->per_layer),
                             format_bytes(result.activations->logits)));
  }
  if (!result.memory) return text;
  if (result.memory->startup_bytes > result.memory->device_bytes) {
    add("Loading",
        fmt::format("the model holds {} first", format_bytes(result.memory->startup_bytes)));
  }
  if (const std::string host = on_host_text(*result.memory); !host.empty()) {
    add("Host", host + ", per device");
  }
  // Nothing is searched here, and what plan would choose by itself is said to be an answer.
  ChosenHow how;
  for (const std::string_view open : {"zero", "recompute", "offload"}) {
    if (std::find(result.chosen.begin(), result.chosen.end(), open) == result.chosen.end())
      continue;
    how.defaults =
        "so as plain as can be: fit judges that and lists what a change does; predict and plan "
        "choose ZeRO, recomputation and offload so that it fits";
  }
  return text + plan_text(result.plan, result.chosen, screen, how);
}

}  // namespace

std::string to_text(const FitResult& result, const report::Screen& screen) {
  std::string text = verdict_line(result, screen);
  text += numbers_line(result, screen);
  text += third_line(result, screen);
  text += "\n" + report::draw(bars_of(result), screen);
  text += "\n" + fact_lines(result, screen);
  const std::string answers = answers_text(result.verdict, screen);
  if (!answers.empty()) text += "\n" + answers;
  const std::string largest = largest_text(result, screen);
  if (!largest.empty()) text += "\n" + largest;
  return text;
}

}  // namespace fourhold::api
