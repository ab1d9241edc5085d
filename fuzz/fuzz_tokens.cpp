// Any bytes as a token file, as a Megatron index and as a token file's card: refused with an Error,
// or read with sizes that agree.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "fourhold/base/error.h"
#include "fourhold/base/json.h"
#include "fourhold/engine/data/megatron_index.h"
#include "fourhold/engine/data/token_card.h"
#include "fourhold/engine/data/token_file.h"

namespace {

namespace data = fourhold::engine::data;

void read_tokens(std::string_view file) {
  const data::TokenLayout layout = data::token_layout(file, "fuzz");
  const std::int64_t width = data::info(layout.type).bytes;
  if (layout.first_byte + layout.count * width != static_cast<std::int64_t>(file.size()))
    std::abort();
  const char* tokens = file.data() + layout.first_byte;
  const auto bad = data::first_outside(tokens, layout.type, layout.count, 50257);
  const std::int64_t good = bad ? bad->index : layout.count;
  std::array<data::TokenId, 64> ids{};
  const auto some =
      std::span(ids).first(static_cast<std::size_t>(std::min<std::int64_t>(good, 64)));
  data::load_ids(tokens, layout.type, some);
  for (const data::TokenId id : some) {
    if (id < 0 || id >= 50257) std::abort();
  }
}

void read_index(std::string_view file) {
  const data::MegatronIndex index(file, "fuzz");
  std::int64_t reached = 0;
  for (std::int64_t i = 0; i <= index.documents(); ++i) {
    if (index.document_start(i) < reached) std::abort();
    reached = index.document_start(i);
  }
  if (reached != index.tokens()) std::abort();
}

void read_card(std::string_view file) {
  const data::TokenCard card = data::token_card_from_json(file, "fuzz");
  const std::string text = fourhold::json::write(data::to_json(card));
  if (!(data::token_card_from_json(text, "written") == card)) std::abort();
}

template <typename Read>
void attempt(Read&& read, std::string_view file) {
  try {
    read(file);
  } catch (const fourhold::Error& error) {
    if (error.exit_code() != fourhold::ExitCode::bad_input) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(bytes), size);
  attempt(read_tokens, file);
  attempt(read_index, file);
  attempt(read_card, file);
  return 0;
}
