#pragma once

#include "common/core/awaitable.hpp"
#include "common/runtime/completion.hpp"
#include "mailbox/unconfirmed_store.hpp"

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

class undecided_mail;
class undecided_mails;

// The undecided mail of one digest, so kept that none of it has to be looked through: what has lost
// its sender, what each session has, and of each session the oldest.
struct undecided_group
{
    using by_arrival = std::map<std::uint64_t, undecided_mail*>;

    by_arrival lost;
    std::unordered_map<const sender*, by_arrival> by_session;
    by_arrival oldest;
};

// A message of which nobody can say yet whether its sender surely knows what became of it: from its
// reading until its session went on or, where that ended, until it is written down. Whoever may
// still decide holds it.
class undecided_mail
{
public:
    undecided_mail(undecided_mails& all, std::string digest, const sender& from);
    ~undecided_mail();
    undecided_mail(const undecided_mail&) = delete;

    // The sender will not come to know by this session: it ended, or told it 451.
    void lose_sender();

    std::vector<mailbox::email_key> emails; // it was stored as

private:
    friend class undecided_mails;

    void leave_session();

    undecided_mails& all_;
    const sender* from_;
    const std::uint64_t arrival_;
    std::map<std::string, undecided_group>::iterator group_;
    std::set<std::shared_ptr<runtime::completion>> waiting_;
};

// All of a process. What a call costs grows with the logarithm of how many there are.
class undecided_mails
{
public:
    explicit undecided_mails(runtime::host& host) : host_(host) {}

    // `digest`: of the whole message.
    std::shared_ptr<undecided_mail> begin(std::string digest, const sender& from);

    // Waits for those of the same digest that came before, where another session's client has gone
    // meanwhile: this one may be the same again. False when the deadline passed first.
    awaitable<bool> wait_for_earlier(const undecided_mail& mail,
                                     std::chrono::steady_clock::time_point deadline);
    // Whether there is one to wait for.
    bool has_earlier(const undecided_mail& mail) const { return find_earlier(mail) != nullptr; }

    // How many messages were looked at so far to answer that.
    std::uint64_t looked_at() const { return looked_at_; }

private:
    friend class undecided_mail;

    undecided_mail* find_earlier(const undecided_mail& mail) const;

    runtime::host& host_;
    std::map<std::string, undecided_group> by_digest_;
    std::uint64_t arrivals_ = 0;
    mutable std::uint64_t looked_at_ = 0;
};

} // namespace tempinbox::mail_ingest
