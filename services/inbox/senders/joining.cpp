#include "inbox/senders/joining.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace tempinbox::inbox {
namespace {

// Of one origin. A sender with more of them at once is not told apart any more.
constexpr std::size_t max_candidates = 100;

std::string origin_of(const mailbox::v1::Attempt& attempt)
{
    return attempt.login().empty() ? "address " + attempt.remote_address()
                                   : "login " + attempt.login();
}

// A message while its attempts are gathered.
struct gathered
{
    sent_message message;
    std::optional<std::string> sender; // unknown after AUTH alone
    settled_recipients settled;
    std::optional<std::uint64_t> content; // of the last that was read
    bool has_id = false;
    bool is_open = false;    // a recipient is deferred
    bool is_refused = false; // none is, and one is refused
    time_point last_at;
};

class joiner
{
public:
    explicit joiner(const std::vector<stored_attempt>& attempts) : attempts_(attempts) {}

    std::vector<sent_message> join()
    {
        for (std::size_t i = 0; i < attempts_.size(); ++i)
            add(i);
        std::vector<sent_message> messages;
        messages.reserve(messages_.size());
        for (auto& each : messages_)
            messages.push_back(std::move(each.message));
        return messages;
    }

private:
    void add(std::size_t index)
    {
        const auto& attempt = attempts_[index].what;
        const auto& id = attempt.message_id();
        const auto known = id.empty() ? by_id_.end() : by_id_.find(id);
        const auto found = known != by_id_.end() ? known->second : choose(attempts_[index]);
        if (!id.empty())
            by_id_.emplace(id, found);
        take(messages_[found], index);
    }

    // The index of the message that the attempt belongs to.
    std::size_t choose(const stored_attempt& stored)
    {
        auto& of_origin = by_origin_[origin_of(stored.what)];
        const auto recipients = recipients_of(stored.what);
        std::optional<std::size_t> open, refused;
        bool is_ambiguous = false;
        std::size_t looked_at = 0;
        for (auto i = of_origin.rbegin(); i != of_origin.rend(); ++i) {
            const auto& candidate = messages_[*i];
            const bool may_come_again = candidate.is_refused && !stored.what.has_message() &&
                                        stored.at - candidate.last_at < max_refused_age;
            if (!candidate.is_open && !may_come_again)
                continue;
            if (++looked_at > max_candidates)
                break;
            if (!fits(candidate, stored.what, recipients))
                continue;
            if (candidate.is_open) {
                is_ambiguous |= open.has_value();
                if (!open || candidate.last_at <= messages_[*open].last_at)
                    open = *i;
            } else if (!refused) {
                refused = *i;
            }
        }
        if (open || refused) {
            const auto chosen = open ? *open : *refused;
            messages_[chosen].message.is_ambiguous |= is_ambiguous || !open;
            return chosen;
        }
        messages_.emplace_back();
        of_origin.push_back(messages_.size() - 1);
        return messages_.size() - 1;
    }

    static bool fits(const gathered& candidate, const mailbox::v1::Attempt& attempt,
                     const digests& recipients)
    {
        // With another Message-ID, or another content, it is another message.
        if (attempt.has_message() && candidate.content &&
            (candidate.has_id || !attempt.message_id().empty() ||
             *candidate.content != attempt.content()))
            return false;
        const bool knows_sender = attempt.stage() != "auth" && candidate.sender.has_value();
        return (!knows_sender || *candidate.sender == attempt.mail_from()) &&
               candidate.settled.are_like(recipients);
    }

    void take(gathered& message, std::size_t index)
    {
        const auto& [id, at, end, attempt] = attempts_[index];
        message.message.attempts.push_back(index);
        message.last_at = at;
        message.has_id |= !attempt.message_id().empty();
        if (attempt.has_message())
            message.content = attempt.content();
        if (attempt.stage() != "auth")
            message.sender = attempt.mail_from();
        for (const auto& recipient : attempt.recipients())
            message.settled.settle(recipient.digest(), outcome_of(recipient.code()));
        const auto last = outcome_of(attempt.code());
        message.is_open = message.settled.is_any(outcome::deferred, last);
        message.is_refused = !message.is_open && message.settled.is_any(outcome::refused, last);
    }

    const std::vector<stored_attempt>& attempts_;
    std::vector<gathered> messages_;
    std::map<std::string, std::size_t> by_id_;
    std::map<std::string, std::vector<std::size_t>> by_origin_;
};

} // namespace

bool settled_recipients::settle(std::uint64_t digest, outcome what)
{
    const auto [known, is_new] = outcomes_.try_emplace(digest, what);
    if (!is_new) {
        if (known->second == outcome::accepted)
            return false;
        --count(known->second);
        known->second = what;
    }
    ++count(what);
    return is_new;
}

bool settled_recipients::are_like(const digests& others) const
{
    const auto is_here = [&](std::uint64_t digest) { return outcomes_.contains(digest); };
    const auto is_there = [&](const auto& one) {
        return std::ranges::binary_search(others, one.first);
    };
    return outcomes_.empty() || others.empty() || std::ranges::all_of(others, is_here) ||
           (outcomes_.size() <= others.size() && std::ranges::all_of(outcomes_, is_there));
}

digests recipients_of(const mailbox::v1::Attempt& attempt)
{
    digests all;
    all.reserve(static_cast<std::size_t>(attempt.recipients_size()));
    for (const auto& recipient : attempt.recipients())
        all.push_back(recipient.digest());
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

outcome outcome_of(int code)
{
    if (code / 100 == 2)
        return outcome::accepted;
    return code / 100 == 5 ? outcome::refused : outcome::deferred;
}

std::vector<sent_message> join_attempts(const std::vector<stored_attempt>& attempts)
{
    return joiner(attempts).join();
}

} // namespace tempinbox::inbox
