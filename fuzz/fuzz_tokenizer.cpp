// Any bytes as a tokenizer.json: refused with an Error, or a tokenizer whose ids are in its
// vocabulary and can be decoded.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "fourhold/base/error.h"
#include "fourhold/engine/data/byte_bpe_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  namespace data = fourhold::engine::data;
  const std::string_view json(reinterpret_cast<const char*>(bytes), size);
  try {
    const std::unique_ptr<data::Tokenizer> tokenizer = data::make_byte_bpe_tokenizer(json, "fuzz");
    (void)tokenizer->end_of_text();
    for (const std::string_view text :
         {std::string_view("the abab\n\n  12 it's <|endoftext|> caf\xC3\xA9 "),
          std::string_view("aaaaaaaaaaaaaaaabbbb"), json.substr(0, 2000)}) {
      try {
        const std::vector<data::TokenId> ids = tokenizer->encode(text);
        for (const data::TokenId id : ids) {
          if (id < 0 || id >= tokenizer->vocabulary_size()) std::abort();
        }
        (void)tokenizer->decode(ids);
      } catch (
          const fourhold::Error& error) {  // a byte without a token, a text cut inside a letter
        if (error.exit_code() != fourhold::ExitCode::bad_input) std::abort();
      }
    }
  } catch (const fourhold::Error& error) {
    if (error.exit_code() != fourhold::ExitCode::bad_input) std::abort();
  }
  return 0;
}
