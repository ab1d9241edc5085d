// A published fp32 weight file in memory that a test can spoil tensor by tensor.
#pragma once

#include <algorithm>
#include <functional>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "fourhold/engine/checkpoint/published_reader.h"
#include "tests/engine/checkpoint/tiny_models.h"

namespace fourhold::engine {

class StoredModel {
 public:
  explicit StoredModel(const model::ModelConfig& config) {
    Weights weights(config, DType::fp32);
    for (const model::PublishedTensor& tensor : model::published_tensors(config)) {
      Bytes& bytes = add(tensor.name, model::StoredType::f32, tensor.shape);
      const std::int64_t across = tensor.transposed ? tensor.shape.back() : 1;
      std::int64_t row = 0;
      for (const model::PublishedPart& part : tensor.parts) {
        const std::int64_t columns = part.size.columns;
        copy_elements({weights.bytes(part.id).data(), DType::fp32, columns},
                      {bytes.data() + 4 * row * (tensor.transposed ? 1 : columns), DType::fp32,
                       tensor.transposed ? 1 : columns, across},
                      part.size.rows, columns);
        row += part.size.rows;
      }
    }
  }

  using Bytes = std::vector<std::byte>;
  Bytes& add(const std::string& name, model::StoredType type, std::vector<std::int64_t> shape) {
    model::StoredTensor tensor{name, type, std::move(shape), 1, 0, 0};
    for (const std::int64_t size : tensor.shape) tensor.elements *= size;
    tensor.end = tensor.elements * model::info(type).bits / 8;
    Bytes& bytes = bytes_.emplace_back(static_cast<std::size_t>(tensor.end));
    tensors_.push_back({std::move(tensor), bytes, "file"});
    return bytes;
  }
  void copy(const std::string& name, const std::string& as) {
    const StoredBytes one = *find(name);
    Bytes& bytes = add(as, one.tensor.type, one.tensor.shape);
    std::copy(one.bytes.begin(), one.bytes.end(), bytes.begin());
  }
  void remove(const std::string& name) { tensors_.erase(find(name)); }
  void rename(const std::function<std::string(std::string)>& change) {
    for (StoredBytes& one : tensors_) one.tensor.name = change(one.tensor.name);
  }
  void reshape(const std::string& name, std::vector<std::int64_t> shape) {
    find(name)->tensor.shape = std::move(shape);
  }
  void retype(const std::string& name, model::StoredType type) { find(name)->tensor.type = type; }
  // Flips one bit of the first value.
  void change(const std::string& name) {
    const std::byte* data = find(name)->bytes.data();
    for (Bytes& bytes : bytes_) {
      if (bytes.data() == data) bytes.front() ^= std::byte{1};
    }
  }

  [[nodiscard]] const std::vector<StoredBytes>& tensors() const { return tensors_; }
  [[nodiscard]] static std::vector<float> values(const PublishedWeights& read,
                                                 const model::ParameterId& id) {
    std::vector<float> values(static_cast<std::size_t>(read.size_of(id).elements()));
    read.read(id, Tensor{reinterpret_cast<std::byte*>(values.data()),
                         DType::fp32,
                         {read.size_of(id).elements()}});
    return values;
  }

 private:
  std::vector<StoredBytes>::iterator find(const std::string& name) {
    return std::find_if(tensors_.begin(), tensors_.end(),
                        [&name](const StoredBytes& one) { return one.tensor.name == name; });
  }

  std::list<Bytes> bytes_;  // never moved
  std::vector<StoredBytes> tensors_;
};

}  // namespace fourhold::engine
