#include "tempinboxctl/command.hpp"

#include "accounts/sign_in_tokens.hpp"
#include "common/core/text.hpp"
#include "tempinboxctl/password_option.hpp"
#include "tempinboxctl/session.hpp"

#include <iostream>

namespace tempinbox::ctl {
namespace {

constexpr std::size_t page_size = 500;
constexpr const char* plan_names = "free, starter, pass7, pro, business or premium";

record to_record(const accounts::account& shown)
{
    record fields;
    fields.add("accountId", shown.id().text())
        .add("email", shown.email)
        .add("plan", shown.state.plan);
    fields.add_time("planEndsAt", shown.state.plan_ends_at);
    return fields;
}

record to_full_record(const accounts::account& shown)
{
    const auto now = system_clock_source{}.now();
    auto fields = to_record(shown);
    fields.add_time("createdAt", shown.created_at);
    add_limits(fields, shown.state.limits_at(now), plans::audience::account);
    return fields;
}

// The password's hash; empty if none is given.
result<std::string> read_password(const arguments& given)
{
    if (!given.has("password"))
        return std::string();
    const auto password = word_or_line(*given.value("password"), std::cin);
    if (!password)
        return password.error();
    return hash_password(*password, "password");
}

awaitable<result<command_result>> create(session& suite, arguments given)
{
    auto email = *given.value("email");
    auto plan = *given.value("plan");
    auto hash = read_password(given);
    if (!hash)
        co_return hash.error();
    const auto id = account_id::make();
    const auto created =
        co_await suite.accounts().create(id, std::move(email), std::move(plan), std::move(*hash));
    if (!created)
        co_return created.error();
    co_return command_result(to_record(*created));
}

awaitable<result<command_result>> show(session& suite, arguments given)
{
    const auto found = co_await suite.find_account(given.at("ACCOUNT"));
    if (!found)
        co_return found.error();
    co_return command_result(to_full_record(*found));
}

awaitable<result<command_result>> list(session& suite, arguments)
{
    std::vector<record> all;
    std::optional<account_id> last;
    bool has_more = true;
    while (has_more) {
        const auto page = co_await suite.accounts().list(page_size, last);
        for (const auto& one : page)
            all.push_back(to_record(one));
        has_more = page.size() == page_size;
        if (has_more)
            last = page.back().id();
    }
    co_return command_result("accounts", std::move(all));
}

result<std::optional<time_point>> read_end(const arguments& given)
{
    const auto text = given.value("ends-at");
    if (!text)
        return std::optional<time_point>();
    const auto time = parse_iso8601(*text);
    if (!time)
        return failure{errc::invalid_argument,
                       "--ends-at must be a time such as 2026-11-21T10:00:00Z, not " +
                           quote(*text)};
    return time;
}

awaitable<result<command_result>> set_plan(session& suite, arguments given)
{
    const auto ends_at = read_end(given);
    if (!ends_at)
        co_return ends_at.error();
    const auto found = co_await suite.find_account(given.at("ACCOUNT"));
    if (!found)
        co_return found.error();
    auto plan = *given.value("plan");
    const auto changed = co_await suite.accounts().set_plan(found->id(), std::move(plan), *ends_at);
    if (!changed)
        co_return changed.error();
    co_return command_result(to_record(*changed));
}

// The operator does not know the password: the link sets it, once, within an hour. The token is
// behind the `#`, which browsers send to no server.
awaitable<result<command_result>> reset_password(session& suite, arguments given)
{
    const auto found = co_await suite.find_account(given.at("ACCOUNT"));
    if (!found)
        co_return found.error();
    const auto token = accounts::make_session_token();
    auto digest = accounts::session_digest(token.reveal());
    const auto begun = co_await suite.sign_in().begin_reset(found->id(), std::move(digest));
    if (!begun)
        co_return begun.error();
    auto dashboard = given.value("dashboard").value_or("/dashboard");
    while (dashboard.ends_with('/'))
        dashboard.pop_back();
    record fields;
    fields.add("accountId", begun->id().text()).add("email", begun->email);
    fields.add("token", token.reveal())
        .add("link", dashboard + "/reset-password#" + token.reveal());
    fields.add_time("expiresAt",
                    system_clock_source{}.now() + accounts::sign_in_repository::reset_lifetime);
    co_return command_result(std::move(fields));
}

awaitable<result<command_result>> remove(session& suite, arguments given)
{
    const auto found = co_await suite.find_account(given.at("ACCOUNT"));
    if (!found)
        co_return found.error();
    const auto removed = co_await suite.accounts().remove(found->id());
    if (!removed)
        co_return removed.error();
    record fields;
    fields.add("accountId", removed->id().text()).add("deleted", true);
    co_return command_result(std::move(fields));
}

} // namespace

std::vector<command> account_commands()
{
    const positional account("ACCOUNT", "id or email address of the account");
    std::vector<command> commands;

    auto& creating = commands.emplace_back("account create", "Creates an account");
    creating.options.emplace_back("email", "E", "email address, unique", option::kind::required);
    creating.options.emplace_back("plan", "P", plan_names, option::kind::required);
    creating.options.emplace_back("password", "W",
                                  "for the dashboard, 10 to 200 characters; `-`: the first line of "
                                  "standard input, which no list of "
                                  "processes shows; without it nobody can sign in",
                                  option::kind::optional);
    creating.run = create;

    auto& showing =
        commands.emplace_back("account show", "Shows an account and what its plan allows now");
    showing.positionals.push_back(account);
    showing.run = show;

    auto& listing = commands.emplace_back("account list", "Lists all accounts, newest first");
    listing.run = list;

    auto& planning = commands.emplace_back(
        "account set-plan", "Sets the plan of an account, in force everywhere within 1 s");
    planning.positionals.push_back(account);
    planning.options.emplace_back("plan", "P", plan_names, option::kind::required);
    planning.options.emplace_back(
        "ends-at", "TIME",
        "when the plan ends and the account is on free; pass7 without it: in 7 days",
        option::kind::optional);
    planning.run = set_plan;

    auto& resetting = commands.emplace_back(
        "account reset-password", "Creates a link that sets a new password: once, within 1 h");
    resetting.positionals.push_back(account);
    resetting.options.emplace_back("dashboard", "URL",
                                   "public URL of the dashboard; /dashboard without it",
                                   option::kind::optional);
    resetting.run = reset_password;

    auto& deleting =
        commands.emplace_back("account delete", "Deletes an account and revokes its keys");
    deleting.positionals.push_back(account);
    deleting.run = remove;
    return commands;
}

} // namespace tempinbox::ctl
