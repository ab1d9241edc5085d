#include "fourhold/model/checkpoint_entry.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace fourhold::model {
namespace {

std::vector<std::int64_t> read_shape(HeaderScanner& scanner) {
  std::vector<std::int64_t> shape;
  scanner.expect('[', "before the shape");
  if (scanner.take(']')) return shape;
  do {
    if (static_cast<std::int64_t>(shape.size()) == kMaxStoredRank) {
      scanner.fail_at(scanner.offset(),
                      fmt::format("a shape has more than {} dimensions", kMaxStoredRank));
    }
    shape.push_back(scanner.integer("a dimension"));
  } while (scanner.take(','));
  scanner.expect(']', "after the shape");
  return shape;
}

StoredType read_type(HeaderScanner& scanner) {
  const std::int64_t at = scanner.offset();
  const std::string name = scanner.string("a dtype");
  const std::optional<StoredType> type = find_stored_type(name);
  if (!type.has_value()) {
    scanner.fail_at(at, fmt::format("'{:.40}' is not a dtype of safetensors", name),
                    "the dtypes are " + stored_type_names());
  }
  return *type;
}

// Product of the shape; 0 as soon as one dimension is 0, whatever the others are.
std::optional<std::int64_t> element_count(const std::vector<std::int64_t>& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(count, size, &count)) return std::nullopt;
  }
  return count;
}

// Bytes that the shape and the dtype ask for must be those between the offsets.
void check_size(HeaderScanner& scanner, const HeaderEntry& entry) {
  const StoredTensor& tensor = entry.tensor;
  std::int64_t bits = 0;
  if (__builtin_mul_overflow(tensor.elements, std::int64_t{info(tensor.type).bits}, &bits)) {
    scanner.fail_at(entry.at,
                    fmt::format("'{:.80}' has a size outside the 64-bit range", tensor.name));
  }
  if (bits % 8 != 0) {
    scanner.fail_at(entry.at,
                    fmt::format("'{:.80}' has {} elements of {} bits, which end inside a byte",
                                tensor.name, tensor.elements, info(tensor.type).bits));
  }
  if (tensor.bytes() != bits / 8) {
    scanner.fail_at(entry.at,
                    fmt::format("'{:.80}' needs {} bytes for {} elements of {}, but its offsets "
                                "span {}",
                                tensor.name, bits / 8, tensor.elements, to_string(tensor.type),
                                tensor.bytes()));
  }
}

}  // namespace

HeaderEntry read_header_entry(HeaderScanner& scanner, std::string name, std::int64_t at) {
  HeaderEntry entry;
  entry.at = at;
  StoredTensor& tensor = entry.tensor;
  tensor.name = std::move(name);
  bool has_type = false;
  bool has_shape = false;
  bool has_offsets = false;
  const auto once = [&scanner](bool& seen, std::int64_t field_at, std::string_view field) {
    if (seen) scanner.fail_at(field_at, fmt::format("'{}' is given twice", field));
    seen = true;
  };
  scanner.expect('{', "before the fields of a tensor");
  do {
    const std::int64_t field_at = scanner.offset();
    const std::string field = scanner.string("the name of a field");
    scanner.expect(':', "after the name of a field");
    if (field == "dtype") {
      once(has_type, field_at, field);
      tensor.type = read_type(scanner);
    } else if (field == "shape") {
      once(has_shape, field_at, field);
      tensor.shape = read_shape(scanner);
    } else if (field == "data_offsets") {
      once(has_offsets, field_at, field);
      scanner.expect('[', "before the offsets");
      tensor.begin = scanner.integer("the begin of the data");
      scanner.expect(',', "between the offsets");
      tensor.end = scanner.integer("the end of the data");
      scanner.expect(']', "after the two offsets");
    } else {
      scanner.fail_at(field_at, fmt::format("'{:.40}' is not a field of a tensor", field),
                      "the fields are dtype, shape and data_offsets");
    }
  } while (scanner.take(','));
  scanner.expect('}', "after the fields of a tensor");

  const char* missing = !has_type ? "dtype" : !has_shape ? "shape" : "data_offsets";
  if (!has_type || !has_shape || !has_offsets) {
    scanner.fail_at(at, fmt::format("'{:.80}' has no {}", tensor.name, missing));
  }
  if (tensor.end < tensor.begin) {
    scanner.fail_at(at, fmt::format("'{:.80}' ends at {}, before its begin at {}", tensor.name,
                                    tensor.end, tensor.begin));
  }
  const std::optional<std::int64_t> elements = element_count(tensor.shape);
  if (!elements.has_value()) {
    scanner.fail_at(at, fmt::format("'{:.80}' has a shape outside the 64-bit range", tensor.name));
  }
  tensor.elements = *elements;
  check_size(scanner, entry);
  return entry;
}

}  // namespace fourhold::model
