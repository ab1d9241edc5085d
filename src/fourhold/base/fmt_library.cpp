// The code of {fmt} 9, compiled once for all libraries. Its header-only mode would compile it into
// every file that formats, which doubles their compile time.
//
// <fmt/format.h> only declares these for char; the header below defines everything else.
#include <fmt/format-inl.h>

#include <locale>

namespace fmt::detail {

template dragonbox::decimal_fp<float> dragonbox::to_decimal(float);
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double);
template thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template char decimal_point_impl<char>(locale_ref);
template locale_ref::locale_ref(const std::locale&);
template std::locale locale_ref::get<std::locale>() const;

}  // namespace fmt::detail
