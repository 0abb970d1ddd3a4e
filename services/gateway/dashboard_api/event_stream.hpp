#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/http/message.hpp"
#include "common/kafka/message.hpp"
#include "common/runtime/host.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tempinbox::gateway {

// The page's streams of server-sent events (HTML Standard 9.2): new mail and ended inboxes of the
// account whose session opened the stream, and nobody else's. Bounded in number and in what a slow
// reader may have waiting: past that it is told to read its lists again. Nothing is repeated after
// a reconnection; the page reads its lists then. Runs on the loop.
class event_stream
{
public:
    static constexpr std::size_t max_streams_per_account = 8;
    static constexpr std::size_t max_streams = 1'000;
    static constexpr std::size_t max_queued = 100;

    // Whether the session is open, as the database says; throws when it cannot be asked.
    using session_check = std::function<awaitable<bool>(std::string session_digest)>;

    struct check_times
    {
        std::chrono::milliseconds interval{
            15'000}; // a session is asked for again by then; also the heartbeat
        std::chrono::milliseconds max_age{
            60'000}; // of the last answer, while nobody can be asked; then the stream ends
    };

    event_stream(runtime::host& host, session_check is_open, check_times times);
    event_stream(const event_stream&) = delete;

    // rate_limited past the account's number, unavailable past the process's or when it drains.
    result<std::shared_ptr<const http::body_source>> open(account_id account,
                                                          std::string session_digest);

    // email.received and inbox.expired.
    void take_events(const std::vector<kafka::record>& batch);
    // The session or all sessions of the account ended in this process: so do their streams, at
    // once.
    void end_session(std::string_view session_digest);
    void end_sessions_of(account_id account);
    // Ends all streams; no new ones.
    void interrupt();

    std::size_t streams() const { return streams_.size(); }

private:
    class stream;

    static awaitable<std::string> next(std::shared_ptr<stream> self);

    void take_event(const kafka::record& event);
    void send(account_id account, std::string_view text);

    runtime::host& host_;
    session_check is_open_;
    check_times times_;
    bool is_ending_ = false;
    std::unordered_multimap<account_id, std::weak_ptr<stream>> streams_;
    prometheus::Gauge& open_streams_;
    // Streams of a process that ends may outlive the feed: they find it gone.
    std::shared_ptr<const bool> presence_ = std::make_shared<const bool>(true);
};

} // namespace tempinbox::gateway
