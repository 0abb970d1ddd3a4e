#include "tempinboxctl/command.hpp"

#include "common/core/text.hpp"
#include "common/kafka/names.hpp"
#include "tempinboxctl/restore_settling.hpp"

namespace tempinbox::ctl {
namespace {

constexpr std::int64_t max_seconds = std::int64_t{3'650} * 24 * 3'600;

result<restore_request> read_request(const session& suite, const arguments& given, time_point now)
{
    restore_request request;
    if (const auto text = given.value("moment")) {
        request.moment = parse_iso8601(*text);
        if (!request.moment)
            return failure{errc::invalid_argument,
                           "--moment must be a time such as 2026-11-21T10:00:00.123456Z, not " +
                               quote(*text)};
        if (*request.moment > now)
            return failure{errc::invalid_argument,
                           "--moment must not lie in the future: " + quote(*text)};
    }
    const auto timeout = given.integer("timeout", 1, 3'600);
    if (!timeout)
        return timeout.error();
    request.timeout = std::chrono::seconds(timeout->value_or(request.timeout.count()));
    const auto margin = given.integer("margin", 0, 7 * 24 * 3'600);
    if (!margin)
        return margin.error();
    request.margin = std::chrono::seconds(margin->value_or(request.margin.count()));
    const auto quarantine = given.integer("quarantine", 1, max_seconds);
    if (!quarantine)
        return quarantine.error();
    request.quarantine = std::chrono::seconds(quarantine->value_or(request.quarantine.count()));
    if (const auto group = given.value("group")) {
        if (group->empty() || group->size() > 249)
            return failure{errc::invalid_argument, "--group must have 1 to 249 characters"};
        request.group = *group;
    }
    request.shown_group = kafka::prefixed(suite.chosen().kafka, request.group);
    request.keeps_keys = given.has("keep-keys");
    request.sets_offsets = given.has("set-offsets");
    request.is_dry_run = given.has("dry-run");
    request.is_forced = given.has("force");
    return request;
}

awaitable<result<command_result>> run_check(session& suite, arguments given)
{
    const auto request = read_request(suite, given, suite.host().clock().now());
    if (!request)
        co_return request.error();
    auto database = co_await read_database(suite);
    const auto report = co_await examine_restore(suite, *request, std::move(database));
    if (!report)
        co_return report.error();
    co_return to_result(*report);
}

awaitable<result<command_result>> run_settle(session& suite, arguments given)
{
    const auto request = read_request(suite, given, suite.host().clock().now());
    if (!request)
        co_return request.error();
    auto database = co_await read_database(suite);
    auto report = request->is_dry_run
                      ? co_await examine_restore(suite, *request, std::move(database))
                      : co_await settle_restore(suite, *request, std::move(database));
    if (!report)
        co_return report.error();
    report->is_unsettled = false;
    co_return to_result(*report);
}

void add_options(command& to)
{
    to.options.emplace_back("moment", "TIME",
                            "the moment of the restore (recovery_target_time); without it what "
                            "the server remembers until its next start",
                            option::kind::optional);
    to.options.emplace_back("margin", "SECONDS",
                            "how long before the moment events are read again and offsets are set "
                            "back, by default 600: more than the consumers were behind",
                            option::kind::optional);
    to.options.emplace_back("group", "NAME",
                            "the dispatcher's consumer group, without kafka-prefix, by default " +
                                restore_request().group,
                            option::kind::optional);
    to.options.emplace_back("timeout", "SECONDS", "how long Kafka may be silent, by default 60",
                            option::kind::optional);
    to.options.push_back(json_flag());
}

} // namespace

std::vector<command> restore_commands()
{
    std::vector<command> commands;

    auto& checking = commands.emplace_back(
        "restore check",
        "Says what a restore of the database left to settle; changes nothing, exit code 1 if "
        "something is left");
    add_options(checking);
    checking.run = run_check;

    auto& settling = commands.emplace_back(
        "restore settle",
        "Settles a database that was restored to an earlier moment, before its services start: "
        "versions, account states, sessions, keys, logins, sequences, addresses, feeds; again "
        "without harm");
    add_options(settling);
    settling.options.emplace_back("set-offsets", "",
                                  "sets the offsets of the dispatcher's group back, too; without "
                                  "it they are only listed",
                                  option::kind::flag);
    settling.options.emplace_back("keep-keys", "",
                                  "suspends no API key: keys that were revoked after the moment "
                                  "live again",
                                  option::kind::flag);
    settling.options.emplace_back("quarantine", "SECONDS",
                                  "how long lost addresses stay with their owners, by default 30 "
                                  "days: the inbox service's setting quarantine",
                                  option::kind::optional);
    settling.options.emplace_back("dry-run", "", "changes nothing; says what there is to do",
                                  option::kind::flag);
    settling.options.emplace_back("force", "",
                                  "settles a database although nothing says that it was restored",
                                  option::kind::flag);
    settling.run = run_settle;
    return commands;
}

} // namespace tempinbox::ctl
