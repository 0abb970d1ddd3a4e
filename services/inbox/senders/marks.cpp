#include "inbox/senders/marks.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace tempinbox::inbox {
namespace {

using std::chrono::milliseconds;
using numbers = std::set<int>;

int number_of(std::size_t index)
{
    return static_cast<int>(index) + 1;
}

// An attempt that was deferred or refused, and the next one for the same recipients, if one came.
struct failed_attempt
{
    std::size_t index = 0;
    std::optional<std::size_t> next;
};

struct failures
{
    std::vector<failed_attempt> deferred;
    std::vector<failed_attempt> refused;
};

// The attempts of a message that come later than one that is looked at.
class later_attempts
{
public:
    void add(std::size_t index, const mailbox::v1::Attempt& attempt)
    {
        nearest_ = index;
        if (attempt.recipients().empty())
            nearest_without_recipients_ = index;
        for (const auto& recipient : attempt.recipients())
            nearest_to_[recipient.digest()] = index;
    }

    // The next one for recipients with this outcome, or for who knows whom.
    std::optional<std::size_t> next_for(const mailbox::v1::Attempt& attempt, outcome what) const
    {
        if (attempt.recipients().empty())
            return nearest_;
        auto next = what == outcome::deferred ? nearest_without_recipients_ : std::nullopt;
        for (const auto& recipient : attempt.recipients()) {
            const auto found = nearest_to_.find(recipient.digest());
            if (outcome_of(recipient.code()) == what && found != nearest_to_.end())
                next = next ? std::min(*next, found->second) : found->second;
        }
        return next;
    }

private:
    std::optional<std::size_t> nearest_;
    std::optional<std::size_t> nearest_without_recipients_;
    std::unordered_map<std::uint64_t, std::size_t> nearest_to_;
};

bool has(const mailbox::v1::Attempt& attempt, outcome what)
{
    if (attempt.recipients().empty())
        return outcome_of(attempt.code()) == what;
    return std::ranges::any_of(attempt.recipients(), [&](const auto& recipient) {
        return outcome_of(recipient.code()) == what;
    });
}

failures failures_of(const std::vector<stored_attempt>& attempts, const sent_message& message)
{
    failures found;
    later_attempts later;
    for (auto i = message.attempts.rbegin(); i != message.attempts.rend(); ++i) {
        const auto& attempt = attempts[*i].what;
        if (has(attempt, outcome::deferred))
            found.deferred.push_back({*i, later.next_for(attempt, outcome::deferred)});
        if (has(attempt, outcome::refused))
            found.refused.push_back({*i, later.next_for(attempt, outcome::refused)});
        later.add(*i, attempt);
    }
    std::ranges::reverse(found.deferred);
    std::ranges::reverse(found.refused);
    return found;
}

std::chrono::seconds retry_time_of(const std::vector<stored_attempt>& attempts,
                                   const sent_message& message)
{
    const bool is_server = std::ranges::any_of(message.attempts, [&](std::size_t index) {
        const auto& attempt = attempts[index].what;
        return attempt.is_relayed() || attempt.is_chunked() ||
               (attempt.is_pipelined() && attempt.has_size());
    });
    return is_server ? std::chrono::seconds(server_retry_time) : program_retry_time;
}

std::string in_seconds(std::chrono::microseconds time)
{
    return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s";
}

// A pause of less than a second in tenths.
std::string in_tenths(std::chrono::microseconds time)
{
    if (time >= std::chrono::seconds(1))
        return in_seconds(time);
    const auto tenths = std::chrono::duration_cast<milliseconds>(time).count() / 100;
    return tenths > 0 ? "0." + std::to_string(tenths) + " s" : "less than 0.1 s";
}

// One content from one sender to the same recipients.
using content_key = std::tuple<std::uint64_t, std::string, std::string, digests>;

content_key key_of(const mailbox::v1::Attempt& attempt)
{
    return {attempt.content(), attempt.mail_from(), attempt.login(), recipients_of(attempt)};
}

// Attempts that speak for a yes and for a no; a no counts more.
struct evidence
{
    numbers yes;
    numbers no;
};

class marker
{
public:
    marker(const std::vector<stored_attempt>& attempts, const std::vector<sent_message>& messages,
           time_point now)
        : attempts_(attempts),
          messages_(messages),
          now_(now)
    {}

    std::vector<v1::SenderMark> mark()
    {
        for (const auto& message : messages_)
            look_at(message);
        look_at_contents();
        add("retriesAfter4xx", "RFC 5321 4.5.4.1", retries_, note_of_retries());
        add("backsOff", "RFC 5321 4.5.4.1", backoff_, note_of_backoff());
        add("stopsAfter5xx", "RFC 5321 4.2.1", stops_);
        add("keepsOtherRecipients", "RFC 5321 3.3", others_);
        add("sameMessageId", "RFC 5322 3.6.4", same_id_);
        auto& duplicates = add("duplicates", "RFC 5321 6.1", duplicates_);
        duplicates.set_count(duplicate_count_);
        add_seen("tls", "RFC 3207 4", [](const stored_attempt& one) -> std::optional<bool> {
            return !one.what.tls().empty();
        });
        add_seen("pipelining", "RFC 2920 3.1", [](const stored_attempt& one) {
            return one.what.stage() == "auth" ? std::nullopt
                                              : std::optional(one.what.is_pipelined());
        });
        // Of sessions that the sender ended.
        add_seen("quit", "RFC 5321 4.1.1.10", [](const stored_attempt& one) {
            return !one.end || *one.end == mailbox::session_end::closed
                       ? std::nullopt
                       : std::optional(*one.end == mailbox::session_end::quit);
        });
        add_seen("size", "RFC 1870 5", [](const stored_attempt& one) {
            return one.what.stage() == "auth" ? std::nullopt : std::optional(one.what.has_size());
        });
        return std::move(marks_);
    }

private:
    void look_at(const sent_message& message)
    {
        const auto failed = failures_of(attempts_, message);
        look_at_retries(message, failed.deferred);
        look_at_backoff(failed.deferred);
        for (const auto& [index, next] : failed.refused) {
            if (next)
                stops_.no.insert({number_of(index), number_of(*next)});
            else if (now_ - attempts_[index].at >= give_up_time)
                stops_.yes.insert(number_of(index));
        }
        for (const auto index : message.attempts)
            look_at_recipients(index);
        look_at_duplicates(message);
        look_at_ids(message, failed.deferred);
    }

    // A message that was tried again at all counts: senders give up at some time.
    void look_at_retries(const sent_message& message, const std::vector<failed_attempt>& deferred)
    {
        numbers retried;
        for (const auto& [index, next] : deferred)
            if (next)
                retried.insert({number_of(index), number_of(*next)});
        if (!retried.empty() || deferred.empty()) {
            retries_.yes.merge(retried);
            return;
        }
        const auto since = now_ - attempts_[deferred.back().index].at;
        if (since < retry_time_of(attempts_, message))
            return;
        for (const auto& one : deferred)
            retries_.no.insert(number_of(one.index));
        max_silence_ = std::max(max_silence_, since);
    }

    // RFC 5321 4.5.4.1 is about replies: whoever was cut off may come again at once, as for another
    // address of the host.
    void look_at_backoff(const std::vector<failed_attempt>& deferred)
    {
        std::chrono::microseconds longest{0};
        for (const auto& [index, next] : deferred) {
            if (!next || attempts_[index].what.code() == 0)
                continue;
            const auto delay = attempts_[*next].at - attempts_[index].at;
            shortest_delay_ = std::min(shortest_delay_.value_or(delay), delay);
            // Ever shorter pauses; those of seconds vary by themselves.
            const bool shrinks = longest >= noted_backoff && delay < longest / 2;
            (delay < min_backoff || shrinks ? backoff_.no : backoff_.yes).insert(number_of(*next));
            longest = std::max(longest, delay);
        }
    }

    // RFC 5321 3.3: a recipient that is refused leaves the others as they are. Whoever is cut off
    // cannot go on.
    void look_at_recipients(std::size_t index)
    {
        const auto& attempt = attempts_[index].what;
        bool has_refused = false, has_accepted = false, is_cut_off = false;
        for (const auto& recipient : attempt.recipients()) {
            has_refused |= recipient.is_refused();
            has_accepted |= !recipient.is_refused();
            is_cut_off |=
                recipient.is_refused() && (recipient.code() == 421 || recipient.code() == 0);
        }
        if (has_refused && has_accepted && !is_cut_off)
            (attempt.stage() == "rcpt" ? others_.no : others_.yes).insert(number_of(index));
    }

    // Emails beyond the first that one recipient has of a message.
    void look_at_duplicates(const sent_message& message)
    {
        std::map<std::uint64_t, std::string> first_email;
        std::set<std::string> counted;
        for (const auto index : message.attempts) {
            const auto& attempt = attempts_[index].what;
            if (attempt.message_id().empty() || attempt.email_id().empty())
                continue;
            for (const auto& recipient : attempt.recipients()) {
                if (recipient.is_refused())
                    continue;
                const auto& first =
                    first_email.emplace(recipient.digest(), attempt.email_id()).first->second;
                if (first == attempt.email_id()) {
                    duplicates_.no.insert(number_of(index));
                } else if (counted.insert(attempt.email_id()).second) {
                    ++duplicate_count_;
                    duplicates_.yes.insert(number_of(index));
                }
            }
        }
    }

    // A message that failed once it was read, and came again with its Message-ID.
    void look_at_ids(const sent_message& message, const std::vector<failed_attempt>& deferred)
    {
        for (const auto& [index, next] : deferred) {
            if (!attempts_[index].what.has_message())
                continue;
            bool is_repeated = false;
            for (const auto other : message.attempts) {
                if (other > index && attempts_[other].what.has_message()) {
                    same_id_.yes.insert({number_of(index), number_of(other)});
                    is_repeated = true;
                    break;
                }
            }
            if (!is_repeated)
                lost_.push_back(index);
        }
    }

    // A message that failed once it was read, and of which the content came again for the same
    // recipients with another Message-ID.
    void look_at_contents()
    {
        std::map<content_key, std::vector<std::size_t>> by_content;
        for (std::size_t i = 0; i < attempts_.size(); ++i)
            if (attempts_[i].what.has_message())
                by_content[key_of(attempts_[i].what)].push_back(i);
        for (const auto index : lost_) {
            const auto& failed = attempts_[index].what;
            const auto& alike = by_content[key_of(failed)];
            const auto next = std::ranges::upper_bound(alike, index);
            if (next != alike.end() && attempts_[*next].what.message_id() != failed.message_id())
                same_id_.no.insert({number_of(index), number_of(*next)});
        }
    }

    std::string note_of_retries() const
    {
        if (retries_.no.empty())
            return {};
        return "Nothing came again for " + in_seconds(max_silence_) +
               "; the mark changes when it does";
    }

    std::string note_of_backoff() const
    {
        if (!shortest_delay_ || *shortest_delay_ >= noted_backoff)
            return {};
        return "The shortest pause was " + in_tenths(*shortest_delay_) +
               "; mail servers should wait 30 minutes in general";
    }

    v1::SenderMark& add(std::string_view name, std::string_view section, const evidence& found,
                        const std::string& note = {})
    {
        auto& mark = marks_.emplace_back();
        mark.set_name(std::string(name));
        mark.set_section(std::string(section));
        const bool is_duplicates = name == "duplicates";
        const bool is_no = is_duplicates ? found.yes.empty() : !found.no.empty();
        const auto& shown = is_no ? found.no : found.yes;
        mark.set_value(shown.empty() ? "not_seen" : is_no ? "no" : "yes");
        for (const auto number : shown)
            if (mark.attempts_size() < max_numbers)
                mark.add_attempts(number);
        mark.set_note(note);
        return mark;
    }

    // `find` says of an attempt whether it shows the feature; absent: it cannot.
    template <class Find>
    void add_seen(std::string_view name, std::string_view section, Find find)
    {
        evidence found;
        for (std::size_t i = 0; i < attempts_.size(); ++i) {
            const auto is_seen = find(attempts_[i]);
            if (is_seen)
                (*is_seen ? found.yes : found.no).insert(number_of(i));
        }
        // Once is enough.
        if (!found.yes.empty())
            found.no.clear();
        add(name, section, found);
    }

    const std::vector<stored_attempt>& attempts_;
    const std::vector<sent_message>& messages_;
    const time_point now_;
    evidence retries_, backoff_, stops_, others_, same_id_, duplicates_;
    int duplicate_count_ = 0;
    std::chrono::microseconds max_silence_{0};
    std::optional<std::chrono::microseconds> shortest_delay_;
    std::vector<std::size_t> lost_; // attempts
    std::vector<v1::SenderMark> marks_;
};

} // namespace

std::vector<v1::SenderMark> make_marks(const std::vector<stored_attempt>& attempts,
                                       const std::vector<sent_message>& messages, time_point now)
{
    return marker(attempts, messages, now).mark();
}

} // namespace tempinbox::inbox
