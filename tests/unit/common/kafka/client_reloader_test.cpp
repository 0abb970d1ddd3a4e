#include "common/kafka/client_reloader.hpp"

#include "common/kafka/login.hpp"
#include "common/testing/await.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;

namespace {

// A client without brokers, made of files in a folder.
class reloaded_client
{
public:
    explicit reloaded_client(const std::string& properties, const std::string& password = "",
                             const std::string& client_secret = "")
    {
        kafka::settings chosen;
        chosen.brokers = "127.0.0.1:1";
        chosen.properties_file = folder.write("properties", properties);
        chosen.properties = kafka::read_properties(chosen.properties_file);
        if (!password.empty()) {
            chosen.password_file = folder.write("password", password);
            chosen.password = secret(password);
        }
        if (!client_secret.empty()) {
            chosen.client_secret_file = folder.write("client-secret", client_secret);
            chosen.client_secret = secret(client_secret);
        }
        clients = std::make_unique<kafka::client_reloader>(
            testing::test_host(), std::move(chosen), [this](const kafka::settings& now) {
                ++made;
                return kafka::configuration(now, "test").make(RD_KAFKA_PRODUCER);
            });
        client = clients->start();
    }
    ~reloaded_client() { clients->stop(); }

    // As the file watch does each second; whether there is another client then.
    bool changes()
    {
        testing::test_host().files().check();
        auto next = clients->take(client.get());
        if (!next)
            return false;
        client = std::move(next);
        return true;
    }
    std::string property(const char* name) const
    {
        char value[512] = "";
        std::size_t size = sizeof value;
        rd_kafka_conf_get(const_cast<rd_kafka_conf_t*>(rd_kafka_conf(client.get())), name, value,
                          &size);
        return value;
    }

    testing::scratch_folder folder;
    int made = 0;
    std::unique_ptr<kafka::client_reloader> clients;
    kafka::client_handle client;
};

constexpr const char* oauthbearer =
    "security.protocol=sasl_plaintext\nsasl.mechanism=OAUTHBEARER\n"
    "sasl.oauthbearer.client.id=a\n"
    "sasl.oauthbearer.token.endpoint.url=http://127.0.0.1:1/token\n";
constexpr const char* scram =
    "security.protocol=sasl_plaintext\nsasl.mechanism=SCRAM-SHA-512\nsasl.username=a\n";

} // namespace

TEST_CASE("changed properties make a new kafka client", "[kafka]")
{
    reloaded_client kept("linger.ms=1\n");
    CHECK_FALSE(kept.changes());

    kept.folder.write("properties", "linger.ms=2\n");

    CHECK(kept.changes());
    CHECK(kept.property("linger.ms") == "2");
    CHECK_FALSE(kept.changes());
}

TEST_CASE("a properties file that was only written again makes none", "[kafka]")
{
    reloaded_client kept("linger.ms=1\n");

    kept.folder.write("properties", "# the same\nlinger.ms=1\n");

    CHECK_FALSE(kept.changes());
    CHECK(kept.made == 1);
}

TEST_CASE("properties that cannot be used leave the client", "[kafka]")
{
    reloaded_client kept("linger.ms=1\n");

    for (const auto* const wrong :
         {"rubbish", "no.such.property=1\n", "linger.ms=many\n", "ssl.ca.location=/nowhere\n"}) {
        kept.folder.write("properties", wrong);
        CHECK_FALSE(kept.changes());
    }
    std::filesystem::remove(kept.folder.file("properties"));
    CHECK_FALSE(kept.changes());

    kept.folder.write("properties", "linger.ms=3\n");
    CHECK(kept.changes());
    CHECK(kept.property("linger.ms") == "3");
}

TEST_CASE("a changed certificate makes a new kafka client, rubbish does not", "[kafka]")
{
    reloaded_client kept("linger.ms=1\n");
    const auto ca = kept.folder.write("ca.pem", "rubbish");
    // Not read without TLS, so any text will do here.
    kept.folder.write("properties", "ssl.ca.location=" + ca + "\n");
    CHECK(kept.changes());

    kept.folder.write("ca.pem", "other");
    CHECK(kept.changes());

    kept.folder.write("properties", "security.protocol=ssl\nssl.ca.location=" + ca + "\n");
    CHECK_FALSE(kept.changes());
    CHECK(kept.property("security.protocol") == "plaintext");
}

TEST_CASE("a new password goes to the client that there is", "[kafka]")
{
    reloaded_client kept(scram, "first");
    CHECK(kept.property("sasl.password") == "first");

    kept.folder.write("password", "second\n");

    CHECK_FALSE(kept.changes());
    CHECK(kept.property("sasl.password") == "second");
    CHECK(kept.made == 1);
}

TEST_CASE("a password that cannot be read leaves the old one, also to new clients", "[kafka]")
{
    reloaded_client kept(scram, "first");

    kept.folder.write("password", "");
    kept.folder.write("properties", std::string(scram) + "linger.ms=2\n");

    CHECK(kept.changes());
    CHECK(kept.property("sasl.password") == "first");
}

TEST_CASE("new properties and a new password come together", "[kafka]")
{
    reloaded_client kept(scram, "first");

    kept.folder.write("password", "second");
    kept.folder.write("properties", std::string(scram) + "linger.ms=2\n");

    CHECK(kept.changes());
    CHECK(kept.property("sasl.password") == "second");
    CHECK(kept.property("linger.ms") == "2");
}

TEST_CASE("a new secret of the client makes a new kafka client", "[kafka]")
{
    if (!kafka::library_in_use().has_oidc) {
        CHECK_THROWS_WITH(reloaded_client(oauthbearer, "", "first"),
                          Contains("needs a librdkafka built with libcurl"));
        return;
    }
    reloaded_client kept(oauthbearer, "", "first");
    CHECK(kept.property("sasl.oauthbearer.method") == "oidc");

    kept.folder.write("client-secret", "second\n");
    CHECK(kept.changes());
    CHECK(kept.property("sasl.oauthbearer.client.secret") == "second");
    CHECK(kept.made == 2);

    kept.folder.write("client-secret", "");
    CHECK_FALSE(kept.changes());
    kept.folder.write("properties", std::string(oauthbearer) + "linger.ms=2\n");
    CHECK(kept.changes());
    CHECK(kept.property("sasl.oauthbearer.client.secret") == "second");
}

TEST_CASE("properties that lack what the login needs leave the client", "[kafka]")
{
    reloaded_client kept(scram, "first");

    kept.folder.write("properties", "security.protocol=sasl_plaintext\nsasl.mechanism=PLAIN\n");

    CHECK_FALSE(kept.changes());
    CHECK(kept.property("sasl.mechanism") == "SCRAM-SHA-512");
}

TEST_CASE("a client does not start with a certificate that is missing", "[kafka]")
{
    CHECK_THROWS_WITH(reloaded_client("ssl.ca.location=/nowhere/ca.pem\n"),
                      Contains("/nowhere/ca.pem"));
}
