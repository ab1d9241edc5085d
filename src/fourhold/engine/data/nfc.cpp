// The only file that knows utf8proc.
#include "fourhold/engine/data/nfc.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "fourhold/base/error.h"

namespace fourhold::engine::data {

std::string nfc(std::string_view text) {
  utf8proc_uint8_t* out = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &out,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(out, &std::free);
  if (size == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
  if (size < 0) throw Error("text", utf8proc_errmsg(size), "save the text as UTF-8");
  return {reinterpret_cast<const char*>(out), static_cast<std::size_t>(size)};
}

}  // namespace fourhold::engine::data
