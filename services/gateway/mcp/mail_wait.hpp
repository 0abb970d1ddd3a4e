#pragma once

#include "common/core/awaitable.hpp"
#include "common/json/object_reader.hpp"
#include "gateway/mcp/api_calls.hpp"
#include "gateway/mcp/mail_content.hpp"
#include "gateway/mcp/tool_result.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::gateway::mcp {

constexpr std::int64_t standard_wait = 25; // seconds: clients of MCP give up after 60
constexpr std::int64_t max_wait = 45;

// wait_for_email, get_code and get_link: waits for a mail by the long poll of /v1, in steps, so
// that progress can be reported in between. It keeps nothing but its arguments: whoever calls again
// with the `after` of the result goes on where it ended, at any replica.
class mail_wait
{
public:
    enum class purpose { email, code, link };

    static result<mail_wait> read(purpose chosen, const json::value& arguments);

    // At most so many seconds, past every email that comes in them. Without a result the wait goes
    // on with the next step.
    awaitable<std::optional<tool_result>> step(api_calls& calls, std::chrono::seconds max);

    std::chrono::seconds timeout() const { return timeout_; }
    std::chrono::seconds waited() const;

private:
    using clock = std::chrono::steady_clock;

    explicit mail_wait(purpose chosen) : purpose_(chosen) {}

    // What was read of an email, or of the response to a long poll.
    struct reading
    {
        std::string outcome; // of the long poll
        std::int64_t sequence = 0;
        bool is_cut = false;
        std::optional<tool_result> result; // absent: the email has not what is waited for
    };

    query_list query(clock::time_point end) const;
    std::chrono::seconds left() const { return timeout_ - waited(); }
    reading read_poll(const std::string& body) const;
    reading read_part(const json::value& email) const;
    tool_result finish_email(const json::value& answer) const;
    tool_result not_yet(const json::value* answer) const;
    awaitable<std::optional<tool_result>> look_into(api_calls& calls) const;

    purpose purpose_;
    std::string inbox_; // either this
    std::string email_; // or this
    query_list conditions_;
    std::optional<std::string> kind_;
    std::int64_t after_ = 0;
    std::chrono::seconds timeout_{0};
    std::optional<clock::time_point> began_;
    bool has_waited_ = false;
    std::size_t skipped_bytes_ = 0; // of emails without what is waited for
    bool is_cut_ = false;           // some of these may hold more
};

} // namespace tempinbox::gateway::mcp
