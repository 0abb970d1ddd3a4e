// A client's replicas behind a name: several loopback addresses with one port, which a test adds to
// the name and removes from it.
#include "unit/common/http/running_server.hpp"
#include "unit/common/http/scripted_server.hpp"
#include "unit/common/rpc/calls.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::TakeQuotaRequest;
using testing::TakeQuotaResponse;

namespace {

// A replica that counts the calls it gets.
class counted_replica
{
public:
    explicit counted_replica(rpc::tokens& tokens, host_port listen = {"127.0.0.1", 0})
        : server_(testing::test_host(), settings(std::move(listen)), tokens)
    {
        server_.add(testing::take_quota, [this](TakeQuotaRequest request) {
            ++calls;
            return testing::grant(std::move(request));
        });
        server_.start();
    }
    ~counted_replica()
    {
        testing::await(server_.drain(500ms));
        server_.stop();
    }

    std::uint16_t port() const { return server_.local_address().port; }

    int calls = 0;

private:
    static http::server_settings settings(host_port listen)
    {
        http::server_settings chosen;
        chosen.listen = std::move(listen);
        chosen.name = "rpc";
        return chosen;
    }

    rpc::server server_;
};

struct arranged_name
{
    std::vector<std::string> addresses;
    int lookups = 0;

    rpc::client_settings settings(std::chrono::milliseconds interval = 10ms)
    {
        rpc::client_settings chosen;
        chosen.resolve = [this](const std::string&) { return look_up_addresses(); };
        chosen.resolve_interval = interval;
        return chosen;
    }

    awaitable<std::vector<boost::asio::ip::address>> look_up_addresses()
    {
        ++lookups;
        std::vector<boost::asio::ip::address> found;
        for (const auto& text : addresses)
            found.push_back(boost::asio::ip::make_address(text));
        co_return found;
    }
};

bool take(rpc::client& client)
{
    return testing::await(client.call(testing::take_quota, testing::quota_request(1))).has_value();
}

} // namespace

TEST_CASE("a replica that joins a name has its share of calls under steady load", "[rpc]")
{
    testing::token_file file;
    arranged_name name;
    name.addresses = {"127.0.0.1"};
    counted_replica first(file.tokens);
    rpc::client client(testing::test_host(), {{"inbox.example", first.port()}}, file.tokens,
                       name.settings());
    for (int i = 0; i < 20; ++i)
        REQUIRE(take(client));

    counted_replica second(file.tokens, {"127.0.0.2", first.port()});
    name.addresses = {"127.0.0.1", "127.0.0.2"};
    REQUIRE(testing::eventually([&] { return take(client) && second.calls > 0; }));
    const int before = second.calls;
    for (int i = 0; i < 20; ++i)
        CHECK(take(client));

    CHECK(second.calls - before == 10);
}

TEST_CASE("a replica that leaves a name is called no more", "[rpc]")
{
    testing::token_file file;
    arranged_name name;
    name.addresses = {"127.0.0.1", "127.0.0.2"};
    counted_replica first(file.tokens);
    counted_replica second(file.tokens, {"127.0.0.2", first.port()});
    rpc::client client(testing::test_host(), {{"inbox.example", first.port()}}, file.tokens,
                       name.settings());
    REQUIRE(testing::eventually([&] { return take(client) && second.calls > 0; }));

    name.addresses = {"127.0.0.1"};
    int last = 0;
    CHECK(testing::eventually([&] {
        last = second.calls;
        return take(client) && take(client) && second.calls == last;
    }));
}

TEST_CASE("an address of a name that refuses is passed over", "[rpc]")
{
    testing::token_file file;
    arranged_name name;
    counted_replica running(file.tokens);
    // Nobody listens on the other addresses.
    name.addresses = {"127.0.0.3", "127.0.0.1", "127.0.0.4"};
    rpc::client client(testing::test_host(), {{"inbox.example", running.port()}}, file.tokens,
                       name.settings());

    for (int i = 0; i < 12; ++i)
        CHECK(take(client));
    CHECK(running.calls == 12);
}

TEST_CASE("a name whose every address refuses is looked up again before the call fails", "[rpc]")
{
    testing::token_file file;
    arranged_name name;
    counted_replica running(file.tokens);
    name.addresses = {"127.0.0.3"};
    // Only the refusal makes it resolve the name again.
    rpc::client client(testing::test_host(), {{"inbox.example", running.port()}}, file.tokens,
                       name.settings(1h));
    REQUIRE_FALSE(take(client));

    name.addresses = {"127.0.0.1"};

    CHECK(testing::eventually([&] { return take(client); }));
}

TEST_CASE("a name that does not resolve is unavailable, and found when it does", "[rpc]")
{
    testing::token_file file;
    arranged_name name;
    counted_replica running(file.tokens);
    rpc::client client(testing::test_host(), {{"inbox.example", running.port()}}, file.tokens,
                       name.settings());
    CHECK_FALSE(take(client));

    name.addresses = {"127.0.0.1"};

    CHECK(testing::eventually([&] { return take(client); }));
}

TEST_CASE("addresses are never looked up", "[rpc]")
{
    testing::token_file file;
    arranged_name name;
    counted_replica running(file.tokens);
    rpc::client client(testing::test_host(), {{"127.0.0.1", running.port()}}, file.tokens,
                       name.settings());

    CHECK(take(client));
    CHECK(name.lookups == 0);
}
