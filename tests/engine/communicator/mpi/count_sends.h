// Bytes that this process handed to MPI, counted at MPI's own profiling interface.
#pragma once

#include <cstdint>

namespace fourhold::engine {

// To other ranks and to this one, in all calls that carry data, since the last question.
[[nodiscard]] std::int64_t take_counted_bytes();
// The name of the first call that carries data and is not counted; nullptr if there was none.
[[nodiscard]] const char* uncounted_call();

}  // namespace fourhold::engine
