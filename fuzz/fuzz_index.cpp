// Any bytes as the index of a sharded checkpoint: refused with an Error, or read with every tensor
// in a listed shard.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fourhold/base/error.h"
#include "fourhold/model/checkpoint_index.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace model = fourhold::model;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const model::CheckpointIndex index = model::parse_checkpoint_index(text, "fuzz");
    if (index.entries.empty()) std::abort();
    for (const model::CheckpointIndex::Entry& entry : index.entries) {
      if (static_cast<std::size_t>(entry.shard) >= index.shards.size()) std::abort();
    }
  } catch (const fourhold::Error& error) {
    if (error.exit_code() != fourhold::ExitCode::bad_input) std::abort();
  }
  return 0;
}
