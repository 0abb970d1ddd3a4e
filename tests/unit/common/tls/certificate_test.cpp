#include "common/tls/certificate.hpp"
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
    tls::certificate certificate(folder.write("certificate.pem", old.certificate),
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
    write_old("key.pem", renewed.key);
    certificate.reload_if_changed();
    CHECK(certificate.context() != before);
}
