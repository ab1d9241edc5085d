// Any bytes as a safetensors file: refused with an Error, or read and counted with sums that agree.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fourhold/base/error.h"
#include "fourhold/model/checkpoint_count.h"
#include "fourhold/model/checkpoint_header.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace model = fourhold::model;
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  try {
    const model::CheckpointHeader header =
        model::parse_checkpoint_header(file, static_cast<std::int64_t>(size), "fuzz");
    std::int64_t reached = 0;
    for (const model::StoredTensor& tensor : header.tensors) {
      if (tensor.begin != reached) std::abort();
      reached = tensor.end;
    }
    if (reached != header.data_bytes) std::abort();
    const model::CheckpointCount count =
        model::count_checkpoint(header.tensors, {.tie = model::Tie::tied});
    if (count.stored_bytes != header.data_bytes || count.parameters < 0) std::abort();
  } catch (const fourhold::Error& error) {
    if (error.exit_code() != fourhold::ExitCode::bad_input) std::abort();
  }
  return 0;
}
