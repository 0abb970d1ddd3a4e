#include "common/rpc/replica_resolver.hpp"

#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using rpc::replica_resolver;

namespace {

// A name whose addresses a test changes.
struct arranged_names
{
    std::vector<std::string> addresses;
    std::vector<std::vector<std::string>> reported;
    replica_resolver resolver;

    explicit arranged_names(std::vector<host_port> configured)
        : resolver(
              testing::test_host(), std::move(configured),
              [this](const auto& found) { note(found); },
              [this](const std::string&) { return look_up_addresses(); })
    {}

    void note(const std::vector<rpc::replica>& found)
    {
        auto& list = reported.emplace_back();
        for (const auto& each : found)
            list.push_back(each.at.text());
    }

    awaitable<std::vector<boost::asio::ip::address>> look_up_addresses()
    {
        std::vector<boost::asio::ip::address> found;
        for (const auto& text : addresses)
            found.push_back(boost::asio::ip::make_address(text));
        co_return found;
    }

    void refresh() { testing::await(resolver.refresh()); }
};

using list = std::vector<std::string>;

} // namespace

TEST_CASE("a name stands for every address it has, and changes are reported", "[rpc]")
{
    arranged_names names({host_port("rate-limit", 9102), host_port("192.0.2.9", 9102)});
    names.addresses = {"192.0.2.2", "192.0.2.1"};

    names.refresh();
    names.refresh();
    names.addresses = {"192.0.2.2"};
    names.refresh();

    REQUIRE(names.reported.size() == 2);
    CHECK(names.reported[0] == list{"192.0.2.1:9102", "192.0.2.2:9102", "192.0.2.9:9102"});
    CHECK(names.reported[1] == list{"192.0.2.2:9102", "192.0.2.9:9102"});
}

TEST_CASE("an address keeps the name that led to it, for its certificate", "[rpc]")
{
    std::vector<rpc::replica> last;
    replica_resolver resolver(
        testing::test_host(), {host_port("rate-limit", 9102), host_port("192.0.2.9", 9102)},
        [&last](const auto& found) { last = found; },
        [](const std::string&) -> awaitable<std::vector<boost::asio::ip::address>> {
            std::vector<boost::asio::ip::address> found;
            found.push_back(boost::asio::ip::make_address("192.0.2.1"));
            co_return found;
        });

    testing::await(resolver.refresh());

    CHECK(last == std::vector<rpc::replica>{{host_port("192.0.2.1", 9102), "rate-limit"},
                                            {host_port("192.0.2.9", 9102), "192.0.2.9"}});
}

TEST_CASE("a name that no longer resolves keeps its addresses", "[rpc]")
{
    arranged_names names({host_port("rate-limit", 9102)});
    names.addresses = {"192.0.2.1"};
    names.refresh();

    names.addresses.clear();
    names.refresh();

    CHECK(names.reported == std::vector<list>{{"192.0.2.1:9102"}});
}

TEST_CASE("a list of addresses is never looked up", "[rpc]")
{
    arranged_names names({host_port("192.0.2.1", 9102), host_port("::1", 9102)});

    names.refresh();

    CHECK(names.reported.empty());
}
