#include "fourhold/model/checkpoint_header.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <ios>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/base/quantity.h"
#include "fourhold/base/text_file.h"
#include "fourhold/model/checkpoint_entry.h"
#include "fourhold/model/foreign_file.h"
#include "fourhold/model/header_scanner.h"

namespace fourhold::model {
namespace {

constexpr std::int64_t kPrefixBytes = 8;
constexpr std::string_view kMetadataName = "__metadata__";

std::uint64_t little_endian_u64(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 8; i-- > 0;) {
    value = value << 8U | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

// N, checked against the format's limit and the file. Error otherwise.
std::int64_t header_length(std::string_view start, std::int64_t file_bytes,
                           const std::string& where) {
  const std::uint64_t length = file_bytes < kPrefixBytes ? 0 : little_endian_u64(start);
  const bool too_long = length > static_cast<std::uint64_t>(kMaxHeaderBytes);
  // A length within the limit is believed: its bytes may spell anything ("<h" is 26,684).
  if (file_bytes < kPrefixBytes || too_long) {
    if (const std::optional<ForeignFile> foreign = recognise_foreign_file(start)) {
      throw Error(where, foreign->what, foreign->hint);
    }
  }
  if (file_bytes < kPrefixBytes) {
    throw Error(where,
                fmt::format("has {} bytes; a safetensors file starts with 8 bytes that give the "
                            "length of its header",
                            file_bytes),
                "the file is empty or cut short: download it again");
  }
  if (too_long) {
    throw Error(where,
                fmt::format("byte 0: a header of {} bytes is above the limit of {}", length,
                            format_count(kMaxHeaderBytes)),
                "this is not a safetensors file");
  }
  const auto bytes = static_cast<std::int64_t>(length);
  if (bytes > file_bytes - kPrefixBytes) {
    throw Error(where,
                fmt::format("byte 0: a header of {} bytes ends past the end of the file, which has "
                            "{} bytes",
                            bytes, file_bytes),
                "the file is cut short: download it again");
  }
  return bytes;
}

struct NamedOffset {
  std::string_view name;
  std::int64_t at = 0;
};

// Faults at the second place of a name that stands twice.
void refuse_duplicates(const HeaderScanner& scanner, std::vector<NamedOffset> names,
                       std::string_view kind) {
  std::sort(names.begin(), names.end(), [](const NamedOffset& a, const NamedOffset& b) {
    return a.name != b.name ? a.name < b.name : a.at < b.at;
  });
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (names[i].name != names[i - 1].name) continue;
    scanner.fail_at(names[i].at, fmt::format("{} '{:.80}' is given twice", kind, names[i].name));
  }
}

std::vector<std::pair<std::string, std::string>> read_metadata(HeaderScanner& scanner) {
  std::vector<std::pair<std::string, std::string>> metadata;
  scanner.expect('{', "before the metadata");
  if (scanner.take('}')) return metadata;
  std::vector<std::int64_t> offsets;
  do {
    offsets.push_back(scanner.offset());
    std::string key = scanner.string("a key of the metadata");
    scanner.expect(':', "after a key of the metadata");
    metadata.emplace_back(std::move(key), scanner.string("a value of the metadata"));
  } while (scanner.take(','));
  scanner.expect('}', "after the metadata");
  std::vector<NamedOffset> names;
  names.reserve(metadata.size());
  for (std::size_t i = 0; i < metadata.size(); ++i) {
    names.push_back({metadata[i].first, offsets[i]});
  }
  refuse_duplicates(scanner, std::move(names), "the metadata key");
  return metadata;
}

std::vector<NamedOffset> names_of(const std::vector<HeaderEntry>& entries) {
  std::vector<NamedOffset> names;
  names.reserve(entries.size());
  for (const HeaderEntry& entry : entries) names.push_back({entry.tensor.name, entry.at});
  return names;
}

// The data must be laid without hole or overlap, from the start of the data area to its end.
void check_layout(const HeaderScanner& scanner, const std::vector<HeaderEntry>& entries,
                  std::int64_t data_bytes) {
  std::int64_t reached = 0;
  for (const HeaderEntry& entry : entries) {
    const StoredTensor& tensor = entry.tensor;
    if (tensor.begin < reached) {
      scanner.fail_at(entry.at, fmt::format("'{:.80}' begins at {}, inside the tensor before it, "
                                            "which ends at {}",
                                            tensor.name, tensor.begin, reached));
    }
    if (tensor.begin > reached) {
      scanner.fail_at(entry.at, fmt::format("'{:.80}' begins at {}, which leaves a hole after {}",
                                            tensor.name, tensor.begin, reached));
    }
    reached = tensor.end;
  }
  if (reached == data_bytes) return;
  scanner.fail_at(0,
                  fmt::format("the tensors take {} bytes, but {} bytes of data follow the "
                              "header",
                              format_count(reached), format_count(data_bytes)),
                  reached > data_bytes ? "the file is cut short: download it again"
                                       : "the file has bytes that no tensor uses");
}

}  // namespace

CheckpointHeader parse_checkpoint_header(std::string_view start, std::int64_t file_bytes,
                                         const std::string& where) {
  const std::int64_t length = header_length(start, file_bytes, where);
  const std::string_view text = start.substr(kPrefixBytes, static_cast<std::size_t>(length));
  HeaderScanner scanner(text, kPrefixBytes, where);
  if (text.empty() || text.front() != '{') {
    scanner.fail_at(kPrefixBytes, "the header does not start with '{'",
                    "this is not a safetensors file");
  }

  CheckpointHeader header;
  std::vector<HeaderEntry> entries;
  bool has_metadata = false;
  scanner.expect('{', "at the start of the header");
  if (!scanner.take('}')) {
    do {
      const std::int64_t at = scanner.offset();
      std::string name = scanner.string("the name of a tensor");
      scanner.expect(':', "after the name of a tensor");
      if (name != kMetadataName) {
        entries.push_back(read_header_entry(scanner, std::move(name), at));
        continue;
      }
      if (has_metadata) scanner.fail_at(at, "'__metadata__' is given twice");
      has_metadata = true;
      header.metadata = read_metadata(scanner);
    } while (scanner.take(','));
    scanner.expect('}', "at the end of the header");
  }
  scanner.finish();

  refuse_duplicates(scanner, names_of(entries), "the tensor");
  std::stable_sort(entries.begin(), entries.end(), [](const HeaderEntry& a, const HeaderEntry& b) {
    return a.tensor.begin != b.tensor.begin ? a.tensor.begin < b.tensor.begin
                                            : a.tensor.end < b.tensor.end;
  });
  header.data_begin = kPrefixBytes + length;
  header.data_bytes = file_bytes - header.data_begin;
  check_layout(scanner, entries, header.data_bytes);
  header.tensors.reserve(entries.size());
  for (HeaderEntry& entry : entries) header.tensors.push_back(std::move(entry.tensor));
  return header;
}

CheckpointHeader read_checkpoint_header(const std::string& path) {
  refuse_what_is_no_file(path);
  std::error_code fault;
  std::ifstream file(path, std::ios::binary);
  const std::uintmax_t size = std::filesystem::file_size(path, fault);
  if (!file || fault) {
    throw Error(path, "cannot be opened", "check the path and its permissions");
  }
  const auto file_bytes = static_cast<std::int64_t>(size);
  constexpr std::int64_t kFirstRead = 64;
  const auto read_to = [&file, &path](std::string& start, std::int64_t bytes) {
    const std::size_t have = start.size();
    start.resize(static_cast<std::size_t>(bytes));
    file.read(start.data() + have, static_cast<std::streamsize>(start.size() - have));
    if (!file)
      throw Error(path, "cannot be read to the end of its header", "check the file system");
  };
  std::string start;
  read_to(start, std::min(file_bytes, kFirstRead));
  const std::int64_t length = header_length(start, file_bytes, path);
  if (kPrefixBytes + length > kFirstRead) read_to(start, kPrefixBytes + length);
  return parse_checkpoint_header(start, file_bytes, path);
}

}  // namespace fourhold::model
