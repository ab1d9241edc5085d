#include "fourhold/api/plan_file_conflict.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "fourhold/api/option.h"
#include "fourhold/base/error.h"
#include "fourhold/plan/field_value.h"
#include "fourhold/plan/legal_values.h"
#include "fourhold/plan/plan_fields.h"

namespace fourhold::api {
namespace {

// The value as --change takes it.
std::string change_text(const json::Value& value) {
  if (value.is_string()) return value.string();
  if (!value.is_array()) return json::write(value, json::Layout::one_line);
  std::string list;
  for (const json::Value& one : value.array()) {
    list += (list.empty() ? "" : ",") + json::write(one, json::Layout::one_line);
  }
  return list;
}

// " --change tp=2 --change zero=1": the flags that differ from the file.
std::string changes_text(const plan::PlanRequest& flags, const plan::PlanRequest& file) {
  std::string text;
  plan::visit_fields(
      [&text](const plan::FieldInfo& info, const auto& flag, const auto& filed) {
        if (!flag || flag == filed) return;
        text += fmt::format(" --change {}={}", info.name, change_text(plan::field_json(*flag)));
      },
      flags, file);
  return text;
}

struct Member {
  std::string_view name;
  std::optional<std::int64_t> flag;
  std::optional<std::int64_t> filed;
  bool follows = false;  // from the others, where it is not stated

  [[nodiscard]] std::int64_t value() const { return flag.value_or(filed.value_or(1)); }
};

bool is_stated(const Member& member) { return member.flag || member.filed; }

// What follows, and only the file says it.
bool is_filed(const Member& member) { return member.follows && !member.flag && member.filed; }

// Factors whose product must be `whole`.
struct Product {
  std::vector<Member> factors;
  Member whole;
  std::vector<std::string_view> followers;  // what to leave open, best first

  [[nodiscard]] std::int64_t value() const {
    std::int64_t product = 1;
    for (const Member& factor : factors) {
      product = plan::saturating_product({product, factor.value()});
    }
    return product;
  }
  [[nodiscard]] std::vector<Member> members() const {
    std::vector<Member> all = factors;
    all.push_back(whole);
    return all;
  }
};

// The flag at fault, where flags and file together contradict each other and neither does alone.
std::optional<Member> culprit_of(const Product& product) {
  const std::vector<Member> all = product.members();
  const bool known = std::all_of(all.begin(), all.end(), [](const Member& member) {
    return is_stated(member) || !member.follows;
  });
  if (!known || !is_stated(product.whole) || product.value() == product.whole.value()) {
    return std::nullopt;
  }
  const auto flag = std::find_if(all.begin(), all.end(), [](const Member& member) {
    return member.flag && member.flag != member.filed;
  });
  if (flag == all.end() || std::none_of(all.begin(), all.end(), is_filed)) return std::nullopt;
  return *flag;
}

std::string product_text(const Product& product) {
  std::string names;
  std::string values;
  for (const Member& factor : product.factors) {
    const std::string_view times = names.empty() ? "" : " x ";
    names += fmt::format("{}{}", times, factor.name);
    values += fmt::format("{}{}", times, factor.value());
  }
  return fmt::format("{} = {} = {}", names, values, product.value());
}

// "dp 8 and count 8": what the file states of the product that no flag does.
std::string filed_text(const Product& product) {
  std::string text;
  for (const Member& member : product.members()) {
    if (!is_filed(member)) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : " and ", member.name, *member.filed);
  }
  return text;
}

std::string_view follower_of(const Product& product) {
  const std::vector<Member> all = product.members();
  const auto is_open = [&all](std::string_view name) {
    return std::any_of(all.begin(), all.end(), [name](const Member& member) {
      return member.name == name && is_filed(member);
    });
  };
  const auto found = std::find_if(product.followers.begin(), product.followers.end(), is_open);
  return found == product.followers.end() ? product.followers.back() : *found;
}

void refuse_product(const FlagsOverFile& given, const Product& product) {
  const std::optional<Member> culprit = culprit_of(product);
  if (!culprit) return;
  std::string changes = changes_text(given.flags, given.file);
  if (given.flags.count) {
    // Devices are no field of a plan: its replicas are.
    const std::int64_t replica = product.value() / product.factors.back().value();
    const bool replicas_follow =
        culprit->name == plan::kCountField.name && *culprit->flag % replica == 0;
    changes = replicas_follow ? fmt::format(" --change dp={}{}", *culprit->flag / replica, changes)
                              : std::string();
  }
  std::string hint;
  if (!changes.empty()) {
    hint = fmt::format("`fourhold plan {}{}--from {}{}` lets what depends on it follow; or ",
                       given.model, given.model.empty() ? "" : " ", given.path, changes);
  }
  throw Error(flag_of(culprit->name),
              fmt::format("is {}, but {} states {}: {}", *culprit->flag, given.path,
                          filed_text(product), product_text(product)),
              fmt::format("{}take {} out of {}", hint, follower_of(product), given.path));
}

}  // namespace

void refuse_conflict(const FlagsOverFile& given) {
  const plan::PlanRequest& flags = given.flags;
  const plan::PlanRequest& file = given.file;
  const Member tp{"tp", flags.tp, file.tp};
  const Member pp{"pp", flags.pp, file.pp};
  const Member dp{"dp", flags.dp, file.dp, true};
  refuse_product(given, {{tp, pp, {"cp", flags.cp, file.cp}, dp},
                         {plan::kCountField.name, flags.count, file.count, true},
                         {"dp", "count"}});
  refuse_product(given, {{{"micro_batch", flags.micro_batch, file.micro_batch, true},
                          {"grad_accum", flags.grad_accum, file.grad_accum, true},
                          dp},
                         {"global_batch", flags.global_batch, file.global_batch, true},
                         {"grad_accum", "global_batch"}});
  if (flags.layers_per_stage || !file.layers_per_stage) return;
  const auto stages = static_cast<std::int64_t>(file.layers_per_stage->size());
  refuse_product(given, {{pp, {"vpp", flags.vpp, file.vpp}},
                         {"layers_per_stage of length", std::nullopt, stages, true},
                         {"layers_per_stage"}});
}

}  // namespace fourhold::api
