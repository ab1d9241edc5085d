// Reads the JSON of a safetensors header piece by piece: a header may be 100 MB long, so no tree of
// values is built, and a fault can name the byte of the file where it stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fourhold::model {

class HeaderScanner {
 public:
  // The next step where a fault has none of its own.
  static constexpr const char* kDamaged =
      "the file is damaged, or its writer was faulty: fetch or write it again";

  // `text` must outlive the scanner; its first byte stands at `file_offset` in the file `where`.
  HeaderScanner(std::string_view text, std::int64_t file_offset, std::string where);

  // The offset in the file of the next character that is no white space.
  [[nodiscard]] std::int64_t offset();

  // Consumes `wanted` if it comes next.
  [[nodiscard]] bool take(char wanted);
  // Consumes `wanted`, or fails: "expected ':' after the name of a tensor, found ...".
  void expect(char wanted, std::string_view place);
  // A JSON string, decoded. `what` says what it is, for the fault.
  [[nodiscard]] std::string string(std::string_view what);
  // A JSON integer from 0 to the largest int64.
  [[nodiscard]] std::int64_t integer(std::string_view what);
  // Nothing but white space may follow.
  void finish();

  // Raises Error at a byte of the file.
  [[noreturn]] void fail_at(std::int64_t offset, const std::string& fault,
                            std::string hint = kDamaged) const;

 private:
  [[nodiscard]] std::string found() const;
  [[nodiscard]] char next_of(std::string_view what);
  void skip_space();
  void append_escape(std::string& out, std::string_view what);
  [[nodiscard]] std::uint32_t hex4(std::string_view what);
  void append_utf8_sequence(std::string& out, std::string_view what);
  [[nodiscard]] std::int64_t here() const { return file_offset_ + static_cast<std::int64_t>(at_); }

  std::string_view text_;
  std::size_t at_ = 0;
  std::int64_t file_offset_;
  std::string where_;
};

}  // namespace fourhold::model
