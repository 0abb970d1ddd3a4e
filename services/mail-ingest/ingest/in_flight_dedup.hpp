#pragma once

#include "common/async/reset_event.hpp"
#include "common/core/awaitable.hpp"
#include "mailbox/ingest_repository.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace tempinbox::mail_ingest {

// The session a message comes from; lives as long as the session.
struct sender
{
    // A function, because SMTP stands above this room: nothing here knows of connections.
    std::function<bool()> has_hung_up;
};

class in_flight_message;
class in_flight_dedup;

// The messages in flight with one digest, indexed so that no call scans them all: `lost` have no
// session any more, `by_session` has those of each session, `oldest` the first one of each session.
// All are keyed by arrival number.
struct in_flight_group
{
    using by_arrival = std::map<std::uint64_t, in_flight_message*>;

    by_arrival lost;
    std::unordered_map<const sender*, by_arrival> by_session;
    by_arrival oldest;
};

// A stored or not yet stored message whose sender may not have seen the 250. It begins when the
// message was read and ends when its session goes on or, if the session ended, when the emails are
// written to mailbox.unacknowledged_emails. Whoever can still change that holds a shared_ptr.
class in_flight_message
{
public:
    in_flight_message(in_flight_dedup& all, std::string digest, const sender& from);
    ~in_flight_message();
    in_flight_message(const in_flight_message&) = delete;

    // The sender will not see the 250 in this session: the session ended, or replied 451.
    void lose_sender();

    std::vector<mailbox::email_key> emails; // what it was stored as

private:
    friend class in_flight_dedup;

    void leave_session();

    in_flight_dedup& all_;
    const sender* from_;
    const std::uint64_t arrival_;
    std::map<std::string, in_flight_group>::iterator group_;
    std::set<std::shared_ptr<async::reset_event>> waiters_;
};

// The messages in flight of this process. A call takes time logarithmic in their number.
class in_flight_dedup
{
public:
    explicit in_flight_dedup(runtime::host& host) : host_(host) {}

    // `digest`: of the whole message.
    std::shared_ptr<in_flight_message> begin(std::string digest, const sender& from);

    // Waits for earlier messages with the same digest whose client (of another session) has gone:
    // this one may be a repeat of them. Whether it is, by sender and recipients, is decided where
    // it is stored. False if the deadline passed first.
    awaitable<bool> wait_for_earlier(const in_flight_message& mail,
                                     std::chrono::steady_clock::time_point deadline);
    // Whether wait_for_earlier would wait.
    bool has_earlier(const in_flight_message& mail) const { return find_earlier(mail) != nullptr; }

    // How many messages find_earlier has examined so far.
    std::uint64_t examined() const { return examined_; }

private:
    friend class in_flight_message;

    in_flight_message* find_earlier(const in_flight_message& mail) const;

    runtime::host& host_;
    std::map<std::string, in_flight_group> by_digest_;
    std::uint64_t arrivals_ = 0;
    mutable std::uint64_t examined_ = 0;
};

} // namespace tempinbox::mail_ingest
