#include "fourhold/engine/launch/hostfile.h"

#include <algorithm>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"

namespace fourhold::engine {
namespace {

constexpr std::string_view kBlanks = " \t\r";

// The next word of a line, taken from its front; "" at its end.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(kBlanks)));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

std::int64_t slots_in(std::string_view text, const std::string& where) {
  std::int64_t slots = 0;
  try {
    slots = parse_count(text, where);
  } catch (const Error& fault) {
    throw Error(where, fmt::format("names no number of slots: {}", fault.what()),
                "write one host a line, as NAME slots=N, N the ranks it takes");
  }
  if (slots >= 1) return slots;
  throw Error(where, "a host without a slot takes no rank", "leave its line out");
}

Host parse_line(std::string_view line, const std::string& where) {
  Host host;
  const std::string_view name = take_word(line);
  host.name = std::string(name.substr(0, name.find(':')));
  if (host.name.empty()) throw Error(where, "names no host", "write NAME, or NAME slots=N");
  if (name.size() > host.name.size()) {
    host.slots = slots_in(name.substr(host.name.size() + 1), where);
  }
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      throw Error(where, fmt::format("'{:.60}' is no setting of a host", word),
                  "write one host a line, as NAME slots=N");
    }
    if (word.substr(0, equals) == "slots") host.slots = slots_in(word.substr(equals + 1), where);
  }
  return host;
}

void add(std::vector<Host>& hosts, const Host& host) {
  const auto same = std::find_if(hosts.begin(), hosts.end(),
                                 [&](const Host& other) { return other.name == host.name; });
  if (same == hosts.end()) {
    hosts.push_back(host);
  } else if (same->slots && host.slots) {
    *same->slots += *host.slots;
  } else if (host.slots) {
    same->slots = host.slots;
  }
}

}  // namespace

std::vector<Host> parse_hostfile(std::string_view text, const std::string& where) {
  std::vector<Host> hosts;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), whole.size() + 1));
    const std::string_view line = whole.substr(0, whole.find('#'));
    if (line.find_first_not_of(kBlanks) == std::string_view::npos) continue;
    add(hosts, parse_line(line, fmt::format("{}:{}", where, number)));
  }
  if (hosts.empty()) throw Error(where, "names no host", "write one a line, as NAME slots=N");
  return hosts;
}

std::optional<std::int64_t> slots_of(const std::vector<Host>& hosts) {
  std::int64_t slots = 0;
  for (const Host& host : hosts) {
    if (!host.slots) return std::nullopt;
    slots += *host.slots;
  }
  return slots;
}

std::int64_t room_of(const std::vector<Host>& hosts, std::int64_t node_cores,
                     std::int64_t threads) {
  const std::int64_t each = std::max<std::int64_t>(1, node_cores / threads);
  return slots_of(hosts).value_or(each * static_cast<std::int64_t>(hosts.size()));
}

std::string host_list(const std::vector<Host>& hosts) {
  std::string list;
  for (const Host& host : hosts) {
    list += (list.empty() ? "" : ",") + host.name;
    if (host.slots) list += fmt::format(":{}", *host.slots);
  }
  return list;
}

}  // namespace fourhold::engine
