#include "fourhold/engine/checkpoint/published_writer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "fourhold/engine/checkpoint/element_copy.h"
#include "fourhold/engine/checkpoint/file_writer.h"

namespace fourhold::engine {
namespace {

using model::MatrixSize;
using model::PublishedPart;
using model::PublishedTensor;

// Room for one window before and after it is turned.
struct Scratch {
  std::vector<std::byte> window;
  std::vector<std::byte> turned;
};

// How many rows (or columns) of `each` elements make a window.
std::int64_t lines_per_window(std::int64_t each, DType dtype) {
  return std::max<std::int64_t>(1, kWindowBytes / std::max<std::int64_t>(1, bytes_of(each, dtype)));
}

void append_part(const PublishedPart& part, DType dtype, const WeightSource& source,
                 Scratch& scratch, FileWriter& file) {
  const std::int64_t step = lines_per_window(part.size.columns, dtype);
  for (std::int64_t row = 0; row < part.size.rows; row += step) {
    const Window window{row, std::min(row + step, part.size.rows), 0, part.size.columns};
    scratch.window.resize(
        static_cast<std::size_t>(bytes_of(window.rows() * window.columns(), dtype)));
    source(part, window, scratch.window.data());
    file.append(scratch.window);
  }
}

// A transposed tensor row by row is its parts' columns, a strip of them at a time.
void append_turned(const PublishedTensor& tensor, DType dtype, const WeightSource& source,
                   Scratch& scratch, FileWriter& file) {
  const std::int64_t columns = tensor.shape.front();
  const std::int64_t rows = tensor.shape.back();
  const std::int64_t step = lines_per_window(rows, dtype);
  for (std::int64_t column = 0; column < columns; column += step) {
    const std::int64_t end = std::min(column + step, columns);
    scratch.turned.resize(static_cast<std::size_t>(bytes_of((end - column) * rows, dtype)));
    std::int64_t first = 0;
    for (const PublishedPart& part : tensor.parts) {
      const Window window{0, part.size.rows, column, end};
      scratch.window.resize(
          static_cast<std::size_t>(bytes_of(window.rows() * window.columns(), dtype)));
      source(part, window, scratch.window.data());
      copy_elements({scratch.window.data(), dtype, window.columns(), 1},
                    {scratch.turned.data() + bytes_of(first, dtype), dtype, 1, rows}, window.rows(),
                    window.columns());
      first += part.size.rows;
    }
    file.append(scratch.turned);
  }
}

void append_tensor(const PublishedTensor& tensor, DType dtype, const WeightSource& source,
                   Scratch& scratch, FileWriter& file) {
  if (tensor.transposed) {
    append_turned(tensor, dtype, source, scratch, file);
    return;
  }
  for (const PublishedPart& part : tensor.parts) append_part(part, dtype, source, scratch, file);
}

}  // namespace

void copy_window(const Tensor& parameter, const MatrixSize& size, const Window& window, DType dtype,
                 std::byte* out) {
  const std::int64_t first = window.row_begin * size.columns + window.column_begin;
  copy_elements({parameter.data + bytes_of(first, parameter.dtype), parameter.dtype, size.columns},
                {out, dtype, window.columns()}, window.rows(), window.columns());
}

std::vector<FileSum> write_published(const std::string& folder, const model::ModelConfig& config,
                                     const WeightsFormat& format, const WeightSource& source) {
  const PublishedLayout layout = lay_out(config, format);
  Scratch scratch;
  std::vector<FileSum> files;
  for (const PublishedFile& shard : layout.files) {
    FileWriter file(folder, shard.name, shard.bytes);
    file.append(shard.header);
    for (std::size_t i = shard.first; i < shard.end; ++i) {
      assert(file.written() == layout.begins[i] && "tensors stand where the header says");
      append_tensor(layout.tensors[i], format.dtype, source, scratch, file);
    }
    files.push_back(file.close());
  }
  for (FileSum& text : write_published_texts(folder, layout)) files.push_back(std::move(text));
  return files;
}

std::vector<FileSum> write_published_texts(const std::string& folder,
                                           const PublishedLayout& layout) {
  std::vector<FileSum> files;
  if (layout.index.has_value()) {
    files.push_back(write_new_file(folder, "model.safetensors.index.json", *layout.index));
  }
  files.push_back(write_new_file(folder, "config.json", layout.config));
  return files;
}

}  // namespace fourhold::engine
