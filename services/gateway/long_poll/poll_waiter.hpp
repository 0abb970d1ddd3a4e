#pragma once

#include "common/async/reset_event.hpp"
#include "common/core/errors.hpp"
#include "common/core/ids.hpp"

#include "tempinbox/inbox/v1/email_search.pb.h"
#include "tempinbox/inbox/v1/inbox_service.pb.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tempinbox::gateway {

// A request for the email with the lowest sequence above `after` that matches the filter, or for
// several.
struct long_poll_request
{
    account_id account;
    inbox_id inbox;
    std::int64_t after = 0;
    inbox::v1::EmailFilter filter;
    int count = 0; // of emails, whose ids alone are returned; 0: the first one, read whole
    int burst_per_second = 0; // of the account's plan; 0: unlimited
    bool is_of_session = false;
};

enum class long_poll_outcome {
    matched,
    timeout, // the full timeout passed, and a poll after it found nothing
    inbox_ended,
    draining // this process ends; no poll has decided it
};

// The result of a long poll.
struct long_poll_result
{
    long_poll_outcome end = long_poll_outcome::draining;
    std::shared_ptr<const std::string> email; // as JSON, shared by all waiters that get it
    std::int64_t last_sequence = 0;
    std::vector<inbox::v1::NearMiss> near_misses; // the newest ten, by ascending sequence
    std::vector<std::string> matching;            // with a count: ids, by ascending sequence
    std::int64_t searched_to = 0;                 // no other email up to here matches
};

// A waiting request; shared by the request and its inbox's poller.
class poll_waiter
{
public:
    poll_waiter(const boost::asio::any_io_executor& executor, long_poll_request received)
        : request(std::move(received)),
          filter_text(request.filter.SerializeAsString()),
          searched_to(request.after),
          done(executor)
    {}

    // How many emails are still to be found, if they are counted.
    int missing() const { return request.count - static_cast<int>(matching.size()); }

    void finish(result<long_poll_result> outcome)
    {
        if (final_result)
            return;
        final_result.emplace(std::move(outcome));
        done.set();
    }

    const long_poll_request request;
    const std::string filter_text; // equal filters have equal texts
    std::int64_t searched_to;      // no email up to here matches but those of `matching`
    std::vector<std::string> matching;
    std::vector<inbox::v1::NearMiss> near_misses;
    bool was_polled = false;
    // The outcome if the next poll finds nothing either.
    std::optional<long_poll_outcome> final_outcome;
    std::optional<result<long_poll_result>> final_result;
    async::reset_event done;
};

} // namespace tempinbox::gateway
