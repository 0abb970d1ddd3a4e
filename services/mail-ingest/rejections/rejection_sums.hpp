#pragma once

#include "mailbox/rejection.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tempinbox::mail_ingest {

struct rejection_bounds
{
    std::size_t rows_per_inbox = mailbox::max_rejections_per_inbox;
    std::size_t rows_per_minute = 10'000; // also how many are held
};

// The rejections that are not written yet: a row for all attempts of one sender to mail one inbox
// that were refused for one reason. Bounded in rows and in their texts. Without clock or database.
class rejection_sums
{
public:
    using steady_time = std::chrono::steady_clock::time_point;

    explicit rejection_sums(rejection_bounds bounds = {}) : bounds_(bounds) {}

    // Adds one attempt or more. False if there is no room for its row: it is dropped.
    bool add(mailbox::new_rejection one, steady_time now);

    // Removes and returns rows, at most `max`.
    std::vector<mailbox::new_rejection> take(std::size_t max);
    // For rows that were taken and not written. Returns how many attempts were dropped, since
    // others have taken their room.
    std::int64_t requeue(std::vector<mailbox::new_rejection> rows);

    std::size_t size() const { return size_; }

private:
    using reason_and_sender = std::pair<std::string, std::string>;
    using rows_of_inbox = std::map<reason_and_sender, mailbox::new_rejection>;

    bool merge(mailbox::new_rejection& one);
    bool has_room(inbox_id inbox) const;
    void insert(mailbox::new_rejection one);
    bool is_in_budget(steady_time now);

    rejection_bounds bounds_;
    std::map<inbox_id, rows_of_inbox> inboxes_;
    std::size_t size_ = 0;
    steady_time minute_start_;
    std::size_t rows_of_minute_ = 0;
};

} // namespace tempinbox::mail_ingest
