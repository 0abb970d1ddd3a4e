#include "tempinboxctl/letter_place.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::ctl;

namespace {

kafka::record letter(std::int32_t partition, std::int64_t offset, const std::string& event = "")
{
    kafka::record made;
    made.partition = partition;
    made.offset = offset;
    if (!event.empty())
        made.headers.emplace_back("ce_id", event);
    return made;
}

std::vector<std::string> places(const result<std::vector<kafka::record>>& chosen)
{
    std::vector<std::string> texts;
    for (const auto& each : chosen.value())
        texts.push_back(place_of(each).text());
    return texts;
}

const std::vector<kafka::record> lying{letter(1, 7, "b"), letter(0, 3, "a"), letter(0, 4),
                                       letter(1, 8, "a")};

} // namespace

TEST_CASE("a letter is named by partition and offset", "[tempinboxctl]")
{
    CHECK(parse_letter_place("3/120").value() == letter_place{3, 120});
    for (const auto* text :
         {"", "3", "/", "3/", "/3", "-1/3", "3/-1", "3/1/2", "a/b", "3/1x", "99999999999/1"})
        CHECK(parse_letter_place(text).has_error());
}

TEST_CASE("exactly the chosen letters are taken, each once, in the order they lie",
          "[tempinboxctl]")
{
    letter_choice wanted;
    wanted.places = {{1, 8}, {0, 4}};
    CHECK(places(choose_letters(lying, wanted)) == std::vector<std::string>{"0/4", "1/8"});

    wanted.events = {"a"};
    CHECK(places(choose_letters(lying, wanted)) == std::vector<std::string>{"0/3", "0/4", "1/8"});

    letter_choice all;
    all.is_all = true;
    CHECK(places(choose_letters(lying, all)).size() == 4);
}

TEST_CASE("a letter that is not there is named, and nothing is taken", "[tempinboxctl]")
{
    letter_choice wanted;
    wanted.places = {{0, 3}, {2, 1}};
    CHECK(choose_letters(lying, wanted).error().message == "There is no letter at 2/1");
    wanted.places.clear();
    wanted.events = {"a", "z"};
    CHECK(choose_letters(lying, wanted).error().code == errc::not_found);
}
