#include "tempinboxctl/command.hpp"

#include "common/core/text.hpp"
#include "tempinboxctl/door_watch.hpp"

namespace tempinbox::ctl {
namespace {

result<door_request> read_request(const arguments& given)
{
    door_request request;
    const auto time = read_seconds(given, "seconds", request.time);
    if (!time)
        return time.error();
    request.time = *time;
    const auto settling = read_seconds(given, "settle", request.settling);
    if (!settling)
        return settling.error();
    request.settling = *settling;
    if (const auto receiver = given.value("receiver")) {
        const auto address = host_port::parse(*receiver);
        if (!address)
            return failure{errc::invalid_argument,
                           "--receiver must be host:port, not " + quote(*receiver)};
        request.receiver = *address;
    }
    auto api = read_api_settings(given, request.api.timeout);
    if (!api)
        return api.error();
    request.api = std::move(*api);
    return request;
}

awaitable<result<command_result>> compare(session& suite, arguments given)
{
    auto request = read_request(given);
    if (!request)
        co_return request.error();
    door_watch watching(suite, std::move(*request));
    const auto found = co_await watching.run();
    if (!found)
        co_return found.error();
    co_return to_result(*found);
}

} // namespace

std::vector<command> door_commands()
{
    std::vector<command> commands;
    auto& comparing = commands.emplace_back(
        "events compare-doors",
        "Watches an account's events in Kafka, at a webhook, in the feed and in the list of emails "
        "at once, and says which of them lacks an event or has it twice; exit code 1 then. Delete "
        "no email of the account meanwhile");
    auto& options = comparing.options;
    options = api_options();
    options.emplace_back("receiver", "HOST:PORT",
                         "an address of this host that the webhook dispatcher reaches and "
                         "webhook-allow-networks lets through; without it webhooks are left out",
                         option::kind::optional);
    options.emplace_back("seconds", "SECONDS", "how long events are compared, by default 60",
                         option::kind::optional);
    options.emplace_back("settle", "SECONDS",
                         "how long the last of them may take afterwards, by default 60",
                         option::kind::optional);
    comparing.run = compare;
    return commands;
}

} // namespace tempinbox::ctl
