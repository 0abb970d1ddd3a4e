#include "mailbox/address_rules.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace tempinbox;
using namespace tempinbox::mailbox;

TEST_CASE("local parts customers may ask for, in lower case", "[mailbox]")
{
    CHECK(parse_local_part("ann").value() == "ann");
    CHECK(parse_local_part("Ann.Smith-2_x").value() == "ann.smith-2_x");
    CHECK(parse_local_part("7").value() == "7");
    CHECK(parse_local_part("a-").value() == "a-");
    CHECK(parse_local_part(std::string(63, 'a')).value() == std::string(63, 'a'));
}

TEST_CASE("local parts nobody could write to, or that are none", "[mailbox]")
{
    for (const std::string given :
         {"", ".a", "-a", "_a", "a.", "a..b", "a b", "a+b", "a@b", "käse", "a\n", "\"a\""}) {
        const auto refused = parse_local_part(given);
        CAPTURE(given);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == errc::invalid_argument);
        CHECK(refused.error().message.starts_with("localPart "));
    }
    CHECK_FALSE(parse_local_part(std::string(64, 'a')));
    CHECK_FALSE(parse_local_part(std::string("a\0b", 3)));
}

TEST_CASE("domains are names of labels, in lower case", "[mailbox]")
{
    CHECK(parse_domain("Mail.Example.COM").value() == "mail.example.com");
    CHECK(parse_domain("xn--bcher-kva.example").value() == "xn--bcher-kva.example");
    for (const std::string given : {"", "localhost", "a..b", ".a.b", "a.b.", "-a.b", "a-.b",
                                    "bücher.example", "a b.c", "a_b.c"}) {
        CAPTURE(given);
        CHECK_FALSE(parse_domain(given));
    }
    CHECK_FALSE(parse_domain(std::string(64, 'a') + ".example"));
    std::string long_one = "example";
    while (long_one.size() <= 190)
        long_one = "label." + long_one;
    CHECK_FALSE(parse_domain(long_one));
}

TEST_CASE("names by which certificate authorities and clients know a domain are reserved",
          "[mailbox]")
{
    for (const auto* name : {"postmaster", "abuse", "hostmaster", "webmaster", "admin",
                             "administrator", "root", "security", "noc", "mailer-daemon", "noreply",
                             "www", "ftp", "ssladmin", "ssl-cert", "autodiscover"})
        CHECK(is_reserved(name));
    for (const auto* name : {"ann", "admin2", "postmaster1", "support", "abus"})
        CHECK_FALSE(is_reserved(name));
}

TEST_CASE("a random local part is words and digits that a customer could have asked for",
          "[mailbox]")
{
    const auto name = make_random_local_part();

    CHECK(name.size() == 23);
    CHECK(parse_local_part(name).value() == name);
    CHECK(make_local_part(name_entropy{}) == "bababa-bababa-bababa-00");
    CHECK(make_local_part({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 99}) ==
          "zozozo-zozozo-zozozo-99");
}

TEST_CASE("every entropy bit that is used changes the name: at least 60 bits", "[mailbox]")
{
    // Nine syllables of 64 and a number below 100.
    for (std::size_t syllable = 0; syllable < 9; ++syllable) {
        std::set<std::string> names;
        for (unsigned value = 0; value < 64; ++value) {
            name_entropy entropy{};
            entropy[syllable] = static_cast<std::uint8_t>(value);
            names.insert(make_local_part(entropy));
        }
        CHECK(names.size() == 64);
    }
    std::set<std::string> numbers;
    for (unsigned value = 0; value < 65'536; ++value) {
        name_entropy entropy{};
        entropy[9] = static_cast<std::uint8_t>(value >> 8);
        entropy[10] = static_cast<std::uint8_t>(value);
        numbers.insert(make_local_part(entropy));
    }
    CHECK(numbers.size() == 100);
}

TEST_CASE("random local parts do not repeat", "[mailbox]")
{
    std::set<std::string> names;
    for (int i = 0; i < 10'000; ++i)
        names.insert(make_random_local_part());
    CHECK(names.size() == 10'000);
}

// CA/Browser Forum Baseline Requirements 3.2.2.4.4: an authority issues a certificate for a domain
// to whoever reads the mail of these. RFC 2142 has the others.
TEST_CASE("a catch-all gets no mail by which an authority validates its subdomain", "[mailbox]")
{
    for (const auto* name : {"admin", "administrator", "webmaster", "hostmaster", "postmaster",
                             "abuse", "root", "security", "ssladmin", "sslwebmaster"})
        CHECK(is_reserved(name));
    CHECK(is_operators("postmaster"));
    CHECK(is_operators("abuse"));
    CHECK_FALSE(is_operators("admin"));
    CHECK(catch_all_address("ci.mail.test") == "*@ci.mail.test");
    CHECK_FALSE(parse_local_part(catch_all_local_part));
}

TEST_CASE("a subdomain begins with a name of 3 to 40 letters, digits and single hyphens",
          "[mailbox]")
{
    CHECK(parse_subdomain("CI-2.Mail.test").value() == "ci-2.mail.test");
    CHECK(parse_subdomain("abc.mail.test").value() == "abc.mail.test");
    CHECK(parse_subdomain(std::string(40, 'a') + ".mail.test"));
    for (const auto& given : {std::string("ab.mail.test"), std::string(41, 'a') + ".mail.test",
                              std::string("xn--a.mail.test"), std::string("a--b.mail.test"),
                              std::string("4th.mail.test"), std::string("-ab.mail.test"),
                              std::string("ab-.mail.test"), std::string("a_b.mail.test"),
                              std::string("*.mail.test"), std::string("mta-sts.mail.test"),
                              std::string("www.mail.test"), std::string("Autodiscover.mail.test"),
                              std::string("smtp.mail.test"), std::string("alone"), std::string()}) {
        CAPTURE(given);
        const auto refused = parse_subdomain(given);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == errc::invalid_argument);
        CHECK(refused.error().message.starts_with("domain "));
    }
    CHECK(parent_domain("ci.mail.test") == "mail.test");
    CHECK(parent_domain("test").empty());
}

TEST_CASE("a random local part may be asked for as a subdomain", "[mailbox]")
{
    for (int i = 0; i < 100; ++i)
        CHECK(parse_subdomain(make_random_local_part() + ".mail.test"));
}
