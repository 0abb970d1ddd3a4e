#include "tempinboxctl/command.hpp"

#include "accounts/api_key.hpp"
#include "common/core/text.hpp"
#include "common/rpc/inbox_methods.hpp"
#include "tempinboxctl/password_option.hpp"
#include "tempinboxctl/plan_file.hpp"
#include "tempinboxctl/session.hpp"
#include "tempinboxctl/text_file.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <filesystem>

namespace tempinbox::ctl {
namespace {

using steady = std::chrono::steady_clock;

constexpr std::int64_t default_timeout_seconds = 60;
constexpr std::chrono::milliseconds retry_delay{500};

struct bootstrap_request
{
    std::string domain;
    std::string email;
    std::string plan;
    std::vector<arguments> plans; // of `plan set`
    std::string password_hash;    // empty: nobody can sign in
    std::optional<std::string> key_file;
    std::string key_label;
    std::chrono::seconds timeout;
};

command find_command(const std::vector<command>& commands, const std::string& name)
{
    return *std::find_if(commands.begin(), commands.end(),
                         [&](const command& one) { return one.name == name; });
}

// Everything that can be wrong with files and options is found before anything is changed.
result<bootstrap_request> read_request(const arguments& given)
{
    bootstrap_request request;
    request.domain = to_lower_ascii(*given.value("domain"));
    request.email = *given.value("email");
    request.plan = *given.value("plan");
    request.key_file = given.value("key-file");
    request.key_label = given.value("key-label").value_or("bootstrap");
    const auto timeout = given.integer("timeout", 1, 3'600);
    if (!timeout)
        return timeout.error();
    request.timeout = std::chrono::seconds(timeout->value_or(default_timeout_seconds));
    if (const auto file = given.value("plans")) {
        const auto content = read_text_file(*file);
        if (!content)
            return content.error();
        auto plans = read_plans(*content, find_command(plan_commands(), "plan set"));
        if (!plans)
            return failure{errc::invalid_argument,
                           "the file " + quote(*file) + ": " + plans.error().message};
        request.plans = std::move(*plans);
    }
    if (const auto file = given.value("password-file")) {
        const auto password = read_secret_file(*file);
        if (!password)
            return password.error();
        auto hash = hash_password(password->reveal(), "password-file");
        if (!hash)
            return hash.error();
        request.password_hash = std::move(*hash);
    }
    return request;
}

record made(const std::string& what, const std::string& name, bool is_new)
{
    record fields;
    fields.add("part", what).add("name", name).add("change", is_new ? "made" : "none");
    return fields;
}

awaitable<result<void>> set_plans(session& suite, const bootstrap_request& request,
                                  std::vector<record>& done)
{
    const auto commands = plan_commands();
    const auto list = find_command(commands, "plan list");
    const auto set = find_command(commands, "plan set");
    const auto shown = co_await list.run(suite, {});
    if (!shown)
        co_return shown.error();
    for (const auto& plan : request.plans) {
        const auto& name = plan.at("PLAN");
        const bool has_them =
            std::any_of(shown->records.begin(), shown->records.end(), [&](const record& one) {
                return std::get<std::string>(one.fields().front().second) == name &&
                       has_values(one, plan);
            });
        if (!has_them) {
            const auto changed = co_await set.run(suite, plan);
            if (!changed)
                co_return failure(changed.error().code,
                                  "plan " + name + ": " + changed.error().message);
        }
        record fields;
        fields.add("part", "plan").add("name", name).add("change", has_them ? "none" : "set");
        done.push_back(std::move(fields));
    }
    if (request.plans.empty())
        for (const auto& one : shown->records)
            done.push_back(made("plan", std::get<std::string>(one.fields().front().second), false));
    co_return result<void>();
}

// An account that is there already stays as it is, its plan and its password too.
awaitable<result<accounts::account>>
ensure_account(session& suite, const bootstrap_request& request, std::vector<record>& done)
{
    auto found = co_await suite.accounts().find_by_email(request.email);
    bool is_new = false;
    if (!found && found.error().code == errc::not_found) {
        found = co_await suite.accounts().create(account_id::make(), request.email, request.plan,
                                                 request.password_hash);
        is_new = found.has_value();
        // Another bootstrap was quicker.
        if (!found && found.error().code == errc::conflict)
            found = co_await suite.accounts().find_by_email(request.email);
    }
    if (found)
        done.push_back(made("account", request.email, is_new));
    co_return found;
}

// Calls the inbox service until it answers: it may be starting.
template <class Request, class Response>
awaitable<result<Response>> call_inbox(session& suite, rpc::method<Request, Response> method,
                                       Request request, steady::time_point until)
{
    boost::asio::steady_timer timer(suite.host().executor());
    auto answered = co_await suite.inbox().call(method, request);
    while (!answered &&
           (answered.error().code == errc::unavailable ||
            answered.error().code == errc::deadline_exceeded) &&
           steady::now() < until) {
        timer.expires_after(retry_delay);
        co_await timer.async_wait(boost::asio::use_awaitable);
        answered = co_await suite.inbox().call(method, request);
    }
    if (!answered)
        co_return failure(answered.error().code, "inbox service: " + answered.error().message);
    co_return answered;
}

// A domain that is made gets postmaster@ and abuse@ (RFC 2142), which the account reads.
awaitable<result<void>> ensure_domain(session& suite, const bootstrap_request& request,
                                      account_id account, std::vector<record>& done)
{
    const auto until = steady::now() + request.timeout;
    const auto known = co_await call_inbox(suite, inbox_methods::list_domains, {}, until);
    if (!known)
        co_return known.error();
    const bool is_there =
        std::any_of(known->domains().begin(), known->domains().end(),
                    [&](const inbox::v1::Domain& one) { return one.domain() == request.domain; });
    if (!is_there) {
        inbox::v1::AddDomainRequest adding;
        adding.set_domain(request.domain);
        adding.set_operator_account_id(account.text());
        const auto added =
            co_await call_inbox(suite, inbox_methods::add_domain, std::move(adding), until);
        if (!added)
            co_return added.error();
    }
    done.push_back(made("domain", request.domain, !is_there));
    co_return result<void>();
}

// Whether the file has a live key of the account: that of an earlier run.
awaitable<bool> holds_key_of(session& suite, account_id account, const std::string& file)
{
    const auto key = read_secret_file(file);
    if (!key || !accounts::is_well_formed_api_key(key->reveal()))
        co_return false;
    const auto found =
        co_await suite.keys().find_by_digest(accounts::api_key_digest(key->reveal()));
    co_return found.owner&& found.owner->account.account == account;
}

awaitable<result<void>> ensure_key(session& suite, const bootstrap_request& request,
                                   account_id account, std::vector<record>& done)
{
    if (!request.key_file)
        co_return result<void>();
    const auto file = *request.key_file;
    std::error_code ignored;
    if (std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) {
        if (!co_await holds_key_of(suite, account, file))
            co_return failure(errc::conflict,
                              "the file " + quote(file) +
                                  " is there and holds no key of the account; it stays as it is: "
                                  "name another file, or take it away");
        done.push_back(made("key", file, false));
        co_return result<void>();
    }
    auto label = request.key_label;
    const auto created = co_await suite.keys().create(account, key_id::make(), std::move(label),
                                                      accounts::key_allowance::operator_made);
    if (!created)
        co_return created.error();
    if (const auto written = write_secret_file(file, created->key); !written) {
        // Nobody knows the key.
        co_await suite.keys().revoke(account, created->record.id);
        co_return written.error();
    }
    done.push_back(made("key", file, true));
    co_return result<void>();
}

awaitable<result<command_result>> run(session& suite, arguments given)
{
    const auto request = read_request(given);
    if (!request)
        co_return request.error();
    std::vector<record> done;
    if (const auto set = co_await set_plans(suite, *request, done); !set)
        co_return set.error();
    const auto account = co_await ensure_account(suite, *request, done);
    if (!account)
        co_return account.error();
    if (const auto added = co_await ensure_domain(suite, *request, account->id(), done); !added)
        co_return added.error();
    if (const auto written = co_await ensure_key(suite, *request, account->id(), done); !written)
        co_return written.error();
    co_return command_result("parts", std::move(done));
}

} // namespace

std::vector<command> bootstrap_commands()
{
    std::vector<command> commands;
    auto& starting = commands.emplace_back(
        "bootstrap", "Makes what a new suite needs, where it is missing: plans, account, domain");
    auto& options = starting.options;
    options.emplace_back("domain", "DOMAIN",
                         "the domain that mail is taken for; its postmaster@ and abuse@ are "
                         "inboxes of the account",
                         option::kind::required);
    options.emplace_back("email", "E", "email address of the first account",
                         option::kind::required);
    options.emplace_back("plan", "P", "plan of the account, if it has to be made",
                         option::kind::required);
    options.emplace_back("password-file", "FILE",
                         "its first line is the password of an account that has to be made; "
                         "without it nobody can sign in",
                         option::kind::optional);
    options.emplace_back("plans", "FILE",
                         "numbers of plans to set, as `plan list --output json` prints them",
                         option::kind::optional);
    options.emplace_back("key-file", "PATH",
                         "a new file for an API key of the account, for its owner only (0600); "
                         "without it no key is made",
                         option::kind::optional);
    options.emplace_back("key-label", "L", "what the key is for, by default bootstrap",
                         option::kind::optional);
    options.emplace_back("timeout", "SECONDS",
                         "how long to wait for the inbox service, by default 60",
                         option::kind::optional);
    options.push_back(json_flag());
    starting.run = run;
    return commands;
}

} // namespace tempinbox::ctl
