#include "common/http/request_id.hpp"

#include "common/core/ascii.hpp"
#include "common/core/ids.hpp"

#include <algorithm>

namespace tempinbox::http {
namespace {

bool is_sane(std::string_view id)
{
    return !id.empty() && id.size() <= 128 && std::all_of(id.begin(), id.end(), [](char c) {
        return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-';
    });
}

} // namespace

std::string choose_request_id(const request& received)
{
    const auto given = received.header("X-Request-Id");
    return given && is_sane(*given) ? std::string(*given) : uuid::make_v7().text();
}

} // namespace tempinbox::http
