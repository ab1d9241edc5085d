#include "fourhold/api/plan_usage.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/plan/legal_values.h"

namespace fourhold::api {
namespace {

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code fault;
  if (std::filesystem::equivalent(a, b, fault)) return true;
  const auto whole = [&fault](const std::string& path) {
    // Made absolute first: what does not exist yet would else stay as it is spelled.
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, fault), fault);
  };
  return whole(a) == whole(b);
}

struct Factor {
  const char* flag;
  std::optional<std::int64_t> value;
};

// "--tp 3 x --dp 5", and the product of those that are given.
struct FactorProduct {
  std::string text;
  std::int64_t value = 1;
  int given = 0;
  Factor last{};
};
FactorProduct product_of(const std::vector<Factor>& factors) {
  FactorProduct product;
  for (const Factor& factor : factors) {
    if (!factor.value) continue;
    product.text +=
        fmt::format("{}{} {}", product.given > 0 ? " x " : "", factor.flag, *factor.value);
    product.value = plan::saturating_product({product.value, *factor.value});
    product.last = factor;
    ++product.given;
  }
  return product;
}

// What divides `whole`, or Error: one factor alone has nearest values of its own, several only the
// whole has.
void refuse_unless_divides(const FactorProduct& product, std::int64_t whole, const char* whole_flag,
                           const std::string& whole_text) {
  if (product.given == 0 || whole % product.value == 0) return;
  const std::string counts = plan::to_string(plan::multiples_around(whole, product.value));
  const std::string other = fmt::format("{} {}", whole_flag, counts);
  throw Error(product.last.flag,
              product.given == 1 ? fmt::format("{} does not divide {}", product.value, whole_text)
                                 : fmt::format("{} = {} does not divide {}", product.text,
                                               product.value, whole_text),
              product.given == 1
                  ? fmt::format("use {} {}, or {}", product.last.flag,
                                plan::nearest_text(plan::divisors(whole), product.value), other)
                  : fmt::format("use {}, or leave one of them out", other));
}

}  // namespace

void refuse_contradictions(const PlanVerbRequest& request) {
  if (!request.changes.empty()) {
    if (request.from.empty()) {
      throw Error("--change", "needs a plan to change", "add --from plan.json");
    }
    for (const auto& [given, flag] :
         {std::pair{request.pareto, "--pareto"}, std::pair{!request.svg.empty(), "--svg"},
          std::pair{!request.output.empty(), "--output"},
          std::pair{request.bounds.has_value(), "--bounds"},
          std::pair{request.tp_across_nodes, "--tp-across-nodes"}}) {
      if (!given) continue;
      throw Error(flag, "is about a search, but --change compares two plans and searches none",
                  fmt::format("leave out {} or --change", flag));
    }
  }
  const std::string& devices = request.run.target.device;
  if (!request.from.empty() && devices.find(',') != std::string::npos) {
    throw Error("--device", "lists several devices, but --from compares a plan on one",
                "name one device, or leave out --device: the plan file's own counts");
  }
  if (!request.output.empty() && !request.svg.empty() &&
      is_same_file(request.output, request.svg)) {
    throw Error("--svg", fmt::format("and --output both write '{:.60}'", request.svg),
                "name another file, such as plan.svg");
  }
}

void refuse_same_devices(const std::vector<std::string>& names, const RunRequest& run) {
  std::vector<std::pair<std::string, std::int64_t>> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    TargetRequest one = run.target;
    one.device = names[i];
    const std::optional<Target> target = load_target(one);
    std::pair key{target->cluster.device.name, target->listed};
    const auto same = std::find(seen.begin(), seen.end(), key);
    if (same != seen.end()) {
      const std::string& first = names[static_cast<std::size_t>(same - seen.begin())];
      throw Error("--device",
                  first == names[i] ? fmt::format("names '{:.60}' twice", first)
                                    : fmt::format("'{:.60}' and '{:.60}' are the same device, {}",
                                                  first, names[i], key.first),
                  "name each device once: they are compared, and --count says how many there are");
    }
    seen.push_back(std::move(key));
  }
}

void refuse_impossible_splits(const plan::PlanRequest& request) {
  refuse_unless_divides(
      product_of(
          {{"--tp", request.tp}, {"--pp", request.pp}, {"--cp", request.cp}, {"--dp", request.dp}}),
      *request.count, "--count", fmt::format("the {} devices", *request.count));
  refuse_unless_divides(product_of({{"--dp", request.dp},
                                    {"--grad-accum", request.grad_accum},
                                    {"--micro-batch", request.micro_batch}}),
                        *request.global_batch, "--global-batch",
                        fmt::format("the global batch of {}", *request.global_batch));
}

}  // namespace fourhold::api
