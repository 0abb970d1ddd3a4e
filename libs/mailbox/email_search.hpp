#pragma once

#include "common/core/ids.hpp"
#include "mailbox/email_filter.hpp"
#include "mailbox/types.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tempinbox::mailbox {

// Asks for the emails with the lowest sequences above `after` that match.
struct email_search
{
    std::int64_t after = 0;
    email_filter filter;
    std::size_t max_matches = 1;
};

// An email that was compared and does not match.
struct near_miss
{
    email_id email;
    std::int64_t sequence = 0;
    failed_condition field = filter_field::from;
    std::string actual; // shortened
};

// If fewer emails matched than asked for and searched_to < last_sequence, call again from
// searched_to.
struct search_result
{
    std::vector<email_id> emails; // in order of sequence
    std::int64_t searched_to = 0;
    std::vector<near_miss> near_misses; // the newest ten, in order of sequence
};

struct search_results
{
    std::int64_t last_sequence = 0;
    std::vector<search_result> results; // in the order of the searches
};

// An email as searches compare it.
struct examined_email
{
    email_id id;
    std::int64_t sequence = 0;
    filtered_email email;
    message_location message = {};
};

// Emails of an inbox above a sequence, in order of sequence.
struct examined_emails
{
    std::int64_t last_sequence = 0; // of the inbox
    std::vector<examined_email> emails;
    bool is_whole = false; // up to last_sequence
};

// The state of one search while emails are read, in order of sequence.
class search_run
{
public:
    explicit search_run(const email_search& search);

    bool is_done(std::int64_t last_sequence) const { return is_full() || after_ >= last_sequence; }
    std::int64_t after() const { return after_; }

    // Whether `examine` needs the email's message.
    bool is_undecided(const examined_email& read) const;
    void examine(const examined_email& read);
    // The search has examined every email up to `sequence`.
    void searched_up_to(std::int64_t sequence);

    search_result take() { return std::move(result_); }

private:
    bool is_full() const { return result_.emails.size() >= max_matches_; }

    compiled_filter filter_;
    std::int64_t after_;
    std::size_t max_matches_;
    search_result result_;
};

} // namespace tempinbox::mailbox
