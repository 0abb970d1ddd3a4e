#include "webhook-dispatcher/delivery/name_resolver.hpp"

#include "unit/webhook-dispatcher/delivery/fake_dns.hpp"

#include <boost/asio/error.hpp>
#include <catch2/catch.hpp>

#include <cstdlib>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::await;
using testing::fake_dns;
using testing::test_host;

namespace {

webhooks::name_resolver_settings asking(const fake_dns& dns)
{
    webhooks::name_resolver_settings chosen;
    chosen.servers = dns.address();
    return chosen;
}

fake_dns::reply address(std::uint8_t last)
{
    fake_dns::reply given;
    given.addresses = {{93, 184, 216, last}};
    return given;
}

fake_dns::reply code(int number)
{
    fake_dns::reply given;
    given.code = number;
    return given;
}

std::string resolved(webhooks::name_resolver& resolver, const std::string& name)
{
    std::string text;
    for (const auto& found : await(resolver.resolve(name)))
        text += (text.empty() ? "" : " ") + found.to_string();
    return text;
}

boost::system::error_code error_of(webhooks::name_resolver& resolver, const std::string& name)
{
    try {
        await(resolver.resolve(name));
    } catch (const boost::system::system_error& error) {
        return error.code();
    }
    return {};
}

} // namespace

TEST_CASE("a name is resolved to all its addresses", "[webhooks][dns]")
{
    fake_dns dns;
    fake_dns::reply two = address(34);
    two.addresses.push_back({10, 0, 0, 1});
    dns.set_reply("two.example", two);
    webhooks::name_resolver resolver(test_host(), asking(dns));

    const auto text = resolved(resolver, "two.example");

    CHECK(text.find("93.184.216.34") != std::string::npos);
    CHECK(text.find("10.0.0.1") != std::string::npos);
}

TEST_CASE("a name that does not exist or has no address is distinguished from a server that fails",
          "[webhooks][dns]")
{
    fake_dns dns;
    dns.set_reply("empty.example", {});
    dns.set_reply("broken.example", code(2));
    webhooks::name_resolver resolver(test_host(), asking(dns));

    CHECK(error_of(resolver, "missing.example") == boost::asio::error::host_not_found);
    CHECK(error_of(resolver, "empty.example") == boost::asio::error::host_not_found);
    CHECK(error_of(resolver, "broken.example") == boost::asio::error::host_not_found_try_again);
}

TEST_CASE("a server that is silent costs the deadline", "[webhooks][dns]")
{
    fake_dns dns;
    fake_dns::reply silent;
    silent.is_silent = true;
    dns.set_reply("silent.example", silent);
    auto chosen = asking(dns);
    chosen.deadline = 400ms;
    webhooks::name_resolver resolver(test_host(), chosen);
    const auto began = std::chrono::steady_clock::now();

    CHECK(error_of(resolver, "silent.example") == boost::asio::error::host_not_found_try_again);

    CHECK(std::chrono::steady_clock::now() - began >= 350ms);
    CHECK(dns.query_count("silent.example") == 1); // another would be sent after 700 ms
}

TEST_CASE("a server that is silent delays no other name", "[webhooks][dns]")
{
    fake_dns dns;
    fake_dns::reply silent;
    silent.is_silent = true;
    dns.set_reply("silent.example", silent);
    dns.set_reply("quick.example", address(34));
    auto chosen = asking(dns);
    chosen.deadline = 10s;
    auto resolver = std::make_unique<webhooks::name_resolver>(test_host(), chosen);
    bool is_done = false;
    boost::asio::co_spawn(
        test_host().executor(), resolver->resolve("silent.example"),
        [&](std::exception_ptr, std::vector<boost::asio::ip::address>) { is_done = true; });

    CHECK(resolved(*resolver, "quick.example") == "93.184.216.34");
    CHECK_FALSE(is_done);

    resolver.reset(); // ends what is under way
    CHECK(testing::eventually([&] { return is_done; }));
}

TEST_CASE("a result is cached for its time, a failure is not", "[webhooks][dns]")
{
    fake_dns dns;
    dns.set_reply("kept.example", address(1));
    auto chosen = asking(dns);
    chosen.cache_ttl = 1h;
    webhooks::name_resolver keeping(test_host(), chosen);
    chosen.cache_ttl = 100ms;
    webhooks::name_resolver resolver(test_host(), chosen);

    CHECK(resolved(keeping, "kept.example") == "93.184.216.1");
    CHECK(resolved(resolver, "kept.example") == "93.184.216.1");
    dns.set_reply("kept.example", address(2));
    CHECK(resolved(keeping, "kept.example") == "93.184.216.1");
    CHECK(dns.query_count("kept.example") == 2);
    CHECK(
        testing::eventually([&] { return resolved(resolver, "kept.example") == "93.184.216.2"; }));

    CHECK(error_of(resolver, "new.example") == boost::asio::error::host_not_found);
    dns.set_reply("new.example", address(3));
    CHECK(resolved(resolver, "new.example") == "93.184.216.3");
}

TEST_CASE("many simultaneous look-ups of a name query the server once", "[webhooks][dns]")
{
    fake_dns dns;
    dns.set_reply("popular.example", address(34));
    webhooks::name_resolver resolver(test_host(), asking(dns));
    int answered = 0;

    for (int i = 0; i < 20; ++i)
        boost::asio::co_spawn(
            test_host().executor(), resolver.resolve("popular.example"),
            [&](std::exception_ptr thrown, const std::vector<boost::asio::ip::address>& found) {
                answered += !thrown && found.size() == 1 ? 1 : 0;
            });

    CHECK(testing::eventually([&] { return answered == 20; }));
    CHECK(dns.query_count("popular.example") == 1);
}

TEST_CASE("a resolver that ends with a query open leaves nothing behind", "[webhooks][dns]")
{
    fake_dns dns;
    fake_dns::reply silent;
    silent.is_silent = true;
    dns.set_reply("silent.example", silent);
    webhooks::name_resolver_settings chosen = asking(dns);
    chosen.deadline = 100ms;
    {
        webhooks::name_resolver resolver(test_host(), chosen);
        CHECK(error_of(resolver, "silent.example") == boost::asio::error::host_not_found_try_again);
    }
    bool is_posted = false;
    boost::asio::post(test_host().loop(), [&] { is_posted = true; });
    CHECK(testing::eventually([&] { return is_posted; }));
}

TEST_CASE("a name is complete: the search list of this host does not apply", "[webhooks][dns]")
{
    fake_dns dns;
    dns.set_reply("missing.example.corp.example", address(34));
    setenv("LOCALDOMAIN", "corp.example", 1);
    webhooks::name_resolver resolver(test_host(), asking(dns));
    unsetenv("LOCALDOMAIN");

    CHECK(error_of(resolver, "missing.example") == boost::asio::error::host_not_found);
    CHECK(dns.query_count("missing.example") == 1);
    CHECK(dns.query_count("missing.example.corp.example") == 0);
}

TEST_CASE("the host file's names resolve without a server", "[webhooks][dns]")
{
    webhooks::name_resolver resolver(test_host());

    CHECK(resolved(resolver, "localhost").find("127.0.0.1") != std::string::npos);
}
