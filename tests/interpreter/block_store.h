// The values of one block at one layer and micro-batch: what the program keeps, and nothing else.
//
// Tensors that share a storage share one buffer; a view is some of its columns. A buffer knows
// which tensors its content is: once an operation has written other numbers in place, the tensors
// that were there can no longer be read.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fourhold/plan/program.h"
#include "tests/interpreter/array.h"

namespace fourhold::interpreter {

class BlockStore {
 public:
  explicit BlockStore(const plan::ProgramBlock& block) : block_(&block) {}

  // Each throws ProgramFault where the tensor is not there, was overwritten, or has another shape
  // than the program states (rows of routed tensors depend on the data).
  [[nodiscard]] Array read(std::int16_t tensor) const;
  void write(std::int16_t tensor, const Array& values);
  void accumulate(std::int16_t tensor, const Array& values);

  // The forward of the block is over: only what is kept stays.
  void drop_unkept();
  [[nodiscard]] std::string name_of(std::int16_t tensor) const;

 private:
  struct Buffer {
    Array content;                 // of the storage's owner
    std::set<std::int16_t> holds;  // tensors it has the values of
  };
  // The columns of a storage that a tensor is.
  struct Columns {
    std::int64_t first = 0;
    std::int64_t count = 0;
  };
  [[nodiscard]] const plan::ProgramTensor& tensor(std::int16_t id) const {
    return block_->tensors[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] Columns columns_of(std::int16_t id) const;
  [[nodiscard]] const Buffer& live(std::int16_t id) const;
  void check_shape(std::int16_t id, const Array& values) const;

  const plan::ProgramBlock* block_;
  std::map<std::int16_t, Buffer> buffers_;  // by storage
};

}  // namespace fourhold::interpreter
