#include <algorithm>
#include <cassert>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "fourhold/base/checked.h"
#include "fourhold/base/error.h"
#include "fourhold/base/field_reader.h"
#include "fourhold/base/json.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/checkpoint/state_files.h"
#include "fourhold/engine/checkpoint/stored_dtype.h"

namespace fourhold::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "state-";
constexpr std::string_view kSuffix = ".safetensors";
constexpr IntegerRange kElements{0, (1LL << 53)};

// What the metadata say of one tensor.
struct Description {
  std::string parameter;
  std::string kind;
  Dims shape;
  Slice slice;
};

Description parse_description(std::string_view text, const std::string& where) {
  FieldReader fields(json::parse(text, where), "");
  Description one;
  one.parameter = fields.required_string("parameter");
  one.kind = fields.required_string("kind");
  const auto shape = fields.integers("shape", kElements);
  if (!shape.has_value() || shape->size() > static_cast<std::size_t>(Dims::kMaxRank)) {
    throw Error("shape", fmt::format("is not a list of at most {} sizes", Dims::kMaxRank),
                "the file was not written by this program");
  }
  for (const std::int64_t size : *shape) one.shape.push_back(size);
  one.slice = {
      fields.required_integer("begin", kElements), fields.required_integer("length", kElements),
      fields.required_integer("stride", kElements), fields.required_integer("count", kElements)};
  if (!plan::is_valid(one.slice, one.shape.elements())) {
    throw Error("begin",
                fmt::format("the slice does not lie within the {} elements of {}",
                            one.shape.elements(), to_string(one.shape)),
                "the file is damaged: use an older checkpoint");
  }
  return one;
}

// Names of the files of the one set in a folder, by rank. Error when there is none, a part of one,
// or more than one.
std::vector<std::string> state_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code fault;
  for (fs::directory_iterator at(folder, fault); !fault && at != fs::directory_iterator();
       at.increment(fault)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kSuffix)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  std::vector<std::string> wanted;
  for (std::size_t i = 1; i <= names.size(); ++i) {
    wanted.push_back(fmt::format("{}{:05}-of-{:05}{}", kPrefix, i, names.size(), kSuffix));
  }
  if (names.empty() || names != wanted) {
    throw Error(folder,
                fmt::format("holds no whole set of optimizer files, but {}: {}",
                            counted(static_cast<std::int64_t>(names.size()), "file"),
                            fmt::join(names, ", ")),
                "resume from another checkpoint, or start from its weights alone");
  }
  return names;
}

}  // namespace

StateFiles::StateFiles(const std::string& folder) : where_(folder) {
  for (const std::string& name : state_names(folder)) {
    files_.emplace_back((fs::path(folder) / name).string());
    const MappedFile& file = files_.back();
    add(parse_safetensors(file.piece(0, file.bytes()), file.path()), file.path());
  }
  check_sums();
}

StateFiles::StateFiles(std::span<const std::byte> file, const std::string& where) : where_(where) {
  add(parse_safetensors(file, where), where);
  check_sums();
}

void StateFiles::add(const SafetensorsFile& file, const std::string& where) {
  std::map<std::string_view, std::string_view> texts;
  for (const auto& [name, text] : file.metadata) texts.emplace(name, text);
  for (const StoredBytes& stored : file.tensors) {
    const std::string place = fmt::format("{}: '{:.120}'", where, stored.tensor.name);
    const auto text = texts.find(stored.tensor.name);
    const std::optional<DType> dtype = engine_type(stored.tensor.type);
    if (text == texts.end() || !dtype.has_value()) {
      throw Error(place, "is no tensor of an optimizer's state: it has no description",
                  "the file was not written by this program");
    }
    Description one;
    try {
      one = parse_description(text->second, "");
    } catch (const Error& fault) {
      throw fault.inside(place);
    }
    if (one.slice.elements() != stored.tensor.elements) {
      throw Error(place,
                  fmt::format("has {} elements, its slice {}", stored.tensor.elements,
                              one.slice.elements()),
                  "the file is damaged: use an older checkpoint");
    }
    const auto [state, is_new] =
        states_.try_emplace({one.parameter, one.kind}, State{*dtype, one.shape, {}});
    if (!is_new && (state->second.dtype != *dtype || !(state->second.shape == one.shape))) {
      throw Error(place, "has another type or shape than in a file before",
                  "the files are from different checkpoints");
    }
    state->second.pieces.push_back({one.slice, stored.bytes});
  }
}

void StateFiles::check_sums() const {
  for (const auto& [name, state] : states_) {
    std::int64_t held = 0;
    for (const Piece& piece : state.pieces) held = checked_add(held, piece.slice.elements());
    const std::int64_t whole = state.shape.elements();
    if (held == whole) continue;
    throw Error(
        where_,
        fmt::format("{} of {:.120} has {} elements, the files hold {}: {}", name.second, name.first,
                    whole, held, held < whole ? "some are missing" : "some are stored twice"),
        "the files are from different checkpoints, or one is missing");
  }
}

bool StateFiles::holds(const std::string& kind, const model::ParameterId& parameter) const {
  return states_.count({to_string(parameter), kind}) != 0;
}

void StateFiles::read(const std::string& kind, const model::ParameterId& parameter,
                      const Dims& shape, const Slice& slice, const Tensor& out) const {
  assert(plan::is_valid(slice, shape.elements()) && out.elements() == slice.elements());
  const std::string name = to_string(parameter);
  const auto found = states_.find({name, kind});
  if (found == states_.end()) {
    throw Error(where_, fmt::format("holds no {} of {}", kind, name),
                "it was saved with another optimizer or precision: start from its weights alone");
  }
  const State& state = found->second;
  if (!(state.shape == shape) || state.dtype != out.dtype) {
    throw Error(where_,
                fmt::format("{} of {} is {} {}, here {} {}", kind, name, to_string(state.dtype),
                            to_string(state.shape), to_string(out.dtype), to_string(shape)),
                "it was saved with another model or precision: start from its weights alone");
  }
  std::byte* target = out.data;
  // Slices that take turns follow each other in the files too: the next one is looked for from the
  // last.
  auto from = state.pieces.begin();
  for (std::int64_t run = 0; run < slice.count; ++run) {
    std::int64_t at = slice.begin + run * slice.stride;
    for (const std::int64_t end = at + slice.length; at < end;) {
      std::optional<plan::HeldAt> held;
      const auto holds_it = [&held, at](const Piece& p) {
        held = plan::find_element(p.slice, at);
        return held.has_value();
      };
      auto piece = std::find_if(from, state.pieces.end(), holds_it);
      if (piece == state.pieces.end()) {
        piece = std::find_if(state.pieces.begin(), from, holds_it);
      }
      if (!held.has_value()) {
        throw Error(where_, fmt::format("element {} of {} of {} is in no file", at, kind, name),
                    "the files are from different checkpoints");
      }
      const std::int64_t count = std::min(held->run, end - at);
      const std::int64_t bytes = bytes_of(count, state.dtype);
      std::memcpy(target, piece->bytes.data() + bytes_of(held->offset, state.dtype),
                  static_cast<std::size_t>(bytes));
      target += bytes;
      at += count;
      from = piece;
    }
  }
}

}  // namespace fourhold::engine
