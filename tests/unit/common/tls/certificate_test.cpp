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
using namespace std::chrono_literals;

namespace {

const std::string setting = "tls-certificate-file";

void as_it_is(boost::asio::ssl::context&) {}

tls::certificate_files write_pair(const testing::scratch_folder& folder,
                                  const testing::self_signed& pair,
                                  const std::string& name = setting)
{
    return {name, folder.write("certificate.pem", pair.certificate),
            folder.write("key.pem", pair.key)};
}

double expiry_of(metrics::registry& metrics, const std::string& name, const std::string& file)
{
    return metrics
        .gauge("tempinbox_certificate_expiry_timestamp_seconds",
               "Unix time at which the certificate in use ends",
               {{"file", file}, {"setting", name}})
        .Value();
}

} // namespace

TEST_CASE("a renewed pair is taken when both its files are there, however old they are", "[tls]")
{
    const testing::scratch_folder folder;
    const auto old = testing::make_self_signed("DNS:old.test");
    const auto renewed = testing::make_self_signed("DNS:renewed.test");
    metrics::registry metrics;
    runtime::file_watch files(testing::test_host().executor(), metrics);
    const auto certificate =
        tls::watch_certificate(files, metrics, write_pair(folder, old), as_it_is);
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
    CHECK(metrics::files_current(metrics, setting).Value() == 0);
    write_old("key.pem", renewed.key);
    files.check();
    CHECK(certificate.current() != before);
    CHECK(metrics::files_current(metrics, setting).Value() == 1);
}

TEST_CASE("a metric shows when the certificate in use ends", "[tls]")
{
    const testing::scratch_folder folder;
    const auto pair = testing::make_self_signed("DNS:a.test");
    metrics::registry metrics;
    runtime::file_watch files(testing::test_host().executor(), metrics);
    const auto certificate =
        tls::watch_certificate(files, metrics, write_pair(folder, pair), as_it_is);

    const auto ends = expiry_of(metrics, setting, folder.file("certificate.pem"));
    const auto now = static_cast<double>(to_unix_seconds(system_clock_source().now()));
    CHECK(ends > now);
    CHECK(ends < now + 100.0 * 366 * 86'400);
}

TEST_CASE("two servers of a process tell of their certificates apart", "[tls]")
{
    const testing::scratch_folder folder, other_folder;
    const auto soon = testing::make_self_signed("DNS:a.test", {-1h, 10h});
    const auto later = testing::make_self_signed("DNS:b.test", {-1h, 90h});
    const std::string other = "submission-tls-certificate-file";
    metrics::registry metrics;
    runtime::file_watch files(testing::test_host().executor(), metrics);
    const auto first = tls::watch_certificate(files, metrics, write_pair(folder, soon), as_it_is);
    const auto second =
        tls::watch_certificate(files, metrics, write_pair(other_folder, later, other), as_it_is);

    other_folder.write("key.pem", "rubbish\n");
    files.check();

    CHECK(metrics::files_current(metrics, setting).Value() == 1);
    CHECK(metrics::files_current(metrics, other).Value() == 0);
    const auto now = static_cast<double>(to_unix_seconds(system_clock_source().now()));
    CHECK(expiry_of(metrics, setting, folder.file("certificate.pem")) < now + 11 * 3'600);
    CHECK(expiry_of(metrics, other, other_folder.file("certificate.pem")) > now + 80 * 3'600);
}

TEST_CASE("two servers with one certificate each show when it ends", "[tls]")
{
    const testing::scratch_folder folder;
    const auto pair = testing::make_self_signed("DNS:a.test");
    const std::string other = "submission-tls-certificate-file";
    metrics::registry metrics;
    runtime::file_watch files(testing::test_host().executor(), metrics);
    const auto first = tls::watch_certificate(files, metrics, write_pair(folder, pair), as_it_is);
    const auto second =
        tls::watch_certificate(files, metrics, write_pair(folder, pair, other), as_it_is);

    const auto file = folder.file("certificate.pem");
    CHECK(expiry_of(metrics, setting, file) > 0);
    CHECK(expiry_of(metrics, other, file) == expiry_of(metrics, setting, file));
}

TEST_CASE("the context of a certificate stays when its files are not watched any more", "[tls]")
{
    const testing::scratch_folder folder;
    const auto pair = testing::make_self_signed("DNS:a.test");
    const auto renewed = testing::make_self_signed("DNS:a.test");
    metrics::registry metrics;
    runtime::file_watch files(testing::test_host().executor(), metrics);
    auto certificate = tls::watch_certificate(files, metrics, write_pair(folder, pair), as_it_is);
    const auto before = certificate.current();

    certificate.watched = {};
    folder.write("certificate.pem", renewed.certificate);
    folder.write("key.pem", renewed.key);
    files.check();

    CHECK(certificate.current() == before);
}
