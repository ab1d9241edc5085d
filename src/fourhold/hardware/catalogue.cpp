#include "fourhold/hardware/catalogue.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/ascii.h"
#include "fourhold/base/error.h"
#include "fourhold/base/near_match.h"
#include "fourhold/hardware/device_file.h"

namespace fourhold::hardware {
namespace {

// Lower-case runs of letters and digits: "RTX PRO 6000 (96GB)" gives rtx, pro, 6000, 96gb.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char raw : text) {
    const char c = lowered(raw);
    const bool part = is_letter(c) || is_digit(c) || c == '+';
    if (part && !inside) words.emplace_back();
    if (part) words.back() += c;
    inside = part;
  }
  // Drivers print the maker in front of the product.
  constexpr std::array<std::string_view, 6> kMakers{"nvidia", "amd",   "instinct",
                                                    "google", "cloud", "tesla"};
  while (words.size() > 1 &&
         std::find(kMakers.begin(), kMakers.end(), words.front()) != kMakers.end()) {
    words.erase(words.begin());
  }
  return words;
}

// The spelling that decides equality: words joined without separators.
std::string folded(std::string_view text) {
  std::string out;
  for (const std::string& word : words_of(text)) out += word;
  return out;
}

bool lists(const std::vector<std::string>& spellings, const std::string& wanted) {
  return std::any_of(spellings.begin(), spellings.end(),
                     [&wanted](const std::string& spelling) { return folded(spelling) == wanted; });
}

// The other built-in devices whose names hold every word of the short one, as text.
std::string others_sharing(const std::string& name, const std::string& chosen) {
  const std::vector<std::string> wanted = words_of(name);
  std::string others;
  for (const EmbeddedFile& file : embedded_devices()) {
    if (file.name == chosen) continue;
    const std::vector<std::string> words = words_of(file.name);
    const bool holds_all =
        std::all_of(wanted.begin(), wanted.end(), [&words](const std::string& word) {
          return std::find(words.begin(), words.end(), word) != words.end();
        });
    if (!holds_all) continue;
    if (!others.empty()) others += ", ";
    others += file.name;
  }
  return others;
}

LoadedDevice with_notes(Device device, std::vector<std::string> notes) {
  if (!device.note.empty()) notes.push_back(fmt::format("{}: {}", device.name, device.note));
  return {std::move(device), std::move(notes)};
}

std::optional<LoadedDevice> built_in(const std::string& name) {
  const std::string wanted = folded(name);
  if (wanted.empty()) return std::nullopt;
  // The file's own name first: the usual call parses one file.
  for (const EmbeddedFile& file : embedded_devices()) {
    if (folded(file.name) == wanted) {
      return with_notes(parse_device(file.text, std::string(file.name)), {});
    }
  }
  for (const EmbeddedFile& file : embedded_devices()) {
    Device device = parse_device(file.text, std::string(file.name));
    if (lists(device.aliases, wanted)) return with_notes(std::move(device), {});
    if (lists(device.default_of, wanted)) {
      std::vector<std::string> notes;
      notes.push_back(fmt::format("'{}' is taken as {}; there are also {}", name, device.name,
                                  others_sharing(name, device.name)));
      return with_notes(std::move(device), std::move(notes));
    }
  }
  return std::nullopt;
}

bool looks_like_path(std::string_view text) {
  constexpr std::string_view kExtension = ".json";
  return text.find('/') != std::string_view::npos ||
         (text.size() > kExtension.size() &&
          text.substr(text.size() - kExtension.size()) == kExtension);
}

[[noreturn]] void unknown(const std::string& name) {
  std::vector<std::string_view> candidates;
  for (const EmbeddedFile& file : embedded_devices()) candidates.push_back(file.name);
  std::string hint = did_you_mean(name, candidates);
  if (!hint.empty()) hint += " ";
  hint += "`fourhold hardware` lists the devices; a device file or --memory 24GiB also work";
  throw Error("device", fmt::format("'{:.80}' is not a known device", name), std::move(hint));
}

}  // namespace

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_devices()) names.emplace_back(file.name);
  return names;
}

LoadedDevice load_device(const std::string& name_or_path) {
  if (looks_like_path(name_or_path)) return with_notes(read_device_file(name_or_path), {});
  if (std::optional<LoadedDevice> found = built_in(name_or_path)) return *std::move(found);
  std::error_code fault;
  if (std::filesystem::is_regular_file(name_or_path, fault)) {
    return with_notes(read_device_file(name_or_path), {});
  }
  unknown(name_or_path);
}

}  // namespace fourhold::hardware
