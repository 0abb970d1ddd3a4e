#include "cli/settings.hpp"

#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <map>

using namespace tempinbox;
using namespace tempinbox::cli;

namespace {

using variables = std::map<std::string, std::string>;

environment with(variables given)
{
    return [given = std::move(given)](const std::string& name) -> std::optional<std::string> {
        const auto found = given.find(name);
        return found == given.end() ? std::nullopt : std::optional(found->second);
    };
}

arguments with_options(const variables& given)
{
    arguments line;
    for (const auto& [name, value] : given)
        line.options[name] = {value};
    return line;
}

std::string refusal(const arguments& line, const environment& around)
{
    try {
        read_settings(line, around);
    } catch (const failure_error& refused) {
        CHECK(refused.reason().code == errc::invalid_argument);
        return refused.reason().message;
    }
    return {};
}

} // namespace

TEST_CASE("a missing setting names each way to give it", "[cli]")
{
    const auto url = refusal({}, with({{"TEMPINBOX_API_KEY", "ti_live_a"}}));
    const auto key =
        refusal({}, with({{"TEMPINBOX_BASE_URL", "http://a/b"}, {"HOME", "/nowhere"}}));

    CHECK_THAT(url, Catch::Contains("TEMPINBOX_BASE_URL") && Catch::Contains("--base-url"));
    CHECK_THAT(key, Catch::Contains("TEMPINBOX_API_KEY") &&
                        Catch::Contains("/nowhere/.config/tempinbox/key") &&
                        Catch::Contains("http://a/b/dashboard/settings/keys"));
}

TEST_CASE("an address that is none is refused", "[cli]")
{
    const auto refused = [](const std::string& url) {
        return refusal(with_options({{"base-url", url}}), with({{"TEMPINBOX_API_KEY", "k"}}));
    };

    CHECK_THAT(refused("mail.example.com"), Catch::StartsWith("--base-url: the URL"));
    CHECK_THAT(refused("ftp://a"), Catch::Contains("must begin with http:// or https://"));
    CHECK_THAT(refused("https://user@a"), Catch::Contains("must not carry a user name"));
    CHECK_THAT(refused("https://a/?b=c"), Catch::Contains("without a query"));
    CHECK(refused("https://a/v1/") == "--base-url must be without /v1, not \"https://a/v1\"");
    CHECK_THAT(refused("https://a/prefix/v1"), Catch::Contains("without /v1"));
    CHECK(refused("https://a/prefix/").empty());
    CHECK(refused("https://v1").empty());
}

TEST_CASE("a key file that others can read is refused with what to type", "[cli]")
{
    const testing::scratch_folder folder;
    const auto file = folder.write("my key", "ti_live_abc\n");
    const auto line = with_options({{"base-url", "http://a"}, {"key-file", file}});

    ::chmod(file.c_str(), 0640);
    CHECK(refusal(line, with({})) ==
          "others can read the key file \"" + file + "\"; type: chmod 600 '" + file + "'");
    ::chmod(file.c_str(), 0600);
    CHECK(read_settings(line, with({})).api_key.reveal() == "ti_live_abc");
}

TEST_CASE("the key comes from the option, the variable or the user's folder, in this order",
          "[cli]")
{
    const testing::scratch_folder folder;
    ::mkdir(folder.file("tempinbox").c_str(), 0700);
    const auto usual = folder.write("tempinbox/key", "from_folder\n");
    const auto named = folder.write("other", "from_option\n");
    for (const auto& file : {usual, named})
        ::chmod(file.c_str(), 0600);
    const auto folder_name = usual.substr(0, usual.rfind("/tempinbox"));
    const auto line = with_options({{"base-url", "http://a"}});
    const auto both =
        with({{"TEMPINBOX_API_KEY", "from_variable"}, {"XDG_CONFIG_HOME", folder_name}});

    CHECK(read_settings(line, with({{"XDG_CONFIG_HOME", folder_name}})).api_key.reveal() ==
          "from_folder");
    CHECK(read_settings(line, both).api_key.reveal() == "from_variable");
    CHECK(read_settings(with_options({{"base-url", "http://a"}, {"key-file", named}}), both)
              .api_key.reveal() == "from_option");
}

TEST_CASE("what cannot be a key is refused", "[cli]")
{
    const auto refused = [](const std::string& key) {
        return refusal(with_options({{"base-url", "http://a"}}),
                       with({{"TEMPINBOX_API_KEY", key}}));
    };

    CHECK_THAT(refused("two words"), Catch::Contains("TEMPINBOX_API_KEY holds no API key"));
    CHECK_THAT(refused("a\r\nX-Other: b"), Catch::Contains("holds no API key"));
    CHECK(refused("ti_live_abc").empty());
}
