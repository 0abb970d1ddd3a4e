#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/http/message.hpp"
#include "common/kafka/message.hpp"
#include "common/runtime/host.hpp"

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tempinbox::gateway {

// The page's streams of server-sent events (HTML Standard 9.2): new mail and ended inboxes of the account whose session opened
// the stream, and nobody else's. Bounded in number and in what a slow reader may have waiting: past that it is told to read its
// lists again. Nothing is repeated after a reconnection; the page reads its lists then. Runs on the loop.
class mail_feed
{
public:
    static constexpr std::size_t most_streams_of_account = 8;
    static constexpr std::size_t most_streams = 1'000;
    static constexpr std::size_t most_waiting = 100;

    // Asked at each heartbeat: a stream ends with its session.
    using session_check = std::function<awaitable<bool>(std::string session_digest)>;

    mail_feed(runtime::host& host, session_check is_open);
    mail_feed(const mail_feed&) = delete;

    // rate_limited past the account's number, unavailable past the process's or when it drains.
    result<std::shared_ptr<const http::body_source>> open(account_id account, std::string session_digest);

    // email.received and inbox.expired.
    void take_events(const std::vector<kafka::record>& batch);
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
    bool is_ending_ = false;
    std::unordered_multimap<account_id, std::weak_ptr<stream>> streams_;
    prometheus::Gauge& open_streams_;
    // Streams of a process that ends may outlive the feed: they find it gone.
    std::shared_ptr<const bool> presence_ = std::make_shared<const bool>(true);
};

} // namespace tempinbox::gateway
