#include "mail-ingest/settings.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

config::reader reader_of(std::map<std::string, std::string> values)
{
    values.emplace("database", "postgresql://localhost/t");
    return config::reader(std::move(values));
}

} // namespace

TEST_CASE("what a mail server bounds when nothing is said", "[mail-ingest][settings]")
{
    auto reader = reader_of({});
    const auto chosen = mail_ingest::read_settings(reader);

    REQUIRE(reader.problems().empty());
    CHECK(chosen.look_up_connections == 2);
    CHECK(chosen.client_limits.connections == 8'192);
    CHECK(chosen.client_limits.connections_per_address == 20);
    CHECK(chosen.client_limits.connections_per_large_sender == 200);
    CHECK(chosen.client_limits.exempt.empty());
    CHECK(chosen.client_limits.unknown_recipients == 30);
    CHECK(chosen.session.recipients == 100);
    CHECK(chosen.session.messages == 1'000);
    CHECK(chosen.session.idle == 300s);
    CHECK(chosen.session.idle_when_busy == 60s);
    CHECK(chosen.session.session == 20min);
    CHECK(chosen.session.min_bytes_per_second == 500);
    CHECK_FALSE(chosen.session.takes_bare_newlines);
    CHECK(chosen.recipients.timeout == 2s);
    CHECK(chosen.recipients.messages_per_minute == 120);
    CHECK(chosen.recipients.message_burst == 60);
    CHECK(chosen.ingest.max_hops == 50);
    CHECK(chosen.ingest.view.header_bytes == 256 * 1024);
    CHECK(chosen.ingest.view.depth == 100);
    CHECK(chosen.ingest.view.parts == 1'000);
    CHECK(chosen.ingest.memory_bytes == 512 * 1024 * 1024);
    CHECK(chosen.ingest.memory_bytes_per_message == 256 * 1024);
    CHECK(chosen.ingest.spool_directory == "/tmp/tempinbox-mail-ingest");
    CHECK(chosen.ingest.spool_bytes == std::size_t{2} * 1024 * 1024 * 1024);
    CHECK(chosen.session.refused_before_delay == 100);
    CHECK(chosen.ingest.group_commit.max_batch_messages == 128);
    CHECK(chosen.ingest.group_commit.max_batch_bytes == 8 * 1024 * 1024);
    CHECK(chosen.ingest.group_commit.timeout == 20s);
}

TEST_CASE("balancers have a listener where one is set, with their networks",
          "[mail-ingest][settings]")
{
    auto nothing = reader_of({});
    auto both = reader_of({{"proxy-listen", "127.0.0.1:2526, [::1]:2526"},
                           {"proxy-networks", "10.0.0.0/8, 2001:db8::/32"}});

    CHECK(mail_ingest::read_settings(nothing).proxy.listen.empty());
    const auto chosen = mail_ingest::read_settings(both).proxy;

    CHECK(nothing.problems().empty());
    CHECK(both.problems().empty());
    CHECK(chosen.listen == std::vector{host_port("127.0.0.1", 2526), host_port("::1", 2526)});
    CHECK(chosen.networks.size() == 2);
    CHECK(chosen.header_timeout == 5s);
    CHECK(chosen.max_waiting == 256);
}

TEST_CASE("a listener for balancers needs IP addresses, and their networks",
          "[mail-ingest][settings]")
{
    for (const std::map<std::string, std::string>& values :
         {std::map<std::string, std::string>{{"proxy-listen", "127.0.0.1:2526"}},
          {{"proxy-networks", "10.0.0.0/8"}},
          {{"proxy-listen", "mail.test:2526"}, {"proxy-networks", "10.0.0.0/8"}},
          {{"proxy-listen", "127.0.0.1:2526"}, {"proxy-networks", "balancer.test"}}}) {
        auto reader = reader_of(values);
        mail_ingest::read_settings(reader);
        CHECK_FALSE(reader.problems().empty());
    }
}

TEST_CASE("logins are taken nowhere unless a listener for them is set", "[mail-ingest][settings]")
{
    auto nothing = reader_of({});
    auto clear = reader_of({{"submission-clear-listen", "127.0.0.1:2587"}});

    CHECK_FALSE(mail_ingest::read_settings(nothing).takes_logins());
    const auto chosen = mail_ingest::read_settings(clear);

    CHECK(clear.problems().empty());
    CHECK(chosen.takes_logins());
    const auto& submission = chosen.submission;
    CHECK(submission.clear_networks.size() == 2);
    CHECK(contains(submission.clear_networks, boost::asio::ip::make_address("127.0.0.1")));
    CHECK(contains(submission.clear_networks, boost::asio::ip::make_address("::1")));
    CHECK_FALSE(contains(submission.clear_networks, boost::asio::ip::make_address("10.0.0.1")));
    CHECK(submission.session.takes_bare_newlines);
    CHECK(submission.session.login == 60s);
    CHECK(submission.client_limits.connections == 2'048);
    CHECK(submission.client_limits.connections_per_address == 200);
    CHECK(submission.logins.sessions_per_login == 20);
    CHECK(submission.logins.messages_per_minute == 600);
    CHECK(submission.logins.message_burst == 100);
}

TEST_CASE("passwords in the clear are for no network that is wide as the world",
          "[mail-ingest][settings]")
{
    for (const char* networks : {"0.0.0.0/0", "::/0", "127.0.0.0/8,0.0.0.0/1", "2000::/3", ""}) {
        auto reader = reader_of({{"submission-clear-networks", networks}});
        mail_ingest::read_settings(reader);
        INFO(networks);
        REQUIRE(reader.problems().size() == 1);
        CHECK(reader.problems().front().find("submission-clear-networks") != std::string::npos);
    }
    for (const char* networks : {"10.0.0.0/8", "172.17.0.0/16", "fc00::/7"}) {
        auto reader = reader_of({{"submission-clear-networks", networks}});
        mail_ingest::read_settings(reader);
        CHECK(reader.problems().empty());
    }
}

TEST_CASE("logins over TLS need a certificate, their own or that of mail",
          "[mail-ingest][settings]")
{
    for (const char* name : {"submission-listen", "submissions-listen"}) {
        auto without = reader_of({{name, "127.0.0.1:2587"}});
        auto with_mail_s = reader_of({{name, "127.0.0.1:2587"},
                                      {"tls-certificate-file", __FILE__},
                                      {"tls-key-file", __FILE__}});
        auto with_own = reader_of({{name, "127.0.0.1:2587"},
                                   {"submission-tls-certificate-file", __FILE__},
                                   {"submission-tls-key-file", __FILE__}});
        auto with_half = reader_of({{"submission-tls-certificate-file", __FILE__}});

        mail_ingest::read_settings(without);
        const auto shared = mail_ingest::read_settings(with_mail_s);
        mail_ingest::read_settings(with_own);
        mail_ingest::read_settings(with_half);

        CHECK(without.problems().size() == 1);
        CHECK(with_mail_s.problems().empty());
        CHECK(shared.submission.certificate_file == __FILE__);
        CHECK(with_own.problems().empty());
        CHECK(with_half.problems().size() == 1);
    }
}

TEST_CASE("certificates of logins are verified as clients do where TLS is offered",
          "[mail-ingest][settings]")
{
    auto by_tls = reader_of({{"submissions-listen", "127.0.0.1:2465"},
                             {"tls-certificate-file", __FILE__},
                             {"tls-key-file", __FILE__},
                             {"capture-host", "smtp.example.com"},
                             {"submission-tls-ca-file", __FILE__}});
    auto clear = reader_of({{"submission-clear-listen", "127.0.0.1:2587"}});

    const auto chosen = mail_ingest::read_settings(by_tls);

    CHECK(by_tls.problems().empty());
    CHECK(chosen.takes_logins_by_tls());
    CHECK(chosen.submission.verified_by.host == "smtp.example.com");
    CHECK(chosen.submission.verified_by.ca_file == __FILE__);
    CHECK_FALSE(mail_ingest::read_settings(clear).takes_logins_by_tls());
}

TEST_CASE("limits that customers' own senders run into can be off", "[mail-ingest][settings]")
{
    for (const char* name : {"messages-per-connection",
                             "session-timeout",
                             "connections",
                             "connections-per-address",
                             "address-rate-per-minute",
                             "unknown-recipients-per-address",
                             "unknown-recipients-before-delay",
                             "unknown-recipients-before-close",
                             "errors-before-delay",
                             "errors-before-close",
                             "inbox-rate-per-minute",
                             "inbox-max-emails",
                             "inbox-max-bytes",
                             "hops",
                             "memory-limit",
                             "spool-limit",
                             "refused-recipients-before-delay",
                             "message-min-rate",
                             "submission-connections",
                             "submission-connections-per-address",
                             "connections-per-login",
                             "capture-rate-per-minute"}) {
        auto reader = reader_of({{name, "0"}});
        mail_ingest::read_settings(reader);
        INFO(name);
        CHECK(reader.problems().empty());
    }
}

TEST_CASE("no message may be larger than what is read back in one answer",
          "[mail-ingest][settings]")
{
    auto largest = reader_of({{"message-max-bytes", "60MiB"}});
    auto larger = reader_of({{"message-max-bytes", "61MiB"}});

    mail_ingest::read_settings(largest);
    mail_ingest::read_settings(larger);

    CHECK(largest.problems().empty());
    CHECK(larger.problems().size() == 1);
}

TEST_CASE("the spool's folder may be missing, the folder it is in not", "[mail-ingest][settings]")
{
    auto made_at_start = reader_of({{"spool-directory", "/tmp/not-there-yet"}});
    auto nowhere = reader_of({{"spool-directory", "/not-there/spool"}});

    mail_ingest::read_settings(made_at_start);
    mail_ingest::read_settings(nowhere);

    CHECK(made_at_start.problems().empty());
    CHECK(nowhere.problems().size() == 1);
}
