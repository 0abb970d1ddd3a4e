#include "tempinboxctl/command.hpp"

#include "common/core/text.hpp"
#include "common/http/url.hpp"
#include "tempinboxctl/session.hpp"
#include "tempinboxctl/smoke_run.hpp"
#include "tempinboxctl/text_file.hpp"

#include <cstdlib>
#include <optional>
#include <string>

namespace tempinbox::ctl {
namespace {

// As `./dev env` and the clients call them.
constexpr const char* api_variable = "TEMPINBOX_BASE_URL";
constexpr const char* key_variable = "TEMPINBOX_API_KEY";
constexpr const char* smtp_variable = "TEMPINBOX_SMTP";
constexpr const char* default_api = "http://127.0.0.1:8080";
constexpr const char* default_smtp = "127.0.0.1:2525";

// Absent if the variable is unset or empty: deployment templates leave empty ones behind.
std::optional<std::string> read_variable(const char* name)
{
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0')
        return std::nullopt;
    return value;
}

std::string value_or_variable(const arguments& given, const std::string& option_name,
                              const char* variable, const char* otherwise)
{
    if (const auto value = given.value(option_name))
        return *value;
    return read_variable(variable).value_or(otherwise);
}

// From a file or the environment: a list of processes shows the command line.
result<secret> read_key(const arguments& given)
{
    if (const auto file = given.value("api-key-file"))
        return read_secret_file(*file);
    if (const auto key = read_variable(key_variable))
        return secret(*key);
    return failure{errc::invalid_argument,
                   std::string("the API key is missing: --api-key-file or ") + key_variable};
}

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

result<std::chrono::seconds> read_seconds(const arguments& given, const std::string& name,
                                          std::chrono::seconds otherwise)
{
    const auto seconds = given.integer(name, 1, 3'600);
    if (!seconds)
        return seconds.error();
    return std::chrono::seconds(seconds->value_or(otherwise.count()));
}

result<smoke_request> read_request(const arguments& given)
{
    smoke_request request;
    const auto timeout = read_seconds(given, "timeout", request.timeout);
    if (!timeout)
        return timeout.error();
    request.timeout = *timeout;
    const auto wait = read_seconds(given, "wait", request.wait);
    if (!wait)
        return wait.error();
    request.wait = *wait;
    request.api_url = value_or_variable(given, "api", api_variable, default_api);
    while (request.api_url.ends_with('/'))
        request.api_url.pop_back();
    if (!http::target_url::parse(request.api_url))
        return failure{errc::invalid_argument,
                       "--api must be an http or https URL, not " + quote(request.api_url)};
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
    auto key = read_key(given);
    if (!key)
        return key.error();
    request.api_key = std::move(*key);
    request.sender = given.value("from").value_or("");
    request.domain = given.value("domain").value_or("");
    request.ca_file = given.value("ca-file").value_or("");
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
    options.emplace_back("api", "URL",
                         "base URL of the API, by default TEMPINBOX_BASE_URL or "
                         "http://127.0.0.1:8080",
                         option::kind::optional);
    options.emplace_back("api-key-file", "FILE",
                         "a file with the API key; without it the key is in TEMPINBOX_API_KEY",
                         option::kind::optional);
    options.emplace_back("smtp", "HOST:PORT",
                         "where mail is taken, by default TEMPINBOX_SMTP or 127.0.0.1:2525",
                         option::kind::optional);
    options.emplace_back("smtp-tls", "MODE", "none (the default), starttls or tls",
                         option::kind::optional);
    options.emplace_back("ca-file", "FILE",
                         "certificate authorities of API and SMTP server (PEM); without it the "
                         "system's",
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
