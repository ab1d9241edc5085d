#include "fourhold/engine/checkpoint/shared_weights.h"

#include <algorithm>
#include <cassert>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/element_copy.h"
#include "fourhold/engine/checkpoint/file_writer.h"
#include "fourhold/engine/checkpoint/published_writer.h"
#include "fourhold/engine/checkpoint/windows.h"

namespace fourhold::engine {
namespace {

using model::PublishedPart;
using model::PublishedTensor;

// A parameter's matrix in a file: rows of `columns` elements, the first of them at `begin`, or
// turned, in rows of `across`.
struct Place {
  std::int64_t begin = 0;  // bytes
  std::int64_t columns = 0;
  std::int64_t across = 0;
  bool turned = false;
};

class PartWriter {
 public:
  PartWriter(SharedFile& file, DType dtype, std::vector<std::byte>& scratch)
      : file_(file), dtype_(dtype), scratch_(scratch) {}

  void write(const Place& place, const HeldWindow& held, const Tensor& data) {
    if (place.turned) {
      write_turned(place, held, data);
    } else if (data.dtype == dtype_) {
      const Window& window = held.window;
      write_rows(place, window, data.data + size(held.offset), size(held.row_stride));
    } else {
      write_converted(place, held, data);
    }
  }

 private:
  [[nodiscard]] std::int64_t size(std::int64_t elements) const {
    return bytes_of(elements, dtype_);
  }

  void write_rows(const Place& place, const Window& window, const std::byte* data,
                  std::int64_t row_bytes) {
    const std::int64_t first = window.row_begin * place.columns + window.column_begin;
    file_.write_rows(place.begin + size(first), {.data = data,
                                                 .count = window.rows(),
                                                 .bytes = size(window.columns()),
                                                 .row_bytes = row_bytes,
                                                 .pitch = size(place.columns)});
  }

  std::byte* scratch(std::int64_t elements) {
    scratch_.resize(static_cast<std::size_t>(size(elements)));
    return scratch_.data();
  }
  // How many lines of `each` elements make a window.
  [[nodiscard]] std::int64_t lines(std::int64_t each) const {
    return std::max<std::int64_t>(1, kWindowBytes / size(each));
  }

  void write_converted(const Place& place, const HeldWindow& held, const Tensor& data) {
    Window some = held.window;
    const std::int64_t columns = some.columns();
    const std::int64_t step = lines(columns);
    for (std::int64_t row = held.window.row_begin; row < held.window.row_end; row += step) {
      some.row_begin = row;
      some.row_end = std::min(row + step, held.window.row_end);
      const std::int64_t from = held.offset + (row - held.window.row_begin) * held.row_stride;
      std::byte* out = scratch(some.rows() * columns);
      copy_elements({data.data + bytes_of(from, data.dtype), data.dtype, held.row_stride},
                    {out, dtype_, columns}, some.rows(), columns);
      write_rows(place, some, out, size(columns));
    }
  }

  // The window's columns are rows of the file.
  void write_turned(const Place& place, const HeldWindow& held, const Tensor& data) {
    const Window& window = held.window;
    const std::int64_t rows = window.rows();
    const std::int64_t step = lines(rows);
    for (std::int64_t column = window.column_begin; column < window.column_end; column += step) {
      const std::int64_t count = std::min(step, window.column_end - column);
      const std::int64_t from = held.offset + column - window.column_begin;
      std::byte* out = scratch(count * rows);
      copy_elements({data.data + bytes_of(from, data.dtype), data.dtype, held.row_stride},
                    {out, dtype_, 1, rows}, rows, count);
      file_.write_rows(place.begin + size(column * place.across + window.row_begin),
                       {.data = out,
                        .count = count,
                        .bytes = size(rows),
                        .row_bytes = size(rows),
                        .pitch = size(place.across)});
    }
  }

  SharedFile& file_;
  DType dtype_;
  std::vector<std::byte>& scratch_;
};

using ByName = std::unordered_map<std::string, const OwnedWeight*>;

void write_tensor(const PublishedTensor& tensor, std::int64_t begin, DType dtype,
                  const ByName& weights, PartWriter& writer) {
  std::int64_t first_row = 0;
  for (const PublishedPart& part : tensor.parts) {
    const std::int64_t step = tensor.transposed ? 1 : part.size.columns;
    const Place place{begin + bytes_of(first_row * step, dtype), part.size.columns,
                      tensor.shape.back(), tensor.transposed};
    first_row += part.size.rows;
    const auto found = weights.find(to_string(part.id));
    if (found == weights.end()) continue;
    const OwnedWeight& owned = *found->second;
    assert(owned.part.shape.elements() == part.size.elements());
    assert(owned.data.elements() >= owned.part.elements());
    for (const HeldWindow& held : windows_of(plan::slices_of(owned.part), part.size.columns)) {
      writer.write(place, held, owned.data);
    }
  }
}

}  // namespace

std::vector<FileSum> create_published(const std::string& folder, const PublishedLayout& layout) {
  for (const PublishedFile& file : layout.files) {
    create_shared_file(folder, file.name, file.bytes, file.header);
  }
  return write_published_texts(folder, layout);
}

std::vector<WrittenBytes> write_owned(const std::string& folder, const PublishedLayout& layout,
                                      std::span<const OwnedWeight> weights) {
  ByName by_name;
  for (const OwnedWeight& weight : weights) by_name[to_string(weight.id)] = &weight;
  std::vector<WrittenBytes> written;
  std::vector<std::byte> scratch;
  for (const PublishedFile& shard : layout.files) {
    SharedFile file(folder, shard.name, shard.bytes);
    PartWriter writer(file, layout.dtype, scratch);
    for (std::size_t i = shard.first; i < shard.end; ++i) {
      write_tensor(layout.tensors[i], layout.begins[i], layout.dtype, by_name, writer);
    }
    file.close();
    written.push_back(file.written());
  }
  return written;
}

std::vector<FileSum> sum_own_blocks(const std::string& folder, const PublishedLayout& layout,
                                    RankOf who) {
  std::vector<FileSum> sums;
  std::int64_t dealt = 0;  // blocks of the files before
  for (const PublishedFile& file : layout.files) {
    const std::int64_t first = (who.rank - dealt % who.ranks + who.ranks) % who.ranks;
    sums.push_back(sum_blocks(folder, file.name, first, who.ranks));
    dealt += static_cast<std::int64_t>(sums.back().blocks.size());
  }
  return sums;
}

std::vector<FileSum> join_shares(const std::string& folder, const PublishedLayout& layout,
                                 std::span<const std::vector<SharedShare>> shares) {
  std::vector<FileSum> sums;
  std::size_t dealt = 0;
  for (std::size_t i = 0; i < layout.files.size(); ++i) {
    const PublishedFile& file = layout.files[i];
    FileSum sum{file.name, file.bytes, {}};
    WrittenBytes written;
    for (const std::vector<SharedShare>& of_rank : shares) {
      if (i >= of_rank.size() || of_rank[i].sum.name != file.name ||
          of_rank[i].sum.bytes != file.bytes) {
        throw Error(folder,
                    fmt::format("rank {} has not written {} as rank 0 laid it out",
                                &of_rank - shares.data(), file.name),
                    "all ranks must save the same model to a folder that they share");
      }
      written += of_rank[i].written;
    }
    for (std::size_t b = 0; b < shares.front()[i].sum.blocks.size(); ++b) {
      sum.blocks.push_back(shares[dealt++ % shares.size()][i].sum.blocks[b]);
    }
    WrittenBytes all;
    all.add(static_cast<std::int64_t>(file.header.size()), file.bytes);
    if (!(written == all)) {
      throw Error(folder,
                  fmt::format("{} holds {} bytes of weights, the ranks have written {}{}",
                              file.name, all.count, written.count,
                              written.count == all.count ? ", some of them twice" : ""),
                  "the ranks disagree about who saves what; the checkpoints before are whole");
    }
    sums.push_back(std::move(sum));
  }
  return sums;
}

}  // namespace fourhold::engine
