#include "corpus/corpus.hpp"

#include "mime/view.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace tempinbox;

namespace {

// Mails whose first code is known not to be the expected one, and why that is accepted.
const std::map<std::string, std::string> known_misses = {};

struct counts
{
    int right = 0;
    int found = 0;
    int expected = 0;
};

counts count_first_codes(const std::vector<corpus::expected_mail>& mails)
{
    counts all;
    for (const auto& mail : mails) {
        const auto found = corpus::examine(mail.raw).codes;
        const bool is_right =
            !found.empty() && !mail.codes.empty() && found.front().value == mail.codes.front();
        all.right += is_right ? 1 : 0;
        all.found += found.empty() ? 0 : 1;
        all.expected += mail.codes.empty() ? 0 : 1;
    }
    return all;
}

} // namespace

TEST_CASE("each mail of the corpus has the first code that a reader would take",
          "[extract][corpus]")
{
    for (const auto& mail : corpus::read_all()) {
        if (known_misses.contains(mail.file))
            continue;
        const auto found = corpus::examine(mail.raw).codes;

        INFO(mail.file);
        CHECK((found.empty() ? "" : found.front().value) ==
              (mail.codes.empty() ? "" : mail.codes.front()));
    }
}

TEST_CASE("each line of the corpus has the codes that a reader would take, and no other",
          "[extract][corpus]")
{
    for (const auto& line : corpus::read_lines()) {
        std::vector<std::string> found;
        for (const auto& code : corpus::examine_line(line))
            found.push_back(code.value);

        INFO(line.language << ": " << line.text);
        CHECK(found == line.codes);
    }
}

TEST_CASE("every kind and every language of the corpus' lines has a floor", "[extract][corpus]")
{
    const auto floors = corpus::read_floors();
    for (const auto& line : corpus::read_lines()) {
        INFO(line.kind << ", " << line.language);
        CHECK(floors.kinds.contains(line.kind));
        CHECK(floors.languages.contains(line.language));
    }
}

TEST_CASE("each link of the corpus is found with what it is for", "[extract][corpus]")
{
    for (const auto& mail : corpus::read_all()) {
        std::map<std::string, std::string> expected;
        for (const auto& link : mail.links)
            expected[link.url] = link.kind;
        std::map<std::string, std::string> found;
        for (const auto& link : corpus::examine(mail.raw).links)
            found[link.url] = link.kind;

        INFO(mail.file);
        CHECK(found == expected);
    }
}

TEST_CASE("first codes of the corpus: precision and recall stay where they are",
          "[extract][corpus]")
{
    const auto mails = corpus::read_all();
    REQUIRE(mails.size() >= 241);

    const auto all = count_first_codes(mails);

    CHECK(all.right >= 0.98 * all.found);
    CHECK(all.right >= 0.97 * all.expected);
    CHECK(known_misses.size() <= 3);
}

TEST_CASE("the offset of a code in the corpus is within its part", "[extract][corpus]")
{
    for (const auto& mail : corpus::read_all()) {
        const auto view = mime::read_view(mail.raw);
        for (const auto& code : corpus::examine(mail.raw).codes) {
            INFO(mail.file << ": " << code.value << " in " << code.part << " at " << code.offset);
            const auto& part = code.part == "subject" ? view.summary.subject
                               : code.part == "text"  ? *view.text
                                                      : *view.html;
            CHECK(code.offset >= 0);
            CHECK(static_cast<std::size_t>(code.offset) < part.size());
            CHECK((code.score >= 0.5 && code.score <= 1));
        }
    }
}
