#include "fourhold/engine/train/event_file.h"

#include <cerrno>
#include <chrono>
#include <cstring>

#include "fourhold/base/error.h"

namespace fourhold::engine {
namespace {

// Protocol buffers' wire types.
enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

void put_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<char>(value | 0x80));
  to.push_back(static_cast<char>(value));
}

void put_tag(std::string& to, int field, Wire wire) {
  put_varint(to, static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(wire));
}

template <class Number>
void put_fixed(std::string& to, Number value) {
  char bytes[sizeof(Number)];
  std::memcpy(bytes, &value, sizeof value);  // little-endian, as all machines we run on
  to.append(bytes, sizeof value);
}

void put_bytes(std::string& to, int field, std::string_view bytes) {
  put_tag(to, field, Wire::bytes);
  put_varint(to, bytes.size());
  to.append(bytes);
}

double seconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// Event: 1 wall_time, 2 step, 3 file_version, 5 summary, 7 session_log.
std::string event_of(std::int64_t step) {
  std::string event;
  put_tag(event, 1, Wire::fixed64);
  put_fixed(event, seconds_now());
  put_tag(event, 2, Wire::varint);
  put_varint(event, static_cast<std::uint64_t>(step));
  return event;
}

// TensorFlow stores checksums rotated, so that a file of records can itself be checksummed.
std::uint32_t masked(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8U; }

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0x82f63b78U : 0U);
  }
  return ~crc;
}

EventFile::EventFile(const std::string& folder, std::int64_t first_step)
    : path_(folder + "/events.out.tfevents." +
            std::to_string(static_cast<std::int64_t>(seconds_now())) + ".fourhold"),
      file_(path_, std::ios::binary | std::ios::app) {
  if (!file_) {
    throw Error(path_, std::string("cannot be written: ") + std::strerror(errno),
                "name a folder that can be written to with --out");
  }
  std::string event = event_of(0);
  put_bytes(event, 3, "brain.Event:2");
  write_record(event);
  std::string session;  // SessionLog: 1 status, of which START is 1
  put_tag(session, 1, Wire::varint);
  put_varint(session, 1);
  event = event_of(first_step);
  put_bytes(event, 7, session);
  write_record(event);
}

void EventFile::add(std::int64_t step, std::span<const ScalarEvent> scalars) {
  std::string summary;
  for (const ScalarEvent& scalar : scalars) {
    std::string value;  // Summary.Value: 1 tag, 2 simple_value
    put_bytes(value, 1, scalar.tag);
    put_tag(value, 2, Wire::fixed32);
    put_fixed(value, static_cast<float>(scalar.value));
    put_bytes(summary, 1, value);
  }
  std::string event = event_of(step);
  put_bytes(event, 5, summary);
  write_record(event);
}

void EventFile::write_record(const std::string& event) {
  std::string length;
  put_fixed(length, static_cast<std::uint64_t>(event.size()));
  std::string record = length;
  put_fixed(record, masked(crc32c(length)));
  record += event;
  put_fixed(record, masked(crc32c(event)));
  file_.write(record.data(), static_cast<std::streamsize>(record.size()));
  file_.flush();
  if (!file_) {
    throw Error(path_, std::string("cannot be written: ") + std::strerror(errno),
                "make room on the disk; the run's checkpoints are whole");
  }
}

}  // namespace fourhold::engine
