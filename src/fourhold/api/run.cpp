#include "fourhold/api/run.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fourhold/api/calibration.h"
#include "fourhold/api/defaults.h"
#include "fourhold/api/plan_file_use.h"
#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/model/load_model.h"
#include "fourhold/plan/compute_type.h"
#include "fourhold/predict/rated_type.h"

namespace fourhold::api {
namespace {

// What a run needs and hardly anybody states: said when it was chosen here.
void list_chosen(const plan::PlanRequest& request, std::vector<std::string>& chosen) {
  const auto add = [&chosen](bool given, const char* name) {
    if (!given) chosen.emplace_back(name);
  };
  const auto decide = [](const auto& a, const auto& b) { return a.has_value() && b.has_value(); };
  add(request.seq.has_value(), "seq");
  add(request.micro_batch || decide(request.global_batch, request.grad_accum), "micro_batch");
  add(request.grad_accum || decide(request.global_batch, request.micro_batch), "grad_accum");
  add(request.global_batch || decide(request.micro_batch, request.grad_accum), "global_batch");
  if (plan::open_choices(request).vpp) chosen.emplace_back("vpp");
  add(request.zero.has_value(), "zero");
  add(request.recompute.has_value(), "recompute");
  add(request.offload.has_value(), "offload");
  add(request.precision.has_value(), "precision");
  add(request.optimizer.has_value(), "optimizer");
  add(request.profile.has_value(), "profile");
  if (request.tuning) {
    add(request.lora_rank.has_value() || request.tuning == plan::Tuning::full, "lora_rank");
  }
}

void refuse_without_device(const LoadedRun& run) {
  const TargetRequest& asked = run.target_request;
  if (run.target || !(asked.headroom || asked.host_memory || asked.confidence)) return;
  throw Error(asked.headroom     ? "--headroom"
              : asked.confidence ? "--confidence"
                                 : "--host-memory",
              "means nothing without a device", "add --device or --memory");
}

// "99.92%", never more than it is.
std::string percent_below(double share) {
  constexpr double kHundredths = 1e4;
  return fmt::format("{:g}%", std::floor(share * kHundredths) / (kHundredths / 100));
}

void refuse_more_than_runs_show(double confidence, const confidence::Basis& basis) {
  const double most = confidence::most_confidence(basis);
  if (confidence <= most) return;
  throw Error(
      "--confidence",
      fmt::format("is {:g}%, but {} show at most {}: the next run is beyond all {} with "
                  "probability 1/{}",
                  confidence * 100, confidence::basis_text(basis), percent_below(most),
                  format_count(basis.rows), format_count(basis.rows + 1)),
      fmt::format("ask for {} or less, or keep a share free with --headroom", percent_below(most)));
}

// What --confidence asks for is decided as headroom, so that a search proves its plans as ever.
void keep_free_for_confidence(LoadedRun& run) {
  TargetRequest& target = run.target_request;
  if (!target.confidence) return;
  if (target.headroom) {
    throw Error("--confidence", "and --headroom both say how much must stay free",
                "give one of them");
  }
  if (run.residuals.memory) refuse_more_than_runs_show(*target.confidence, *run.residuals.memory);
  target.sure_headroom = headroom_for(run.residuals, *target.confidence);
  if (run.residuals.exact_bytes) {
    run.notes.push_back(fmt::format(
        "--confidence {:g}% keeps nothing free: profile {} reserves the predicted bytes",
        *target.confidence * 100, run.profile.name));
  } else if (run.residuals.memory) {
    run.notes.push_back(fmt::format(
        "--confidence {:g}% keeps {:.1f}% of the device free: {:g}% of {} needed no more than the "
        "rest where this was predicted",
        *target.confidence * 100, target.sure_headroom * 100, *target.confidence * 100,
        confidence::basis_text(*run.residuals.memory)));
  }
}

// Positions that are learned end with their table (refused); others are computed for any length,
// but the weights were not trained beyond it.
void add_length_note(const model::ModelConfig& model, std::int64_t seq,
                     std::vector<std::string>& notes) {
  if (model.max_positions == 0 || seq <= model.max_positions) return;
  if (model.position == model::PositionKind::learned) return;
  notes.push_back(fmt::format(
      "seq {} is longer than the {} positions of the model's config: bytes and time are those of "
      "seq {}, but published weights must first be made to reach as far{}",
      format_count(seq), format_count(model.max_positions), format_count(seq),
      model.position == model::PositionKind::rotary ? " (RoPE scaling)" : ""));
}

// The device's own profile, those of its maker's devices, then those for any.
std::string profiles_for(const hardware::Device& device) {
  std::vector<std::string> names;
  std::vector<std::string> general;
  for (const std::string& name : plan::profile_names()) {
    const std::vector<std::string> vendors = plan::load_profile(name).vendors;
    const bool lists = std::find(vendors.begin(), vendors.end(), device.vendor) != vendors.end();
    if (lists || name == device.default_profile) {
      names.push_back(name);
    } else if (vendors.empty() && name != "fourhold") {
      general.push_back(name);
    }
  }
  names.insert(names.end(), general.begin(), general.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

void check_vendor(const plan::Profile& profile, const hardware::Device& device,
                  std::vector<std::string>& notes) {
  const std::vector<std::string>& vendors = profile.vendors;
  if (vendors.empty() || device.vendor.empty()) return;
  if (std::find(vendors.begin(), vendors.end(), device.vendor) != vendors.end()) return;
  const std::string makers = fmt::format("{}", fmt::join(vendors, " and "));
  if (profile.other_vendors == plan::OtherVendors::refused) {
    throw Error("--profile",
                fmt::format("{} runs on devices of {}, but {} is of {}", profile.name, makers,
                            device.name, device.vendor),
                fmt::format("use {}, or another --device", profiles_for(device)));
  }
  notes.push_back(
      fmt::format("profile {} describes runs on devices of {}: on {}, of {}, bytes and "
                  "times are others; for that device there are {}",
                  profile.name, makers, device.name, device.vendor, profiles_for(device)));
}

}  // namespace

void add_rate_note(const hardware::Device& device, DType compute, std::vector<std::string>& notes) {
  if (device.peak_flops == hardware::PeakFlops{}) return;  // nothing but memory
  const std::optional<DType> rated = predict::rated_type(device, compute);
  if (rated == compute) return;
  const std::string_view asked = to_string(compute);
  if (rated) {
    notes.push_back(fmt::format(
        "{0} has no {1} rate: its {2} rate is taken for {1} products; --precision {2} is what it "
        "has, or a device file with peak_flops.{1}",
        device.name, asked, to_string(*rated)));
  } else if (device.peak_flops.fp32 > 0) {
    notes.push_back(
        fmt::format("{} has no {} arithmetic: {} weights would be multiplied in another type; "
                    "--precision fp32 is what it has",
                    device.name, asked, asked));
  }
}

void fill_from_target(const std::optional<Target>& target, plan::PlanRequest& request,
                      std::vector<std::string>& notes) {
  if (!target) {
    if (!request.profile) request.profile = "standard";
    return;
  }
  const hardware::Device& device = target->cluster.device;
  if (target->listed > 1) {
    if (request.count && *request.count != target->listed) {
      throw Error(
          "--count",
          fmt::format("is {}, but --device lists {} devices", *request.count, target->listed),
          "leave out --count, or list as many devices");
    }
    request.count = target->listed;
  }
  if (!request.profile) {
    request.profile = device.default_profile.empty() ? "standard" : device.default_profile;
  }
  const hardware::PeakFlops& peak = device.peak_flops;
  if (request.precision) {
    add_rate_note(device, plan::compute_type(*request.precision), notes);
  }
  if (!request.precision && peak.bf16 == 0 && peak.fp32 > 0) {
    const bool half = peak.fp16 > 0;
    request.precision = half ? plan::Precision::fp16 : plan::Precision::fp32;
    notes.push_back(
        fmt::format("{} has no bf16 arithmetic: {}", device.name,
                    half ? "fp16 is taken, which needs loss scaling" : "fp32 is taken"));
  }
}

LoadedRun load_run(const RunRequest& asked) {
  RunRequest request = asked;
  read_plan_file(request);
  if (request.model.empty()) {
    throw Error("MODEL", "is missing",
                "name a built-in model (`fourhold models` lists them) or a config.json");
  }
  LoadedRun run;
  run.model = model::load_model(request.model);
  run.counts = model::count_parameters(run.model);
  run.target_request = request.target;
  run.target = load_target(request.target);
  refuse_without_device(run);
  run.request = std::move(request.plan);
  list_chosen(run.request, run.chosen);

  run.notes = std::move(request.notes);
  run.notes.insert(run.notes.end(), run.model.notes.begin(), run.model.notes.end());
  if (run.target) {
    run.notes.insert(run.notes.end(), run.target->notes.begin(), run.target->notes.end());
  }
  fill_from_target(run.target, run.request, run.notes);
  run.profile = plan::load_profile(*run.request.profile);
  if (run.target) {
    check_vendor(run.profile, run.target->cluster.device, run.notes);
    run.profile.workspaces = plan::workspaces_of(run.target->cluster.device.compute_capability);
  }
  run.residuals = residuals_of(
      run.profile, run.target ? std::string_view(run.target->cluster.device.generation) : "");
  apply_corrections(read_calibration(request, Missing::is_a_fault), run);
  keep_free_for_confidence(run);
  if (!run.request.seq) run.request.seq = usual_seq(run.model);
  add_length_note(run.model, *run.request.seq, run.notes);
  return run;
}

std::string display_name(const std::string& name) {
  // "models/mine/config.json" is called mine/config.json.
  const std::size_t last = name.rfind('/');
  if (last == std::string::npos || last == 0) return name;
  const std::size_t before = name.rfind('/', last - 1);
  return before == std::string::npos ? name : name.substr(before + 1);
}

}  // namespace fourhold::api
