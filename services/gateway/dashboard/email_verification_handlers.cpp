#include "gateway/dashboard/email_verification_handlers.hpp"

#include "accounts/sign_in_tokens.hpp"
#include "common/core/exception_text.hpp"
#include "common/json/object_reader.hpp"
#include "common/json/writer.hpp"
#include "common/log/log.hpp"
#include "gateway/dashboard/errors.hpp"
#include "gateway/dashboard/password_handlers.hpp"
#include "gateway/dashboard/throttle.hpp"
#include "gateway/pipeline/query_reader.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>

namespace tempinbox::gateway {
namespace {

constexpr std::size_t max_code_length = 20;

struct verification_request
{
    std::string email;
    secret password; // empty if not required
    std::string code;
};

enum class required_fields { email, password, code };

// Each value requires one field more than the one before.
result<verification_request> read_request(const http::request& received, required_fields required)
{
    auto body = read_body(received);
    if (!body)
        return body.error();
    verification_request submitted;
    submitted.email = body->required_text("email", 1, 254);
    if (required != required_fields::email)
        submitted.password =
            secret(body->required_secret("password", min_password_length, max_password_length));
    if (required == required_fields::code)
        submitted.code = body->required_text("code", 1, max_code_length);
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();
    if (const auto sane = accounts::check_email_address(submitted.email); !sane)
        return sane.error();
    if (!can_be_mailed(submitted.email))
        return failure{
            errc::invalid_argument,
            "email must be an address of ASCII letters, digits and common signs to get mail"};
    return submitted;
}

http::response accepted(const std::string& email, std::string_view what)
{
    json::writer out;
    out.begin_object().member("email", email).member(what, true).end_object();
    return http::response(202, "application/json", out.take());
}

void log_failed_email(std::string_view what, std::exception_ptr failed)
{
    if (failed)
        log::warning("account email not created", {{"letter", what}, {"error", text_of(failed)}});
}

} // namespace

email_verification_handlers::email_verification_handlers(accounts::account_repository& accounts,
                                                         accounts::sign_in_repository& sign_in,
                                                         attempt_gate& gate,
                                                         password_hasher& hasher,
                                                         session_issuer& issuer, mail_relay& relay,
                                                         sign_up how)
    : accounts_(accounts),
      sign_in_(sign_in),
      gate_(gate),
      hasher_(hasher),
      issuer_(issuer),
      relay_(relay),
      sign_up_(how)
{}

std::vector<route> email_verification_handlers::sign_up_operations()
{
    std::vector<route> all;
    all.emplace_back("POST", "/dashboard/api/accounts", body_kind::json,
                     [this](const http::request& received, const caller& who) {
                         return begin_sign_up(received, who);
                     });
    return all;
}

std::vector<route> email_verification_handlers::operations()
{
    std::vector<route> all;
    all.emplace_back("POST", "/dashboard/api/accounts/confirm", body_kind::json,
                     [this](const http::request& received, const caller& who) {
                         return confirm_sign_up(received, who);
                     });
    all.emplace_back("POST", "/dashboard/api/password-resets", body_kind::json,
                     [this](const http::request& received, const caller& who) {
                         return begin_reset(received, who);
                     });
    return all;
}

// POST /dashboard/api/accounts, with a relay. The password comes again with the code and is stored
// only then, so a code that somebody else requested for this address cannot set their password.
awaitable<http::response> email_verification_handlers::begin_sign_up(const http::request& received,
                                                                     const caller&)
{
    auto executor = co_await boost::asio::this_coro::executor;
    if (sign_up_ == sign_up::closed)
        co_return sign_up_is_closed();
    const auto submitted = read_request(received, required_fields::password);
    if (!submitted)
        co_return http::error_response(submitted.error());
    std::vector<accounts::attempt_subject> subjects;
    subjects.push_back(accounts_of_address(issuer_.address_of(received)));
    auto begun = co_await gate_.begin(uuid::make_v7(), std::move(subjects));
    if (begun.refusal)
        co_return std::move(*begun.refusal);

    boost::asio::co_spawn(executor, send_code(submitted->email),
                          [](std::exception_ptr failed) { log_failed_email("sign-up", failed); });
    co_return accepted(submitted->email, "codeSent");
}

// POST /dashboard/api/accounts/confirm
awaitable<http::response>
email_verification_handlers::confirm_sign_up(const http::request& received, const caller& who)
{
    if (!is_set() || sign_up_ == sign_up::closed)
        co_return error_response(dashboard_error::sign_up_without_code);
    const auto submitted = read_request(received, required_fields::code);
    if (!submitted)
        co_return http::error_response(submitted.error());
    const auto attempt = uuid::make_v7();
    std::vector<accounts::attempt_subject> subjects;
    subjects.push_back(resets_of_address(issuer_.address_of(received)));
    auto begun = co_await gate_.begin(attempt, subjects);
    if (begun.refusal)
        co_return std::move(*begun.refusal);
    begun.slot.reset(); // the hasher has its own bound

    const auto hash = co_await hasher_.hash(submitted->password);
    if (!hash)
        co_return http::error_response(hash.error());
    if (!co_await sign_in_.take_code(submitted->email, submitted->code))
        co_return error_response(dashboard_error::wrong_code);
    const auto made =
        co_await accounts_.create(account_id::make(), submitted->email, "free", *hash);
    if (!made)
        co_return http::error_response(made.error());
    co_await gate_.take_back(attempt, std::move(subjects));
    co_return co_await issuer_.issue(received, *made, *hash, 201, who.now);
}

// POST /dashboard/api/password-resets
awaitable<http::response> email_verification_handlers::begin_reset(const http::request& received,
                                                                   const caller&)
{
    auto executor = co_await boost::asio::this_coro::executor;
    if (!is_set())
        co_return error_response(dashboard_error::no_mail_sent);
    const auto submitted = read_request(received, required_fields::email);
    if (!submitted)
        co_return http::error_response(submitted.error());
    std::vector<accounts::attempt_subject> subjects;
    subjects.push_back(resets_of_address(issuer_.address_of(received)));
    auto begun = co_await gate_.begin(uuid::make_v7(), std::move(subjects));
    if (begun.refusal)
        co_return std::move(*begun.refusal);

    boost::asio::co_spawn(executor, send_link(submitted->email), [](std::exception_ptr failed) {
        log_failed_email("password link", failed);
    });
    co_return accepted(submitted->email, "linkSent");
}

awaitable<void> email_verification_handlers::send_code(std::string email)
{
    if (!co_await may_send_email(email))
        co_return;
    const auto user = co_await sign_in_.find_user_by_email(email);
    if (user) {
        relay_.enqueue(account_exists_message(user->record.email, relay_.dashboard_url()));
        co_return;
    }
    const auto code = accounts::make_sign_up_code();
    co_await sign_in_.put_code(email, code.reveal());
    relay_.enqueue(sign_up_code_message(email, code.reveal()));
}

awaitable<void> email_verification_handlers::send_link(std::string email)
{
    if (!co_await may_send_email(email))
        co_return;
    const auto user = co_await sign_in_.find_user_by_email(email);
    if (!user)
        co_return;
    const auto token = accounts::make_session_token();
    auto digest = accounts::session_digest(token.reveal());
    const auto begun = co_await sign_in_.begin_reset(user->record.id(), std::move(digest));
    if (begun)
        relay_.enqueue(password_link_message(begun->email, relay_.dashboard_url(), token.reveal()));
}

// Nobody can fill a stranger's mailbox.
awaitable<bool> email_verification_handlers::may_send_email(std::string email)
{
    std::vector<accounts::attempt_subject> subjects;
    subjects.push_back(emails_to(email));
    const auto status = co_await sign_in_.begin_attempt(uuid::make_v7(), std::move(subjects));
    co_return status.is_allowed;
}

} // namespace tempinbox::gateway
