#pragma once

#include "common/core/awaitable.hpp"
#include "common/runtime/completion.hpp"
#include "mailbox/unconfirmed_store.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::mail_ingest {

// Whoever sends a message, as long as the session lasts.
struct sender
{
    std::function<bool()> has_hung_up;
};

class undecided_mails;

// A message of which nobody can say yet whether its sender surely knows what became of it: from its reading until its session
// went on or, where that ended, until it is written down. Whoever may still decide holds it.
class undecided_mail
{
public:
    undecided_mail(undecided_mails& all, std::string digest, const sender& from);
    ~undecided_mail();
    undecided_mail(const undecided_mail&) = delete;

    // The sender will not come to know by this session: it ended, or told it 451.
    void lose_sender() { from_ = nullptr; }

    std::vector<mailbox::email_key> emails; // it was stored as

private:
    friend class undecided_mails;

    undecided_mails& all_;
    const std::string digest_;
    const sender* from_;
    std::multimap<std::string_view, undecided_mail*>::iterator place_;
    std::vector<std::shared_ptr<runtime::completion>> waiting_;
};

// All of a process.
class undecided_mails
{
public:
    explicit undecided_mails(runtime::host& host) : host_(host) {}

    // `digest`: of the whole message.
    std::shared_ptr<undecided_mail> begin(std::string digest, const sender& from);

    // Waits for those of the same digest that came before, where another session's client has gone meanwhile: this one may be the
    // same again. False when the deadline passed first.
    awaitable<bool> wait_for_earlier(const undecided_mail& mail, std::chrono::steady_clock::time_point deadline);
    // Whether there is one to wait for.
    bool has_earlier(const undecided_mail& mail) const { return find_earlier(mail) != nullptr; }

private:
    friend class undecided_mail;

    undecided_mail* find_earlier(const undecided_mail& mail) const;

    runtime::host& host_;
    std::multimap<std::string_view, undecided_mail*> by_digest_; // of equal ones in the order they came
};

} // namespace tempinbox::mail_ingest
