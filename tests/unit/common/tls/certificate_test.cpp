#include "common/tls/certificate.hpp"

#include "common/core/time.hpp"
#include "common/metrics/files_current.hpp"
#include "common/testing/await.hpp"
#include "unit/common/http/self_signed.hpp"
#include "unit/common/scratch_folder.hpp"

#include <boost/asio/ssl/context.hpp>

#include <catch2/catch.hpp>

#include <filesystem>

using namespace tempinbox;

namespace {

void as_it_is(boost::asio::ssl::context&) {}

} // namespace

TEST_CASE("a renewed pair is taken when both its files are there, however old they are", "[tls]")
{
    const testing::scratch_folder folder;
    const auto old = testing::make_self_signed("DNS:old.test");
    const auto renewed = testing::make_self_signed("DNS:renewed.test");
    metrics::registry metrics;
    runtime::file_watch files(testing::test_host().executor(), metrics);
    const auto certificate =
        tls::watch_certificate(files, metrics, folder.write("certificate.pem", old.certificate),
                               folder.write("key.pem", old.key), as_it_is);
    const auto before = certificate.current();
    const auto write_old = [&](const std::string& name, const std::string& content) {
        const auto time = std::filesystem::last_write_time(folder.file("certificate.pem")) -
                          std::chrono::hours(1);
        std::filesystem::last_write_time(folder.write(name, content), time);
    };

    files.check();
    CHECK(certificate.current() == before);
    write_old("certificate.pem", renewed.certificate);
    files.check();
    CHECK(certificate.current() == before);
    CHECK(metrics::files_current(metrics, "tls-certificate-file").Value() == 0);
    write_old("key.pem", renewed.key);
    files.check();
    CHECK(certificate.current() != before);
    CHECK(metrics::files_current(metrics, "tls-certificate-file").Value() == 1);
}

TEST_CASE("a metric shows when the certificate in use ends", "[tls]")
{
    const testing::scratch_folder folder;
    const auto pair = testing::make_self_signed("DNS:a.test");
    const auto file = folder.write("certificate.pem", pair.certificate);
    metrics::registry metrics;
    runtime::file_watch files(testing::test_host().executor(), metrics);
    const auto certificate =
        tls::watch_certificate(files, metrics, file, folder.write("key.pem", pair.key), as_it_is);

    const metrics::labels of_file{{"file", file}};
    const auto ends = metrics
                          .gauge("tempinbox_certificate_expiry_timestamp_seconds",
                                 "Unix time at which the certificate in use ends", of_file)
                          .Value();
    const auto now = static_cast<double>(to_unix_seconds(system_clock_source().now()));
    CHECK(ends > now);
    CHECK(ends < now + 100.0 * 366 * 86'400);
}

TEST_CASE("the context of a certificate stays when its files are not watched any more", "[tls]")
{
    const testing::scratch_folder folder;
    const auto pair = testing::make_self_signed("DNS:a.test");
    const auto renewed = testing::make_self_signed("DNS:a.test");
    metrics::registry metrics;
    runtime::file_watch files(testing::test_host().executor(), metrics);
    auto certificate =
        tls::watch_certificate(files, metrics, folder.write("certificate.pem", pair.certificate),
                               folder.write("key.pem", pair.key), as_it_is);
    const auto before = certificate.current();

    certificate.watched = {};
    folder.write("certificate.pem", renewed.certificate);
    folder.write("key.pem", renewed.key);
    files.check();

    CHECK(certificate.current() == before);
}
