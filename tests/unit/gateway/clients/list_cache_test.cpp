#include "gateway/clients/list_cache.hpp"

#include "common/core/ids.hpp"
#include "common/testing/await.hpp"
#include "unit/common/rpc/in_process_services.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <vector>

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace std::chrono_literals;
using inbox::v1::GetListVersionsRequest;
using inbox::v1::GetListVersionsResponse;
using inbox::v1::ListEmailsRequest;

namespace {

// A cache in front of inboxes that all have the same version.
struct arranged_cache
{
    std::string version = "7-3-0";
    int version_requests = 0;
    testing::in_process_services services;
    inbox_client inboxes{
        testing::test_host(), {services.anywhere()}, services.tokens(), services.client_settings()};
    list_cache lists;

    explicit arranged_cache(std::size_t max_bytes = 1'000'000, std::chrono::milliseconds ttl = 60s)
        : lists(testing::test_host(), max_bytes, ttl, inboxes)
    {
        services.add(inbox_methods::get_list_versions, [this](GetListVersionsRequest request) {
            return respond(std::move(request));
        });
    }

    std::optional<std::string> find(const ListEmailsRequest& request)
    {
        return testing::await(lists.find(request));
    }

private:
    awaitable<result<GetListVersionsResponse>> respond(GetListVersionsRequest request)
    {
        version_requests += request.inboxes_size();
        if (version == "away")
            co_return failure{errc::unavailable, "away"};
        GetListVersionsResponse response;
        for (int i = 0; i < request.inboxes_size(); ++i)
            response.add_versions(version);
        co_return response;
    }
};

ListEmailsRequest some_list()
{
    ListEmailsRequest request;
    request.set_account_id(account_id::make().text());
    request.set_inbox_id(inbox_id::make().text());
    request.set_limit(25);
    return request;
}

} // namespace

TEST_CASE("a list is given from the cache while its inbox has the version it was read with",
          "[gateway][lists]")
{
    arranged_cache arranged;
    const auto request = some_list();
    CHECK_FALSE(arranged.find(request));
    CHECK(arranged.version_requests == 0);
    arranged.lists.store(request, "7-3-0", "{}");

    CHECK(arranged.find(request) == "{}");
    CHECK(arranged.version_requests == 1);
    arranged.version = "7-3-1";
    CHECK_FALSE(arranged.find(request));
    arranged.lists.store(request, "7-3-1", "{1}");
    CHECK(arranged.find(request) == "{1}");
}

TEST_CASE("a list is not given where its inbox is gone, nor where nobody can say",
          "[gateway][lists]")
{
    arranged_cache arranged;
    const auto request = some_list();
    arranged.lists.store(request, "7-3-0", "{}");

    arranged.version = "";
    CHECK_FALSE(arranged.find(request));
    arranged.version = "away";
    CHECK_FALSE(arranged.find(request));
    CHECK(arranged.version_requests == 2);
}

TEST_CASE("a list is another's with another account, inbox, page, order or condition",
          "[gateway][lists]")
{
    arranged_cache arranged;
    const auto request = some_list();
    arranged.lists.store(request, "7-3-0", "{}");

    const std::vector<std::function<void(ListEmailsRequest&)>> differences{
        [](auto& other) { other.set_account_id(account_id::make().text()); },
        [](auto& other) { other.set_inbox_id(inbox_id::make().text()); },
        [](auto& other) { other.set_limit(24); },
        [](auto& other) { other.set_cursor("abc"); },
        [](auto& other) { other.set_after(7); },
        [](auto& other) { other.set_oldest_first(true); },
        [](auto& other) { other.mutable_filter()->set_subject(""); },
        [](auto& other) { other.set_omit_codes(true); },
        [](auto& other) { other.set_include_links(true); },
    };
    for (const auto& differ : differences) {
        auto other = request;
        differ(other);
        CHECK_FALSE(arranged.find(other));
    }
    CHECK(arranged.find(request));
}

TEST_CASE("a list is not cached too long, nor if it is too large or has no version",
          "[gateway][lists]")
{
    const auto request = some_list();

    arranged_cache brief(1'000'000, 0ms);
    brief.lists.store(request, "7-3-0", "{}");
    CHECK_FALSE(brief.find(request));
    arranged_cache small(1'000);
    small.lists.store(request, "7-3-0", std::string(251, 'x'));
    CHECK_FALSE(small.find(request));
    arranged_cache large(100'000'000);
    large.lists.store(request, "7-3-0", std::string(list_cache::max_list_bytes + 1, 'x'));
    CHECK_FALSE(large.find(request));
    arranged_cache plain;
    plain.version = "";
    plain.lists.store(request, "", "{}");
    CHECK_FALSE(plain.find(request));
}
