#include "cli/session.hpp"

#include "common/core/ids.hpp"
#include "common/core/text.hpp"

namespace tempinbox::cli {
namespace {

constexpr std::size_t max_address_length = 254; // RFC 5321 4.5.3.1.3

} // namespace

session::session(boost::asio::io_context& loop, const arguments& given,
                 const environment& variables)
    : loop_(loop),
      given_(given),
      variables_(variables),
      is_json_(given.has("json"))
{}

const settings& session::chosen()
{
    if (!settings_)
        settings_ = read_settings(given_, variables_);
    return *settings_;
}

api_client& session::api()
{
    if (!api_)
        api_.emplace(loop_, chosen());
    return *api_;
}

awaitable<result<std::string>> session::find_inbox(std::string id_or_address)
{
    if (const auto id = uuid::parse(id_or_address))
        co_return id->text();
    const bool is_address = id_or_address.find('@') != std::string::npos &&
                            is_valid_utf8(id_or_address) &&
                            id_or_address.size() <= max_address_length;
    if (!is_address)
        co_return failure{errc::invalid_argument,
                          "INBOX must be an inbox's id (36 characters) or its address, not " +
                              quote(id_or_address)};
    query asked;
    asked.add("address", std::optional(id_or_address)).add("limit", std::optional<std::int64_t>(1));
    const auto found = co_await api().read({.path = "/v1/inboxes" + asked.text()});
    if (!found)
        co_return found.error();
    const auto inboxes = items_of(*found, "inboxes");
    if (inboxes.empty())
        co_return failure{errc::not_found, "no inbox of yours takes mail as " +
                                               quote(id_or_address) +
                                               ". `tempinbox list` shows those there are"};
    co_return text_of(inboxes.front(), "inboxId");
}

result<std::string> read_email_id(std::string_view word)
{
    if (const auto id = uuid::parse(word))
        return id->text();
    return failure{errc::invalid_argument,
                   "EMAIL must be an email's id (36 characters), not " + quote(word)};
}

} // namespace tempinbox::cli
