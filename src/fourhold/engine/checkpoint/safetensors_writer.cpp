#include "fourhold/engine/checkpoint/safetensors_writer.h"

#include <cassert>

#include "fourhold/base/checked.h"
#include "fourhold/base/json.h"

namespace fourhold::engine {
namespace {

// The header with its length before it, and where the data end.
struct Header {
  std::string bytes;
  std::int64_t data_bytes = 0;
};

Header make_header(std::span<const TensorSource> tensors, const Metadata& metadata) {
  Header header;
  json::Object members;
  if (!metadata.empty()) {
    json::Object texts;
    for (const auto& [key, text] : metadata) texts.emplace_back(key, text);
    members.emplace_back("__metadata__", std::move(texts));
  }
  for (const TensorSource& tensor : tensors) {
    json::Array shape;
    for (const std::int64_t size : tensor.shape) shape.emplace_back(size);
    const std::int64_t begin = header.data_bytes;
    header.data_bytes = checked_add(begin, bytes_of(tensor));
    members.emplace_back(tensor.name,
                         json::Object{{"dtype", model::to_string(tensor.type)},
                                      {"shape", std::move(shape)},
                                      {"data_offsets", json::Array{begin, header.data_bytes}}});
  }
  std::string text = json::write(members, json::Layout::one_line);
  text.append((8 - text.size() % 8) % 8, ' ');
  for (int shift = 0; shift < 64; shift += 8) {
    header.bytes += static_cast<char>(text.size() >> shift & 0xffU);
  }
  header.bytes += text;
  return header;
}

}  // namespace

std::int64_t bytes_of(const TensorSource& tensor) {
  std::int64_t bits = model::info(tensor.type).bits;
  for (const std::int64_t size : tensor.shape) bits = checked_multiply(bits, size);
  return bits / 8;
}

FileSum write_safetensors(const std::string& folder, const std::string& name,
                          std::span<const TensorSource> tensors, const Metadata& metadata) {
  const Header header = make_header(tensors, metadata);
  const auto header_bytes = static_cast<std::int64_t>(header.bytes.size());
  FileWriter file(folder, name, checked_add(header_bytes, header.data_bytes));
  file.append(header.bytes);
  for (const TensorSource& tensor : tensors) {
    [[maybe_unused]] const std::int64_t begin = file.written();
    tensor.append(file);
    assert(file.written() - begin == bytes_of(tensor) && "a source appends its tensor's bytes");
  }
  return file.close();
}

}  // namespace fourhold::engine
