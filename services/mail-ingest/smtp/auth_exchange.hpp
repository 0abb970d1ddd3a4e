#pragma once

#include "mail-ingest/envelope/login.hpp"

#include <optional>
#include <string_view>

namespace tempinbox::smtp {

// One exchange of AUTH (RFC 4954 4), by PLAIN (RFC 4616) or by LOGIN: two lines, user and password.
class auth_exchange
{
public:
    enum class status {
        challenge, // say `challenge()`, then pass the client's next line to `resume`
        complete,  // take_credentials() has what the client gave
        cancelled, // by the client
        malformed  // not base64, empty, not UTF-8, or without the parts that the mechanism has
    };

    // Absent: a mechanism that is not served. Its name is compared without regard to case.
    static std::optional<auth_exchange> begin(std::string_view mechanism);

    // `response`: what followed the mechanism on the line, if anything.
    status start(std::optional<std::string_view> response);
    // `line` is without its end.
    status resume(std::string_view line);

    std::string_view challenge() const;
    credentials take_credentials() { return std::move(given_); }

private:
    enum class phase { plain, user, password };

    explicit auth_exchange(phase first) : phase_(first) {}
    status take(std::string_view encoded);
    status take_plain(std::string_view decoded);

    phase phase_;
    credentials given_;
};

} // namespace tempinbox::smtp
