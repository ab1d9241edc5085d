#include "tests/interpreter/block_store.h"

#include <algorithm>

#include "tests/interpreter/fault.h"

namespace fourhold::interpreter {
namespace {

std::int64_t width_of(const model::Shape& shape) {
  std::int64_t width = 1;
  for (int i = 1; i < shape.rank(); ++i) width *= shape[i].size;
  return width;
}

}  // namespace

std::string BlockStore::name_of(std::int16_t id) const {
  std::string name(model::to_string(tensor(id).name));
  if (tensor(id).role == ledger::Role::gradient) name = "the gradient of " + name;
  return name + " (tensor " + std::to_string(id) + ")";
}

// Only the parts of a split are narrower than what they alias; views of views follow them.
BlockStore::Columns BlockStore::columns_of(std::int16_t id) const {
  const std::int64_t count = width_of(tensor(id).shape);
  const std::int64_t whole = width_of(tensor(tensor(id).storage).shape);
  if (count == whole) return {0, count};
  const model::BlockOperations& operations = block_->sharded.operations;
  for (std::int16_t part = id; part != model::kNoTensor;
       part = operations.tensors[static_cast<std::size_t>(part)].alias_of) {
    for (const model::Operation& op : operations.operations) {
      if (op.kind != model::OpKind::split_latent) continue;
      if (op.outputs[0] == part) return {0, count};
      if (op.outputs[1] == part) return {whole - count, count};
    }
  }
  throw ProgramFault(name_of(id) + " is narrower than its storage and no view of it");
}

const BlockStore::Buffer& BlockStore::live(std::int16_t id) const {
  const auto found = buffers_.find(tensor(id).storage);
  if (found == buffers_.end()) throw ProgramFault(name_of(id) + " is used, but does not exist");
  if (found->second.holds.count(id) == 0) {
    throw ProgramFault(name_of(id) + " is used, but its storage holds other values");
  }
  return found->second;
}

void BlockStore::check_shape(std::int16_t id, const Array& values) const {
  const model::Shape& shape = tensor(id).shape;
  bool same = shape.rank() == values.dims.rank();
  for (int i = 0; same && i < shape.rank(); ++i) {
    if (shape[i].dim == model::Dim::routed) {
      same = static_cast<std::int64_t>(values.routed.size()) == values.rows();
    } else {
      same = shape[i].size == values.dims[i];
    }
  }
  if (!same) {
    throw ProgramFault(name_of(id) + " is written as " + fourhold::to_string(values.dims) +
                       ", but the program states " + model::to_string(shape));
  }
}

Array BlockStore::read(std::int16_t id) const {
  const Buffer& buffer = live(id);
  const Columns columns = columns_of(id);
  const model::Shape& shape = tensor(id).shape;
  Dims dims;
  for (int i = 0; i < shape.rank(); ++i) {
    dims.push_back(i == 0 ? buffer.content.rows() : shape[i].size);
  }
  Array values(dims);
  values.routed = buffer.content.routed;
  for (std::int64_t row = 0; row < values.rows(); ++row) {
    const double* from = buffer.content.row(row) + columns.first;
    std::copy(from, from + columns.count, values.row(row));
  }
  return values;
}

void BlockStore::write(std::int16_t id, const Array& values) {
  check_shape(id, values);
  const Columns columns = columns_of(id);
  const std::int16_t storage = tensor(id).storage;
  const auto found = buffers_.find(storage);
  const bool whole = columns.count == width_of(tensor(storage).shape);
  const bool fresh = found == buffers_.end();
  if (fresh && !whole) throw ProgramFault(name_of(id) + " is a view of nothing");
  if (!fresh && found->second.content.rows() != values.rows()) {
    throw ProgramFault(name_of(id) + " has other rows than what it overwrites");
  }
  Buffer& buffer = fresh ? buffers_[storage] : found->second;
  if (fresh) {
    buffer.content = values;
  } else {
    bool changed = buffer.content.routed != values.routed;
    for (std::int64_t row = 0; row < values.rows(); ++row) {
      double* to = buffer.content.row(row) + columns.first;
      changed = changed || !std::equal(to, to + columns.count, values.row(row));
      std::copy(values.row(row), values.row(row) + columns.count, to);
    }
    buffer.content.routed = values.routed;
    // A tensor that overlaps the written columns is gone, unless nothing in them changed.
    for (auto other = buffer.holds.begin(); changed && other != buffer.holds.end();) {
      const Columns theirs = columns_of(*other);
      const bool apart = theirs.first + theirs.count <= columns.first ||
                         columns.first + columns.count <= theirs.first;
      other = apart ? std::next(other) : buffer.holds.erase(other);
    }
  }
  buffer.holds.insert(id);
}

void BlockStore::accumulate(std::int16_t id, const Array& values) {
  Array sum = read(id);
  add_to(sum, values);
  write(id, sum);
}

void BlockStore::drop_unkept() {
  for (auto buffer = buffers_.begin(); buffer != buffers_.end();) {
    buffer = tensor(buffer->first).kept ? std::next(buffer) : buffers_.erase(buffer);
  }
}

}  // namespace fourhold::interpreter
