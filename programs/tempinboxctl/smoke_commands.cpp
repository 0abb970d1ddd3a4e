#include "tempinboxctl/command.hpp"

#include "common/core/text.hpp"
#include "tempinboxctl/api_client.hpp"
#include "tempinboxctl/session.hpp"
#include "tempinboxctl/smoke_run.hpp"

#include <optional>
#include <string>

namespace tempinbox::ctl {
namespace {

// As `./dev env` calls it.
constexpr const char* smtp_variable = "TEMPINBOX_SMTP";
constexpr const char* default_smtp = "127.0.0.1:2525";

result<mail::server> read_smtp(const arguments& given, std::chrono::seconds timeout)
{
    mail::server smtp;
    smtp.address = value_or_variable(given, "smtp", smtp_variable, default_smtp);
    if (!host_port::parse(smtp.address))
        return failure{errc::invalid_argument,
                       "--smtp must be host:port, not " + quote(smtp.address)};
    const auto tls = given.value("smtp-tls").value_or("none");
    if (tls != "none" && tls != "starttls" && tls != "tls")
        return failure{errc::invalid_argument,
                       "--smtp-tls must be none, starttls or tls, not " + quote(tls)};
    smtp.tls = tls == "none"       ? mail::server::protection::none
               : tls == "starttls" ? mail::server::protection::starttls
                                   : mail::server::protection::tls;
    smtp.ca_file = given.value("ca-file").value_or("");
    smtp.connect_timeout = smtp.timeout = timeout;
    return smtp;
}

result<smoke_request> read_request(const arguments& given)
{
    smoke_request request;
    const auto timeout = read_seconds(given, "timeout", request.api.timeout);
    if (!timeout)
        return timeout.error();
    const auto wait = read_seconds(given, "wait", request.wait);
    if (!wait)
        return wait.error();
    request.wait = *wait;
    auto smtp = read_smtp(given, *timeout);
    if (!smtp)
        return smtp.error();
    request.smtp = std::move(*smtp);
    if (const auto receiver = given.value("receiver")) {
        const auto address = host_port::parse(*receiver);
        if (!address)
            return failure{errc::invalid_argument,
                           "--receiver must be host:port, not " + quote(*receiver)};
        request.receiver = *address;
    }
    request.sender = given.value("from").value_or("");
    request.domain = given.value("domain").value_or("");
    auto api = read_api_settings(given, *timeout);
    if (!api)
        return api.error();
    request.api = std::move(*api);
    return request;
}

awaitable<result<command_result>> run(session& suite, arguments given)
{
    auto request = read_request(given);
    if (!request)
        co_return request.error();
    smoke_run test(suite.host(), std::move(*request),
                   [&suite](const smoke_step& done) { suite.print_line(line_of(done)); });
    const auto steps = co_await test.run();
    co_return to_result(steps);
}

} // namespace

std::vector<command> smoke_commands()
{
    std::vector<command> commands;
    auto& testing = commands.emplace_back(
        "smoke", "Sends one mail through the whole suite: inbox, SMTP, wait, code, webhook");
    auto& options = testing.options;
    options = api_options();
    options.emplace_back("smtp", "HOST:PORT",
                         "where mail is taken, by default TEMPINBOX_SMTP or 127.0.0.1:2525",
                         option::kind::optional);
    options.emplace_back("smtp-tls", "MODE", "none (the default), starttls or tls",
                         option::kind::optional);
    options.emplace_back("from", "ADDRESS",
                         "sender of the mail; without it smoke@ and the inbox's domain",
                         option::kind::optional);
    options.emplace_back("domain", "DOMAIN", "domain of the inbox; without it the default one",
                         option::kind::optional);
    options.emplace_back("receiver", "HOST:PORT",
                         "an address of this host that the webhook dispatcher reaches and "
                         "webhook-allow-networks lets through; without it webhooks are skipped",
                         option::kind::optional);
    options.emplace_back("timeout", "SECONDS", "how long each call may take, by default 10",
                         option::kind::optional);
    options.emplace_back("wait", "SECONDS",
                         "how long the email, and then its webhook, may take, by default 30",
                         option::kind::optional);
    options.push_back(json_flag());
    testing.run = run;
    return commands;
}

} // namespace tempinbox::ctl
