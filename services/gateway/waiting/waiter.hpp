#pragma once

#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "gateway/completion.hpp"

#include "tempinbox/inbox/v1/email_search.pb.h"
#include "tempinbox/inbox/v1/inbox_service.pb.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tempinbox::gateway {

// What a request waits for: the email with the lowest sequence above `after` that matches.
struct wait_wish
{
    account_id account;
    inbox_id inbox;
    std::int64_t after = 0;
    inbox::v1::EmailFilter filter;
    int burst_per_second = 0; // of the account's plan; 0: unlimited
    bool is_of_session = false;
};

enum class wait_end {
    matched,
    timeout,    // the whole time was waited, and a look after it found nothing
    interrupted // nothing is decided
};

// What it came to.
struct wait_answer
{
    wait_end end = wait_end::interrupted;
    std::shared_ptr<const std::string> email; // as JSON, one for all who get it
    std::int64_t last_sequence = 0;
    std::vector<inbox::v1::NearMiss> near_misses; // the newest ten, in the order of their sequence
};

// One request that waits; shared by the request and the watch of its inbox.
class waiter
{
public:
    waiter(const boost::asio::any_io_executor& executor, wait_wish wanted)
        : wish(std::move(wanted)),
          filter_text(wish.filter.SerializeAsString()),
          judged_to(wish.after),
          done(executor)
    {}

    void finish(result<wait_answer> outcome)
    {
        if (answer)
            return;
        answer.emplace(std::move(outcome));
        done.set();
    }

    const wait_wish wish;
    const std::string filter_text; // equal filters have equal texts
    std::int64_t judged_to;        // no email up to here matches
    std::vector<inbox::v1::NearMiss> near_misses;
    bool was_looked_for = false;
    // What it ends as when the next look finds nothing either.
    std::optional<wait_end> last_look;
    std::optional<result<wait_answer>> answer;
    completion done;
};

} // namespace tempinbox::gateway
