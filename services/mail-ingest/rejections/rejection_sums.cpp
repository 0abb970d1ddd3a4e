#include "mail-ingest/rejections/rejection_sums.hpp"

#include "common/core/text.hpp"

#include <algorithm>
#include <string_view>

namespace tempinbox::mail_ingest {
namespace {

// RFC 5321 4.5.3.1.3 and 4.5.3.1.5.
constexpr std::size_t max_sender_length = 256;
constexpr std::size_t max_reply_length = 512;

std::string shorten(std::string_view text, std::size_t max_length)
{
    return to_clean_utf8(text.substr(0, max_length));
}

} // namespace

bool rejection_sums::add(mailbox::new_rejection one, steady_time now)
{
    one.mail_from = shorten(one.mail_from, max_sender_length);
    one.reply = shorten(one.reply, max_reply_length);
    if (merge(one))
        return true;
    if (!has_room(one.inbox) || !is_in_budget(now))
        return false;
    ++rows_of_minute_;
    insert(std::move(one));
    return true;
}

std::vector<mailbox::new_rejection> rejection_sums::take(std::size_t max)
{
    std::vector<mailbox::new_rejection> taken;
    while (!inboxes_.empty() && taken.size() < max) {
        auto& rows = inboxes_.begin()->second;
        taken.push_back(std::move(rows.begin()->second));
        rows.erase(rows.begin());
        if (rows.empty())
            inboxes_.erase(inboxes_.begin());
    }
    size_ -= taken.size();
    return taken;
}

std::int64_t rejection_sums::requeue(std::vector<mailbox::new_rejection> rows)
{
    std::int64_t dropped = 0;
    for (auto& one : rows) {
        if (merge(one))
            continue;
        if (has_room(one.inbox))
            insert(std::move(one));
        else
            dropped += one.attempts;
    }
    return dropped;
}

// False if there is no row of this inbox, reason and sender.
bool rejection_sums::merge(mailbox::new_rejection& one)
{
    const auto inbox = inboxes_.find(one.inbox);
    if (inbox == inboxes_.end())
        return false;
    const auto found = inbox->second.find({one.reason, one.mail_from});
    if (found == inbox->second.end())
        return false;
    auto& row = found->second;
    row.attempts += one.attempts;
    row.first_at = std::min(row.first_at, one.first_at);
    if (one.last_at >= row.last_at) {
        row.last_at = one.last_at;
        row.reply = std::move(one.reply);
    }
    return true;
}

bool rejection_sums::has_room(inbox_id inbox) const
{
    if (size_ >= bounds_.rows_per_minute)
        return false;
    const auto found = inboxes_.find(inbox);
    return found == inboxes_.end() || found->second.size() < bounds_.rows_per_inbox;
}

void rejection_sums::insert(mailbox::new_rejection one)
{
    auto& rows = inboxes_[one.inbox];
    reason_and_sender key{one.reason, one.mail_from};
    rows.emplace(std::move(key), std::move(one));
    ++size_;
}

bool rejection_sums::is_in_budget(steady_time now)
{
    if (rows_of_minute_ == 0 || now - minute_start_ >= std::chrono::minutes(1)) {
        minute_start_ = now;
        rows_of_minute_ = 0;
    }
    return rows_of_minute_ < bounds_.rows_per_minute;
}

} // namespace tempinbox::mail_ingest
