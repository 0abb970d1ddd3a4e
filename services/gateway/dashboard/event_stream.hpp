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
// account whose session opened the stream, and of no other. The number of streams is bounded, and
// so is the queue of each: a client too slow for its queue is told to read its lists again. Nothing
// is replayed after a reconnection, because the page then reads its lists. Runs on the loop.
class event_stream
{
public:
    static constexpr std::size_t max_streams_per_account = 8;
    static constexpr std::size_t max_streams = 1'000;
    static constexpr std::size_t max_queued = 100;

    // Whether the session is open in the database; throws when the database cannot be reached. A
    // function, so that tests let sessions end and the database be away at any moment.
    using session_check = std::function<awaitable<bool>(std::string session_digest)>;

    struct check_times
    {
        // At most this long between two checks of a session; also the heartbeat.
        std::chrono::milliseconds interval{15'000};
        // Of the last successful check while the database cannot be reached; then the stream ends.
        std::chrono::milliseconds max_age{60'000};
    };

    event_stream(runtime::host& host, session_check is_open, check_times times);
    event_stream(const event_stream&) = delete;

    // Fails with rate_limited past the account's bound, with unavailable past the process's bound
    // or during a drain.
    result<std::shared_ptr<const http::body_source>> open(account_id account,
                                                          std::string session_digest);

    // inbox.activity and inbox.expired.
    void take_events(const std::vector<kafka::record>& batch);
    // The session, or all sessions of the account, ended in this process: their streams end at
    // once.
    void end_session(std::string_view session_digest);
    void end_sessions_of(account_id account);
    // Ends all streams and refuses new ones.
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
    // During shutdown a stream may outlive this object: it sees that this pointer has expired.
    std::shared_ptr<const bool> presence_ = std::make_shared<const bool>(true);
};

} // namespace tempinbox::gateway
