#include "common/tls/verification.hpp"

#include "common/testing/await.hpp"
#include "common/tls/certificate.hpp"
#include "unit/common/http/self_signed.hpp"
#include "unit/common/scratch_folder.hpp"

#include <boost/asio/ssl/context.hpp>

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

void as_it_is(boost::asio::ssl::context&) {}

// An authority that clients trust, and certificates by it.
struct authority
{
    testing::scratch_folder folder;
    testing::self_signed own = testing::make_self_signed("DNS:authority.test");
    std::string file = folder.write("ca.pem", own.certificate);

    std::string certificate_for(const std::string& names, testing::validity when = {}) const
    {
        return folder.write("certificate.pem", testing::make_signed(own, names, when).certificate);
    }

    // Empty: the client takes it.
    std::string error_of(const std::string& certificate, const std::string& host) const
    {
        const auto verified = tls::verify_as_client(certificate, {host, file});
        return verified ? "" : verified.error().message;
    }
};

// A certificate that a server uses, and what the metric shows of it.
struct certificate_in_use
{
    authority trusted;
    testing::self_signed good = testing::make_signed(trusted.own, "DNS:smtp.test");
    testing::scratch_folder folder;
    std::string ca_file = trusted.file;
    metrics::registry registry;
    runtime::file_watch files{testing::test_host().executor(), registry};

    tls::watched_certificate watch(const testing::self_signed& pair,
                                   std::chrono::milliseconds verified_each = 1h)
    {
        return tls::watch_certificate(files, registry,
                                      {"watched-file",
                                       folder.write("certificate.pem", pair.certificate),
                                       folder.write("key.pem", pair.key),
                                       tls::client_view{"smtp.test", ca_file}, verified_each},
                                      as_it_is);
    }
    bool becomes(int verified)
    {
        const auto series = "\ntempinbox_certificate_verified{setting=\"watched-file\"} " +
                            std::to_string(verified);
        return testing::eventually(
            [&] { return registry.text().find(series + "\n") != std::string::npos; });
    }
};

} // namespace

TEST_CASE("a client takes a certificate of the name that it connects to", "[tls]")
{
    const authority trusted;
    const auto certificate =
        trusted.certificate_for("DNS:smtp.test,DNS:*.mail.test,IP:192.0.2.1,IP:2001:db8::1");

    for (const auto* host : {"smtp.test", "SMTP.test", "mx.mail.test", "192.0.2.1", "2001:db8::1"})
        CHECK(trusted.error_of(certificate, host).empty());
    CHECK(trusted.error_of(certificate, "").empty());
    for (const auto* host : {"other.test", "a.b.mail.test", "mail.test", "localhost"})
        CHECK_THAT(trusted.error_of(certificate, host), Contains("hostname mismatch"));
    CHECK_THAT(trusted.error_of(certificate, "192.0.2.2"), Contains("IP address mismatch"));
}

TEST_CASE("a client takes no certificate of an authority that it does not know", "[tls]")
{
    const authority trusted, other;
    const auto by_other = other.certificate_for("DNS:smtp.test");
    const auto by_itself =
        other.folder.write("itself.pem", testing::make_self_signed("DNS:smtp.test").certificate);

    CHECK_THAT(trusted.error_of(by_other, "smtp.test"), Contains("issuer certificate"));
    CHECK_THAT(trusted.error_of(by_itself, "smtp.test"), Contains("self"));
    // The system's authorities know neither.
    CHECK_FALSE(tls::verify_as_client(by_other, {"smtp.test", ""}));
    CHECK_FALSE(tls::verify_as_client(by_itself, {"smtp.test", ""}));
    // Whoever is told to trust it does.
    CHECK(tls::verify_as_client(by_itself, {"smtp.test", by_itself}));
}

TEST_CASE("a client takes no certificate that has expired or is not good yet", "[tls]")
{
    const authority trusted;

    CHECK_THAT(trusted.error_of(trusted.certificate_for("DNS:smtp.test", {-3h, -1h}), "smtp.test"),
               Contains("expired"));
    CHECK_THAT(trusted.error_of(trusted.certificate_for("DNS:smtp.test", {1h, 3h}), "smtp.test"),
               Contains("not yet valid"));
}

TEST_CASE("files that cannot be read are errors of the verification", "[tls]")
{
    const authority trusted;
    const auto rubbish = trusted.folder.write("rubbish.pem", "rubbish\n");

    CHECK_THAT(trusted.error_of(rubbish, "smtp.test"), Contains("holds no certificate"));
    CHECK_THAT(trusted.error_of(trusted.folder.file("absent.pem"), "smtp.test"),
               Contains("holds no certificate"));
    const auto verified =
        tls::verify_as_client(trusted.certificate_for("DNS:smtp.test"), {"smtp.test", rubbish});
    REQUIRE_FALSE(verified);
    CHECK_THAT(verified.error().message, Contains("authorities"));
}

TEST_CASE("a metric shows whether clients take the certificate in use", "[tls]")
{
    certificate_in_use served;
    const auto by_itself = testing::make_self_signed("DNS:smtp.test");
    const auto watched = served.watch(by_itself);
    CHECK(served.becomes(0));

    served.folder.write("certificate.pem", served.good.certificate);
    served.folder.write("key.pem", served.good.key);
    served.files.check();

    CHECK(served.becomes(1));
}

TEST_CASE("a certificate is verified again when the file of the authorities changes", "[tls]")
{
    certificate_in_use served;
    const testing::scratch_folder other;
    served.ca_file = other.write("ca.pem", testing::make_self_signed("DNS:other.test").certificate);
    const auto watched = served.watch(served.good);
    CHECK(served.becomes(0));

    other.write("ca.pem", served.trusted.own.certificate);
    served.files.check();

    CHECK(served.becomes(1));
}

TEST_CASE("a certificate is verified again while no file of its own changes", "[tls]")
{
    certificate_in_use served;
    const testing::scratch_folder other;
    served.ca_file = other.write("ca.pem", testing::make_self_signed("DNS:other.test").certificate);
    const auto watched = served.watch(served.good, 5ms);
    CHECK(served.becomes(0));

    // Nobody looks whether it changed.
    other.write("ca.pem", served.trusted.own.certificate);

    CHECK(served.becomes(1));
}
