#include "fourhold/confidence/observation.h"

#include <array>
#include <cctype>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/near_match.h"
#include "fourhold/base/parse_number.h"
#include "fourhold/base/quantity.h"

namespace fourhold::confidence {
namespace {

constexpr std::string_view kExample = "for example --observed \"memory=71.3GiB step=2.41s\"";

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}

double observed_seconds(std::string_view text, const std::string& where) {
  constexpr double kMilliseconds = 1e-3;
  double unit = 0;
  std::string_view digits = text;
  if (ends_with(text, "ms")) {
    unit = kMilliseconds;
    digits.remove_suffix(2);
  } else if (ends_with(text, "s")) {
    unit = 1;
    digits.remove_suffix(1);
  }
  const std::optional<double> number = parse_number(digits);
  if (unit == 0 || !number || *number <= 0) {
    throw Error(where, fmt::format("'step={:.40}' is no time", text),
                "give the seconds of one optimizer step, as step=2.41s or step=85ms");
  }
  return *number * unit;
}

Bytes observed_bytes(std::string_view text, const std::string& where) {
  const bool has_unit = !text.empty() && std::isalpha(static_cast<unsigned char>(text.back())) != 0;
  if (!has_unit) {
    throw Error(where, fmt::format("'memory={:.40}' has no unit", text),
                "give what one device held, as memory=71.3GiB");
  }
  const Bytes bytes = parse_bytes(text, where);
  if (bytes <= Bytes(0)) {
    throw Error(where, fmt::format("'memory={:.40}' is nothing", text),
                "give what one device held, as memory=71.3GiB");
  }
  return bytes;
}

void read_item(std::string_view item, const std::string& where, Observation& observation) {
  const std::size_t equals = item.find('=');
  const std::string_view key = item.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view{} : item.substr(equals + 1);
  const auto refuse_second = [&](bool is_known) {
    if (is_known) throw Error(where, fmt::format("gives {} twice", key), std::string(kExample));
  };
  if (equals != std::string_view::npos && key == "memory") {
    refuse_second(observation.memory.has_value());
    observation.memory = observed_bytes(value, where);
  } else if (equals != std::string_view::npos && key == "step") {
    refuse_second(observation.step_seconds.has_value());
    observation.step_seconds = observed_seconds(value, where);
  } else if (key == "memory" || key == "step") {
    throw Error(where, fmt::format("'{}' has no value", key), std::string(kExample));
  } else {
    const std::string near = did_you_mean(key, {"memory", "step"});
    throw Error(where, fmt::format("'{:.40}' is nothing that is observed", item),
                fmt::format("{}{}{}", near, near.empty() ? "" : " ", kExample));
  }
}

}  // namespace

Observation parse_observation(std::string_view text, const std::string& where) {
  constexpr std::string_view kBetween = " ,\t";
  Observation observation;
  std::size_t at = text.find_first_not_of(kBetween);
  while (at != std::string_view::npos) {
    const std::size_t end = text.find_first_of(kBetween, at);
    read_item(text.substr(at, end - at), where, observation);
    at = text.find_first_not_of(kBetween, end);
  }
  if (!observation.memory && !observation.step_seconds) {
    throw Error(where, "names nothing that was observed", std::string(kExample));
  }
  return observation;
}

}  // namespace fourhold::confidence
