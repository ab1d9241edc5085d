// Any bytes as each file of a checkpoint of ours: refused with an Error, or read; what is read of
// the marker and of the run's state is written and read again as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/marker.h"
#include "fourhold/engine/checkpoint/run_state.h"
#include "fourhold/engine/checkpoint/state_files.h"

namespace {

namespace engine = fourhold::engine;

template <typename Read>
void refused_or(Read&& read) {
  try {
    read();
  } catch (const fourhold::Error& error) {
    if (error.exit_code() != fourhold::ExitCode::bad_input) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  refused_or([text] {
    const engine::Marker marker = engine::parse_marker(text, "fuzz");
    if (!(engine::parse_marker(engine::write_marker(marker), "fuzz") == marker)) std::abort();
  });
  refused_or([text] {
    const engine::RunState state = engine::parse_run_state(text, "fuzz");
    const std::string written = engine::write_run_state(state);
    if (engine::write_run_state(engine::parse_run_state(written, "fuzz")) != written) std::abort();
  });
  refused_or([data, size] {
    const engine::StateFiles files(
        std::span<const std::byte>(reinterpret_cast<const std::byte*>(data), size), "fuzz");
    const fourhold::model::ParameterId id{fourhold::model::Block::layer, 0,
                                          fourhold::model::TensorName::q_bias};
    float value = 0;
    files.read("moment1", id, {4}, engine::contiguous(1, 2),
               {reinterpret_cast<std::byte*>(&value), fourhold::DType::fp32, {1}});
  });
  return 0;
}
