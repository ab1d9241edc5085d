#include "fourhold/engine/checkpoint/safetensors_writer.h"

#include <cassert>

#include "fourhold/base/checked.h"
#include "fourhold/base/json.h"

namespace fourhold::engine {

std::int64_t bytes_of(const TensorShape& tensor) {
  std::int64_t bits = model::info(tensor.type).bits;
  for (const std::int64_t size : tensor.shape) bits = checked_multiply(bits, size);
  return bits / 8;
}

std::string safetensors_header(std::span<const TensorShape> tensors, const Metadata& metadata) {
  json::Object members;
  std::int64_t end = 0;
  if (!metadata.empty()) {
    json::Object texts;
    for (const auto& [key, text] : metadata) texts.emplace_back(key, text);
    members.emplace_back("__metadata__", std::move(texts));
  }
  for (const TensorShape& tensor : tensors) {
    json::Array shape;
    for (const std::int64_t size : tensor.shape) shape.emplace_back(size);
    const std::int64_t begin = end;
    end = checked_add(begin, bytes_of(tensor));
    members.emplace_back(tensor.name, json::Object{{"dtype", model::to_string(tensor.type)},
                                                   {"shape", std::move(shape)},
                                                   {"data_offsets", json::Array{begin, end}}});
  }
  std::string text = json::write(members, json::Layout::one_line);
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string header;
  for (int shift = 0; shift < 64; shift += 8) {
    header += static_cast<char>(text.size() >> shift & 0xffU);
  }
  return header + text;
}

FileSum write_safetensors(const std::string& folder, const std::string& name,
                          std::span<const TensorSource> tensors, const Metadata& metadata) {
  std::vector<TensorShape> shapes;
  std::int64_t data_bytes = 0;
  for (const TensorSource& source : tensors) {
    data_bytes = checked_add(data_bytes, bytes_of(source.tensor));
    shapes.push_back(source.tensor);
  }
  const std::string header = safetensors_header(shapes, metadata);
  FileWriter file(folder, name, checked_add(static_cast<std::int64_t>(header.size()), data_bytes));
  file.append(header);
  for (const TensorSource& source : tensors) {
    [[maybe_unused]] const std::int64_t begin = file.written();
    source.append(file);
    assert(file.written() - begin == bytes_of(source.tensor) &&
           "a source appends its tensor's bytes");
  }
  return file.close();
}

}  // namespace fourhold::engine
