#include "common/tls/certificate.hpp"

#include "common/core/time.hpp"
#include "common/metrics/files_current.hpp"
#include "unit/common/http/self_signed.hpp"
#include "unit/common/scratch_folder.hpp"

#include <boost/asio/ssl/context.hpp>

#include <catch2/catch.hpp>

#include <filesystem>

using namespace tempinbox;

TEST_CASE("a renewed pair is taken when both its files are there, however old they are", "[tls]")
{
    const testing::scratch_folder folder;
    const auto old = testing::make_self_signed("DNS:old.test");
    const auto renewed = testing::make_self_signed("DNS:renewed.test");
    metrics::registry metrics;
    tls::certificate certificate(metrics, folder.write("certificate.pem", old.certificate),
                                 folder.write("key.pem", old.key),
                                 [](boost::asio::ssl::context&) {});
    const auto before = certificate.context();
    const auto write_old = [&](const std::string& name, const std::string& content) {
        const auto time = std::filesystem::last_write_time(folder.file("certificate.pem")) -
                          std::chrono::hours(1);
        std::filesystem::last_write_time(folder.write(name, content), time);
    };

    certificate.reload_if_changed();
    CHECK(certificate.context() == before);
    write_old("certificate.pem", renewed.certificate);
    certificate.reload_if_changed();
    CHECK(certificate.context() == before);
    CHECK(metrics::files_current(metrics, "tls-certificate-file").Value() == 0);
    write_old("key.pem", renewed.key);
    certificate.reload_if_changed();
    CHECK(certificate.context() != before);
    CHECK(metrics::files_current(metrics, "tls-certificate-file").Value() == 1);
}

TEST_CASE("a metric shows when the certificate in use ends", "[tls]")
{
    const testing::scratch_folder folder;
    const auto pair = testing::make_self_signed("DNS:a.test");
    const auto file = folder.write("certificate.pem", pair.certificate);
    metrics::registry metrics;
    const tls::certificate certificate(metrics, file, folder.write("key.pem", pair.key),
                                       [](boost::asio::ssl::context&) {});

    const metrics::labels of_file{{"file", file}};
    const auto ends = metrics
                          .gauge("tempinbox_certificate_expiry_timestamp_seconds",
                                 "Unix time at which the certificate in use ends", of_file)
                          .Value();
    const auto now = static_cast<double>(to_unix_seconds(system_clock_source().now()));
    CHECK(ends > now);
    CHECK(ends < now + 100.0 * 366 * 86'400);
}
