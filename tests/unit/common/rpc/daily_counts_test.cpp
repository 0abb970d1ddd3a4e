#include "common/rpc/daily_counts.hpp"
#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

#include "tempinbox/inbox/v1/inbox_service.pb.h"

using namespace tempinbox;
using namespace std::chrono_literals;
using inbox::v1::CountEmailsRequest;
using inbox::v1::CountEmailsResponse;
using inbox::v1::EmailsOfDay;

namespace {

using counting = rpc::daily_count_rpc<CountEmailsRequest, CountEmailsResponse, EmailsOfDay>;

const auto account = account_id::make();

CountEmailsRequest request_of(const std::string& whose, int days)
{
    CountEmailsRequest request;
    request.set_account_id(whose);
    request.set_days(days);
    return request;
}

struct counted
{
    int requested_days = 0;
    std::string requested_account;
    counting call{[this](account_id whose, int days) { return list(whose, days); },
                  &EmailsOfDay::set_emails};

    awaitable<std::vector<daily_count>> list(account_id whose, int days)
    {
        requested_account = whose.text();
        requested_days = days;
        std::vector<daily_count> counts;
        counts.emplace_back(std::chrono::sys_days(std::chrono::year{2026} / 11 / 20), 3);
        counts.emplace_back(std::chrono::sys_days(std::chrono::year{2026} / 11 / 21), 5);
        co_return counts;
    }
};

} // namespace

TEST_CASE("what an account had is answered day by day", "[rpc]")
{
    counted emails;

    const auto reply = testing::await(emails.call.handle(request_of(account.text(), 60))).value();

    CHECK(emails.requested_account == account.text());
    CHECK(emails.requested_days == 60);
    REQUIRE(reply.days_size() == 2);
    CHECK(reply.days(0).emails() == 3);
    CHECK(reply.days(1).emails() == 5);
    CHECK(reply.days(1).day().seconds() == 1795219200);
    CHECK(reply.days(1).day().seconds() - reply.days(0).day().seconds() == 86'400);
}

TEST_CASE("days are counted for an account and from 1 to 60 of them", "[rpc]")
{
    counted emails;

    for (const auto& wrong : {request_of("nobody", 30), request_of(account.text(), 0),
                              request_of(account.text(), -1), request_of(account.text(), 61)}) {
        const auto reply = testing::await(emails.call.handle(wrong));
        REQUIRE_FALSE(reply);
        CHECK(reply.error().code == errc::invalid_argument);
    }
    CHECK(emails.requested_days == 0);
}
