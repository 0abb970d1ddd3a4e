#pragma once

#include "common/core/awaitable.hpp"
#include "common/runtime/completion.hpp"
#include "mailbox/unacknowledged_store.hpp"

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

// Whoever sends a message, as long as the session lasts.
struct sender
{
    std::function<bool()> has_hung_up;
};

class in_flight_message;
class in_flight_dedup;

// The undecided mail of one digest, so kept that none of it has to be looked through: what has lost
// its sender, what each session has, and of each session the oldest.
struct in_flight_group
{
    using by_arrival = std::map<std::uint64_t, in_flight_message*>;

    by_arrival lost;
    std::unordered_map<const sender*, by_arrival> by_session;
    by_arrival oldest;
};

// A message of which nobody can say yet whether its sender surely knows what became of it: from its
// reading until its session went on or, where that ended, until it is written down. Whoever may
// still decide holds it.
class in_flight_message
{
public:
    in_flight_message(in_flight_dedup& all, std::string digest, const sender& from);
    ~in_flight_message();
    in_flight_message(const in_flight_message&) = delete;

    // The sender will not come to know by this session: it ended, or told it 451.
    void lose_sender();

    std::vector<mailbox::email_key> emails; // it was stored as

private:
    friend class in_flight_dedup;

    void leave_session();

    in_flight_dedup& all_;
    const sender* from_;
    const std::uint64_t arrival_;
    std::map<std::string, in_flight_group>::iterator group_;
    std::set<std::shared_ptr<runtime::completion>> waiters_;
};

// All of a process. What a call costs grows with the logarithm of how many there are.
class in_flight_dedup
{
public:
    explicit in_flight_dedup(runtime::host& host) : host_(host) {}

    // `digest`: of the whole message.
    std::shared_ptr<in_flight_message> begin(std::string digest, const sender& from);

    // Waits for those of the same digest that came before, where another session's client has gone
    // meanwhile: this one may be the same again. False when the deadline passed first.
    awaitable<bool> wait_for_earlier(const in_flight_message& mail,
                                     std::chrono::steady_clock::time_point deadline);
    // Whether there is one to wait for.
    bool has_earlier(const in_flight_message& mail) const { return find_earlier(mail) != nullptr; }

    // How many messages were looked at so far to answer that.
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
