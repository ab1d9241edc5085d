// TensorBoard's event files: scalars over steps, for those who watch a run there.
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

namespace fourhold::engine {

struct ScalarEvent {
  std::string_view tag;  // "train/loss"
  double value = 0;
};

// Records as TensorFlow writes them (tensorflow/core/lib/io/record_writer.h): length, masked
// CRC-32C of the length, bytes, masked CRC-32C of the bytes; each an Event of event.proto.
class EventFile {
 public:
  // Creates `folder`/events.out.tfevents.SECONDS.fourhold, of a run that begins with step
  // `first_step`. Readers see where that is, and leave out what files before it say of that step
  // and of later ones: a session's start, as TensorFlow writes it when it is restarted
  // (tensorboard/backend/event_processing/event_accumulator.py, _CheckForRestartAndMaybePurge).
  // Throws Error when it cannot.
  EventFile(const std::string& folder, std::int64_t first_step);

  // Appends all scalars of a step as one event, and flushes. Throws Error when the disk is full.
  void add(std::int64_t step, std::span<const ScalarEvent> scalars);

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void write_record(const std::string& event);

  std::string path_;
  std::ofstream file_;
};

// CRC-32C (Castagnoli polynomial, reflected 0x82f63b78), as RFC 3720 appendix B.4 defines it.
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes);

}  // namespace fourhold::engine
