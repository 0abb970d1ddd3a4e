#include "mime/signed_content.hpp"

#include "common/core/encoding.hpp"
#include "unit/mime/mails.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using testing::has_defect;
using testing::mail;
using testing::view_of;

namespace {

// `openssl cms -sign -nodetach -binary -nocerts` of a text that has a code.
constexpr std::string_view signed_der =
    "MIIB9wYJKoZIhvcNAQcCoIIB6DCCAeQCAQExDTALBglghkgBZQMEAgEwTwYJKoZIhvcNAQcBoEIEQENvbnRlbnQt"
    "VHlwZTogdGV4dC9wbGFpbjsgY2hhcnNldD11dGYtOA0KDQpZb3VyIGNvZGUgaXMgNDgyOTEzDQoxggF9MIIBeQIB"
    "ATArMBMxETAPBgNVBAMMCHNhbS50ZXN0AhQMkxZO0MPZSkIuKX8aaB9KajKcNTALBglghkgBZQMEAgGggeQwGAYJ"
    "KoZIhvcNAQkDMQsGCSqGSIb3DQEHATAcBgkqhkiG9w0BCQUxDxcNMjYxMTI4MTc0NTQxWjAvBgkqhkiG9w0BCQQx"
    "IgQgij1piqOB2HouWm/EfA8C78BWFzZ19uakFqZnH+7MmjwweQYJKoZIhvcNAQkPMWwwajALBglghkgBZQMEASow"
    "CwYJYIZIAWUDBAEWMAsGCWCGSAFlAwQBAjAKBggqhkiG9w0DBzAOBggqhkiG9w0DAgICAIAwDQYIKoZIhvcNAwIC"
    "AUAwBwYFKw4DAgcwDQYIKoZIhvcNAwICASgwCgYIKoZIzj0EAwIERzBFAiAURUXEIL1qTUCxNZ9OaxnxwRqAoLxB"
    "dZx2yCH4feTWKAIhALu2U3BB1fJ7bEnqFDqU8nbTJfVWgMZ74Ck6NWsTlX/W";

// The same with `-stream`: lengths are indefinite, and the content comes in pieces.
constexpr std::string_view signed_ber =
    "MIAGCSqGSIb3DQEHAqCAMIACAQExDTALBglghkgBZQMEAgEwgAYJKoZIhvcNAQcBoIAkgARAQ29udGVudC1UeXBl"
    "OiB0ZXh0L3BsYWluOyBjaGFyc2V0PXV0Zi04DQoNCllvdXIgY29kZSBpcyA0ODI5MTMNCgAAAAAAADGCAX4wggF6"
    "AgEBMCswEzERMA8GA1UEAwwIc2FtLnRlc3QCFAyTFk7Qw9lKQi4pfxpoH0pqMpw1MAsGCWCGSAFlAwQCAaCB5DAY"
    "BgkqhkiG9w0BCQMxCwYJKoZIhvcNAQcBMBwGCSqGSIb3DQEJBTEPFw0yNjExMjgxNzQ1NDFaMC8GCSqGSIb3DQEJ"
    "BDEiBCCKPWmKo4HYei5ab8R8DwLvwFYXNnX25qQWpmcf7syaPDB5BgkqhkiG9w0BCQ8xbDBqMAsGCWCGSAFlAwQB"
    "KjALBglghkgBZQMEARYwCwYJYIZIAWUDBAECMAoGCCqGSIb3DQMHMA4GCCqGSIb3DQMCAgIAgDANBggqhkiG9w0D"
    "AgIBQDAHBgUrDgMCBzANBggqhkiG9w0DAgIBKDAKBggqhkjOPQQDAgRIMEYCIQCQsNA6I4ZqNr+GEQBILuZY/H08"
    "8hrEwa2ShPEJw+YAIQIhALt+NhClsSLCCmOGbEbl1LC1zIp40nAhQnTuDGPezfVuAAAAAAAA";

// `openssl cms -encrypt` of it.
constexpr std::string_view enveloped =
    "MIIBWAYJKoZIhvcNAQcDoIIBSTCCAUUCAQIxgdKhgc8CAQOgUaFPMAkGByqGSM49AgEDQgAEjr4gTV5DEA04/F9+"
    "Lokt2CO0OMKipDG4atLaYodOJjk3MmB5EkC9wUqUZuGIzqTRGw5lharfTEIp84Migaf3yTAcBgkrgQUQhkg/AAIw"
    "DwYLKoZIhvcNAQkQAwYFADBZMFcwKzATMREwDwYDVQQDDAhzYW0udGVzdAIUDJMWTtDD2UpCLil/GmgfSmoynDUE"
    "KDtPrzLDhrZG+XfA5y7mLqd5DEvNJokG0nkJ04dMahI1f/kyy72zfuEwawYJKoZIhvcNAQcBMBQGCCqGSIb3DQMH"
    "BAgkEH2ds1E97IBIYUdXXJSMO9Lz2AUcK2I/0UOAml82kLCunxr9kbYE68BgPMCaHjndqQvuYnPdjJ5dGn3Uy9au"
    "PCgo5HOfuyXVdClJ2YZaW/xF";

// An element of DER.
std::string element(char tag, const std::string& content)
{
    std::string length;
    if (content.size() < 128) {
        length.push_back(static_cast<char>(content.size()));
    } else {
        for (auto rest = content.size(); rest != 0; rest >>= 8)
            length.insert(length.begin(), static_cast<char>(rest));
        length.insert(length.begin(), static_cast<char>(0x80 + length.size()));
    }
    return tag + length + content;
}

// A SignedData that nobody signed; `algorithms` is its first set.
std::string sealed(const std::string& octets, const std::string& algorithms = {})
{
    const std::string signed_data = "\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02";
    const std::string data = "\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01";
    const auto content = element('\x30', data + element('\xa0', octets));
    const auto inner = element('\x30', "\x02\x01\x01" + element('\x31', algorithms) + content +
                                           element('\x31', ""));
    return element('\x30', signed_data + element('\xa0', inner));
}

std::string sealed_entity(const std::string& entity)
{
    return sealed(element('\x04', mail(entity)));
}

std::string part(const std::string& type, const std::string& cms)
{
    return "Content-Type: " + type +
           "\nContent-Disposition: attachment; filename=smime.p7m\nContent-Transfer-Encoding: "
           "base64\n\n" +
           to_base64(cms) + "\n";
}

std::string coded_part(const std::string& type, std::string_view base64)
{
    return "Content-Type: " + type + "\nContent-Transfer-Encoding: base64\n\n" +
           std::string(base64) + "\n";
}

} // namespace

TEST_CASE("what an opaque signature is around is read in its place", "[mime]")
{
    for (const char* type :
         {"application/pkcs7-mime; smime-type=signed-data; name=smime.p7m",
          "application/pkcs7-mime", "application/x-pkcs7-mime; smime-type=\"Signed-Data\"",
          "application/octet-stream; name=smime.p7m"})
        for (const auto base64 : {signed_der, signed_ber}) {
            INFO(type);
            const auto view = view_of("Subject: s\n" + coded_part(type, base64));
            REQUIRE(view.text);
            CHECK(view.text == "Your code is 482913\r\n");
            CHECK(view.attachments.empty());
            CHECK(has_defect(view, "signature_not_verified"));
            CHECK(view.summary.subject == "s");
        }

    const auto binary = mime::read_view("Content-Type: application/pkcs7-mime\r\n\r\n" +
                                        sealed_entity("Content-Type: text/html\n\n<p>x</p>"));
    CHECK(binary.html == "<p>x</p>");
}

TEST_CASE("a signed multipart has its text, html and files", "[mime]")
{
    const auto raw = mail(
        "Content-Type: multipart/mixed; boundary=o\n\n--o\nContent-Type: application/pdf; "
        "name=a.pdf\n\nA\n--o\n" +
        part("application/pkcs7-mime; smime-type=signed-data",
             sealed_entity("Content-Type: multipart/mixed; boundary=i\n\n--i\nContent-Type: "
                           "multipart/alternative; boundary=a\n\n--a\n\nplain\n--a\nContent-Type: "
                           "text/html\n\n<p>html</p>\n--a--\n--i\nContent-Type: application/pdf; "
                           "name=b.pdf\n\nB\n--i--\n")) +
        "--o\nContent-Type: application/pdf; name=c.pdf\n\nC\n--o--\n");

    const auto view = mime::read_view(raw);

    CHECK(view.text == "plain");
    CHECK(view.html == "<p>html</p>");
    REQUIRE(view.attachments.size() == 3);
    CHECK(view.attachments[0].filename == "a.pdf");
    CHECK(view.attachments[1].filename == "b.pdf");
    CHECK(view.attachments[2].filename == "c.pdf");
    CHECK(mime::read_attachment(raw, view.attachments[1].id) == "B");
}

TEST_CASE("what is encrypted, no mail or nothing stays a file", "[mime]")
{
    const auto is_file = [](const std::string& mail_text) {
        const auto view = view_of("Subject: s\n" + mail_text);
        return !view.text && view.attachments.size() == 1 &&
               !has_defect(view, "signature_not_verified");
    };
    const auto entity = sealed_entity("Content-Type: text/plain\n\nx");

    CHECK(is_file(coded_part("application/pkcs7-mime; smime-type=enveloped-data", enveloped)));
    CHECK(is_file(coded_part("application/pkcs7-mime", enveloped)));
    CHECK(is_file(part("application/pkcs7-mime; smime-type=enveloped-data", entity)));
    CHECK(is_file(
        part("application/octet-stream; name=other.p7m", sealed(element('\x04', "%PDF-1.7\r\n")))));
    CHECK(is_file(part("application/pkcs7-mime", sealed(element('\x04', "%PDF-1.7\r\n")))));
    CHECK(is_file(
        part("application/pkcs7-mime", sealed(element('\x04', "<?xml version=\"1.0\"?>")))));
    CHECK(is_file(part("application/pkcs7-mime", sealed(""))));
    CHECK(is_file(part("application/pkcs7-mime", sealed(element('\x02', "x")))));
    CHECK(is_file(part("application/pkcs7-mime", "no CMS")));
    for (std::size_t bytes = 1; bytes < entity.size(); bytes += 7)
        mime::signed_content(std::string_view(entity).substr(0, bytes));
}

TEST_CASE("signatures around signatures are read as deep as other parts", "[mime]")
{
    std::string entity = "Content-Type: text/plain\n\ninnermost";
    for (int i = 0; i < 3; ++i)
        entity = "Content-Type: application/pkcs7-mime\nContent-Transfer-Encoding: binary\n\n" +
                 sealed(element('\x04', i == 0 ? mail(entity) : entity));
    CHECK(mime::read_view(entity).text == "innermost");

    mime::view_limits limits;
    limits.depth = 2;
    const auto cut = mime::read_view(entity, limits);
    CHECK_FALSE(cut.text);
    CHECK(cut.attachments.size() == 1);
    CHECK(has_defect(cut, "too_deep"));

    // Octets in pieces within pieces, at most eight deep.
    auto octets = element('\x04', "Content-Type: text/plain\r\n\r\n") + element('\x04', "x");
    for (int i = 0; i < 8; ++i)
        octets = element('\x24', octets);
    CHECK(mime::signed_content(sealed(octets)) == "Content-Type: text/plain\r\n\r\nx");
    CHECK_FALSE(mime::signed_content(sealed(element('\x24', octets))));
}

TEST_CASE("a signature of many elements costs no more than its bytes", "[mime]")
{
    const auto many = sealed(element('\x04', "Content-Type: text/plain\r\n\r\nx"),
                             testing::repeated(std::string("\x30\x03\x06\x01\x2a"), 2'000'000));
    CHECK(mime::signed_content(many) == "Content-Type: text/plain\r\n\r\nx");

    for (const char* unit : {"\x30\x80", "\x24\x80", "\xa0\x80", "\x31\x80"}) {
        const auto nested = testing::repeated(unit, 1'000'000);
        CHECK_FALSE(mime::signed_content(nested));
        CHECK_FALSE(mime::signed_content(sealed(nested)));
        CHECK_FALSE(mime::signed_content(sealed("", nested)));
    }
}
