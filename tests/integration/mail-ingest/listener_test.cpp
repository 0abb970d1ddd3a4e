#include "integration/mail-ingest/mail_server.hpp"

#include <catch2/catch.hpp>

#include <list>

using namespace tempinbox;
using testing::mail_client;
using testing::mail_server;

namespace {

const std::string greeting = "220 localhost ESMTP";
const std::string too_many_from_address = "421 4.7.0 Too many connections from your address";
const std::string prefix = "tempinbox_mail_ingest_proxy_";

smtp::proxy_settings balancers(const char* networks = "127.0.0.0/8")
{
    smtp::proxy_settings chosen;
    chosen.listen = {host_port("127.0.0.1", 0)};
    chosen.networks = {network::parse(networks).value()};
    return chosen;
}

// One connection from an address; loopback is exempt.
smtp::client_limits one_per_address()
{
    smtp::client_limits limits;
    limits.connections_per_address = 1;
    return limits;
}

struct scratch_world
{
    mailbox::seeds::world world;
};

// Ends before its database does.
struct proxied_server : scratch_world, mail_server
{
    explicit proxied_server(smtp::proxy_settings proxy = balancers(),
                            smtp::client_limits limits = {})
        : mail_server(world.scratch.dsn(), {}, {}, {}, std::move(limits), std::move(proxy))
    {}
};

// A series of /metrics without its common prefix; 0 if it is not there yet.
double shown(const std::string& series)
{
    const auto name = "\n" + prefix + series + " ";
    const auto text = "\n" + testing::test_host().metrics().text();
    const auto at = text.find(name);
    return at == std::string::npos ? 0 : std::stod(text.substr(at + name.size()));
}

double refused(const std::string& reason)
{
    return shown("headers_refused_total{reason=\"" + reason + "\"}");
}

double refused_in_all()
{
    double sum = 0;
    for (const auto* reason :
         {"network", "malformed", "too_long", "unsupported", "timeout", "truncated"})
        sum += refused(reason);
    return sum;
}

std::string v1(const std::string& client)
{
    return "PROXY TCP4 " + client + " 192.0.2.25 56324 25\r\n";
}

std::string v2(char command, char family, const std::string& block)
{
    return std::string("\r\n\r\n\0\r\nQUIT\n", 12) + command + family + '\0' +
           static_cast<char>(block.size()) + block;
}

const std::string v2_local = v2('\x20', '\0', "");

} // namespace

TEST_CASE("the limits by address are those of the announced client, exempt or not",
          "[mail-ingest][postgres][proxy]")
{
    auto limits = one_per_address();
    limits.exempt = {network::parse("127.0.0.0/8").value(),
                     network::parse("198.51.100.0/24").value()};
    proxied_server server(balancers(), limits);
    const auto address = server.listener.proxy_address();
    const auto v2_client = std::string("\xc6\x33\x64\1\xc0\0\2\x19\xdc\4\0\x19", 12);
    const std::string v1_series = "headers_total{kind=\"tcp4\",version=\"v1\"}";
    const std::string v2_series = "headers_total{kind=\"tcp4\",version=\"v2\"}";
    const auto v1_before = shown(v1_series);
    const auto v2_before = shown(v2_series);
    mail_client one(address), two(address), three(address);

    one.send(v1("198.51.100.1"));
    CHECK(one.reply() == greeting);
    two.send(v2('\x21', '\x11', v2_client));
    CHECK(two.reply() == too_many_from_address);
    CHECK(two.has_ended());
    three.send(v1("198.51.100.2"));
    CHECK(three.reply() == greeting);

    CHECK(shown(v1_series) == v1_before + 2);
    CHECK(shown(v2_series) == v2_before + 1);
    CHECK(one.say("QUIT").starts_with("221"));
    CHECK(testing::eventually([&] { return server.listener.sessions() == 1; }));
    mail_client again(address);
    again.send(v1("198.51.100.1"));
    CHECK(again.reply() == greeting);
}

TEST_CASE("LOCAL, UNSPEC and UNKNOWN have the limits of the balancer's own address",
          "[mail-ingest][postgres][proxy]")
{
    const auto headers = {v2_local, v2('\x21', '\0', ""), std::string("PROXY UNKNOWN\r\n")};
    SECTION("which may be full")
    {
        proxied_server server(balancers(), one_per_address());
        mail_client direct(server.listener.local_address());
        REQUIRE(direct.reply() == greeting);
        for (const auto& header : headers) {
            mail_client client(server.listener.proxy_address());
            client.send(header);
            CHECK(client.reply() == too_many_from_address);
        }
    }
    SECTION("which may be exempt")
    {
        auto limits = one_per_address();
        limits.exempt = {network::parse("127.0.0.0/8").value()};
        proxied_server server(balancers(), limits);
        mail_client direct(server.listener.local_address());
        REQUIRE(direct.reply() == greeting);
        for (const auto& header : headers) {
            mail_client client(server.listener.proxy_address());
            client.send(header);
            CHECK(client.reply() == greeting);
        }
    }
}

TEST_CASE("a header may come in pieces, and what follows it is the client's",
          "[mail-ingest][postgres][proxy]")
{
    proxied_server server;
    mail_client slow(server.listener.proxy_address());
    for (const char one : v1("198.51.100.1")) {
        slow.send(std::string(1, one));
        testing::eventually([] { return true; });
    }
    CHECK(slow.reply() == greeting);
    CHECK(slow.say("NOOP") == "250 2.0.0 Ok");

    mail_client early(server.listener.proxy_address());
    early.send(v1("198.51.100.1") + "EHLO client.test\r\n");
    CHECK(early.reply() == "554 5.5.0 Client must wait for the reply");
    CHECK(early.has_ended());
}

TEST_CASE("a header is read of the balancers' networks alone", "[mail-ingest][postgres][proxy]")
{
    proxied_server server(balancers("127.0.0.1/32"));
    const auto before = refused("network");
    mail_client stranger(server.listener.proxy_address(), "127.0.0.2");
    mail_client balancer(server.listener.proxy_address(), "127.0.0.1");

    stranger.send(v1("127.0.0.1"));
    balancer.send(v1("127.0.0.2"));

    CHECK(stranger.reply().empty());
    CHECK(refused("network") == before + 1);
    CHECK(balancer.reply() == greeting);
}

TEST_CASE("what is no header closes the connection without a reply, and is counted by its reason",
          "[mail-ingest][postgres][proxy]")
{
    struct row
    {
        std::string reason;
        std::string bytes;
    };
    proxied_server server;
    for (const auto& [reason, bytes] :
         {row{"malformed", "EHLO client.test\r\n"},
          row{"too_long", "PROXY UNKNOWN " + std::string(94, 'x') + "\r\n"},
          row{"unsupported", v2('\x21', '\x12', std::string(12, '\0'))}}) {
        CAPTURE(reason);
        const auto before = refused(reason);
        mail_client client(server.listener.proxy_address());
        client.send(bytes);

        CHECK(client.reply().empty());
        CHECK(refused(reason) == before + 1);
    }
    const auto before = refused("truncated");
    mail_client client(server.listener.proxy_address());
    client.send("PROXY TCP4 198.51");
    client.end_output();
    CHECK(client.reply().empty());
    CHECK(refused("truncated") == before + 1);
}

TEST_CASE("a header that is not there in time closes; silence is no error",
          "[mail-ingest][postgres][proxy]")
{
    auto impatient = balancers();
    impatient.header_timeout = std::chrono::milliseconds(200);
    proxied_server server(impatient);
    const auto before = refused("timeout");
    const auto all_before = refused_in_all();
    mail_client silent(server.listener.proxy_address()), partial(server.listener.proxy_address());
    partial.send("PROXY TCP4 198.51");

    CHECK(silent.has_ended());
    CHECK(partial.has_ended());
    CHECK(refused("timeout") == before + 1);
    CHECK(refused_in_all() == all_before + 1);
}

TEST_CASE("connections that come and go without a word leave no trace",
          "[mail-ingest][postgres][proxy]")
{
    proxied_server server(balancers("127.0.0.1/32"), one_per_address());
    const auto before = refused_in_all();
    for (const auto* from : {"127.0.0.1", "127.0.0.2"}) {
        auto first = std::make_unique<mail_client>(server.listener.proxy_address(), from);
        mail_client second(server.listener.proxy_address(), from);
        REQUIRE(testing::eventually([&] { return server.listener.waiting() == 2; }));
        CHECK(shown("waiting_connections") == 2);

        first.reset();
        second.end_output();

        CHECK(testing::eventually([&] { return server.listener.waiting() == 0; }));
        CHECK(shown("waiting_connections") == 0);
    }
    CHECK(refused_in_all() == before);
    CHECK(server.core.client_limiter.connected() == 0);
    CHECK(server.listener.sessions() == 0);
}

TEST_CASE("256 connections wait for their header, and the oldest makes room for one more",
          "[mail-ingest][postgres][proxy]")
{
    auto patient = balancers();
    // The oldest still waits when the last has come, however busy the machine is.
    patient.header_timeout = std::chrono::minutes(1);
    proxied_server server(patient);
    const auto address = server.listener.proxy_address();
    const auto before = shown("evicted_connections_total");
    std::list<mail_client> clients;
    while (clients.size() < 256) {
        clients.emplace_back(address);
        REQUIRE(testing::eventually([&] { return server.listener.waiting() == clients.size(); }));
    }
    CHECK(shown("evicted_connections_total") == before);

    mail_client last(address);

    CHECK(clients.front().has_ended());
    CHECK(server.listener.waiting() == 256);
    CHECK(shown("evicted_connections_total") == before + 1);
    auto& second = *std::next(clients.begin());
    second.send(v1("198.51.100.1"));
    CHECK(second.reply() == greeting);
    last.send(v1("198.51.100.2"));
    CHECK(last.reply() == greeting);
}

TEST_CASE("a stranger makes room for a balancer", "[mail-ingest][postgres][proxy]")
{
    auto narrow = balancers("127.0.0.1/32");
    narrow.max_waiting = 2;
    proxied_server server(narrow);
    const auto address = server.listener.proxy_address();
    mail_client balancer(address, "127.0.0.1");
    REQUIRE(testing::eventually([&] { return server.listener.waiting() == 1; }));
    mail_client stranger(address, "127.0.0.2");
    REQUIRE(testing::eventually([&] { return server.listener.waiting() == 2; }));

    mail_client other(address, "127.0.0.2");

    CHECK(stranger.has_ended());
    balancer.send(v1("198.51.100.1"));
    CHECK(balancer.reply() == greeting);
}

TEST_CASE("a client is turned away behind its header while the database is away",
          "[mail-ingest][proxy]")
{
    mail_server server("postgresql://nobody@127.0.0.1:1/nothing", {}, {}, {}, {}, balancers());
    server.core.storage_watch.database.start();

    const auto is_turned_away = [&] {
        mail_client client(server.listener.proxy_address());
        client.send(v1("198.51.100.1"));
        return client.reply() == "421 4.3.2 Service not available, try again later";
    };

    CHECK(testing::eventually(is_turned_away, std::chrono::seconds(20)));
    testing::await(server.core.storage_watch.database.stop());
}

TEST_CASE("a drain closes connections that wait for their header", "[mail-ingest][postgres][proxy]")
{
    proxied_server server;
    mail_client waiting(server.listener.proxy_address());
    REQUIRE(testing::eventually([&] { return server.listener.waiting() == 1; }));

    testing::await(server.listener.drain(std::chrono::seconds(5)));

    CHECK(waiting.has_ended());
    CHECK(server.listener.waiting() == 0);
    CHECK(shown("waiting_connections") == 0);
}
