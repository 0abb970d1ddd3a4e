#include "mime/date.hpp"

#include "mime/view.hpp"

#include <gmime/gmime.h>

namespace tempinbox::mime {

void start()
{
    g_mime_init();
}

std::optional<time_point> parse_date(const std::string& value)
{
    GDateTime* parsed = g_mime_utils_header_decode_date(value.c_str());
    if (!parsed)
        return std::nullopt;
    const auto seconds = g_date_time_to_unix(parsed);
    g_date_time_unref(parsed);
    constexpr std::int64_t year_10000 = 253'402'300'800;
    if (seconds < 0 || seconds >= year_10000)
        return std::nullopt;
    return time_point{std::chrono::seconds{seconds}};
}

} // namespace tempinbox::mime
