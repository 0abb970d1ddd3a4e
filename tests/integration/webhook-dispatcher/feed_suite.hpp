#pragma once

#include "integration/webhook-dispatcher/suite.hpp"

#include <string>
#include <vector>

namespace tempinbox::testing {

// The feed of the suite's one account.
struct feed_suite : suite
{
    int epoch = 0; // when it was opened last

    feed_suite() : suite(sends_nothing()) {}

    webhooks::v1::OpenFeedResponse open()
    {
        webhooks::v1::OpenFeedRequest request;
        *request.mutable_account() = account_on_plan(account, 5, 20);
        const auto opened = await(process.event_rpc.open(request)).value();
        epoch = opened.epoch();
        return opened;
    }
    webhooks::v1::ReadEventsRequest request(std::int64_t position, int limit = 100)
    {
        return request(position, limit, epoch);
    }
    webhooks::v1::ReadEventsRequest request(std::int64_t position, int limit, int of_epoch)
    {
        webhooks::v1::ReadEventsRequest made;
        *made.mutable_account() = account_on_plan(account, 5, 20);
        made.set_epoch(of_epoch);
        made.set_position(position);
        made.set_limit(limit);
        return made;
    }
    webhooks::v1::ReadEventsResponse read(const webhooks::v1::ReadEventsRequest& of)
    {
        return await(process.event_rpc.read(of)).value();
    }
    webhooks::v1::ReadEventsResponse read(std::int64_t position, int limit = 100)
    {
        return read(request(position, limit));
    }
    webhooks::v1::ReadEventsResponse read(std::int64_t position, int limit, int of_epoch)
    {
        return read(request(position, limit, of_epoch));
    }
    // Events of new mails, in the order of their records.
    std::vector<std::string> deliver_mails(int count)
    {
        std::vector<std::string> ids;
        std::vector<kafka::record> records;
        for (int i = 0; i < count; ++i) {
            const auto mail = email(account);
            ids.push_back(mail.email_id());
            records.push_back(email_record(mail));
        }
        deliver(records);
        return ids;
    }
    static std::vector<std::string> ids_of(const webhooks::v1::ReadEventsResponse& page)
    {
        std::vector<std::string> ids;
        for (const auto& event : page.events())
            ids.push_back(event.event_id());
        return ids;
    }
};

} // namespace tempinbox::testing
