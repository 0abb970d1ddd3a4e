#include "gateway/dashboard/sign_in_handlers.hpp"

#include "accounts/sign_in_tokens.hpp"
#include "common/json/object_reader.hpp"
#include "common/log/log.hpp"
#include "gateway/dashboard/errors.hpp"
#include "gateway/dashboard/password_handlers.hpp"
#include "gateway/dashboard/throttle.hpp"
#include "gateway/json/resources.hpp"
#include "gateway/pipeline/query_reader.hpp"

namespace tempinbox::gateway {
namespace {

struct credentials
{
    std::string email;
    secret password;
};

// Sign-in passes a `min_length` of 1, so that every password ever accepted still works.
result<credentials> read_credentials(const http::request& received, std::size_t min_length)
{
    auto body = read_body(received);
    if (!body)
        return body.error();
    auto email = body->required_text("email", 1, 254);
    auto password = body->required_secret("password", min_length, max_password_length);
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();
    if (const auto sane = accounts::check_email_address(email); !sane)
        return sane.error();
    return credentials{std::move(email), secret(std::move(password))};
}

std::string ended_json(std::optional<int> sessions)
{
    json::writer out;
    out.begin_object().member("signedOut", true);
    if (sessions)
        out.member("sessions", *sessions);
    out.end_object();
    return out.take();
}

} // namespace

sign_in_handlers::sign_in_handlers(accounts::account_repository& accounts,
                                   accounts::sign_in_repository& sign_in, attempt_gate& gate,
                                   password_hasher& hasher, session_issuer& issuer,
                                   event_stream& stream, sign_up how, bool sends_mail)
    : accounts_(accounts),
      sign_in_(sign_in),
      gate_(gate),
      hasher_(hasher),
      issuer_(issuer),
      event_stream_(stream),
      sign_up_(how),
      sends_mail_(sends_mail)
{}

std::vector<route> sign_in_handlers::open_operations()
{
    std::vector<route> all;
    const auto on = [this](auto operation) {
        return [this, operation](const http::request& received, const caller& who) {
            return (this->*operation)(received, who);
        };
    };
    all.emplace_back("GET", "/dashboard/api/settings", body_kind::none,
                     on(&sign_in_handlers::get_settings));
    all.emplace_back("POST", "/dashboard/api/session", body_kind::json,
                     on(&sign_in_handlers::sign_in));
    return all;
}

std::vector<route> sign_in_handlers::sign_up_operations()
{
    std::vector<route> all;
    all.emplace_back("POST", "/dashboard/api/accounts", body_kind::json,
                     [this](const http::request& received, const caller& who) {
                         return create_account(received, who);
                     });
    return all;
}

std::vector<route> sign_in_handlers::operations()
{
    std::vector<route> all;
    const auto on = [this](auto operation) {
        return [this, operation](const http::request& received, const caller& who) {
            return (this->*operation)(received, who);
        };
    };
    all.emplace_back("GET", "/dashboard/api/session", body_kind::none,
                     on(&sign_in_handlers::show_session));
    all.emplace_back("DELETE", "/dashboard/api/session", body_kind::none,
                     on(&sign_in_handlers::sign_out));
    all.emplace_back("DELETE", "/dashboard/api/sessions", body_kind::none,
                     on(&sign_in_handlers::sign_out_everywhere));
    return all;
}

// GET /dashboard/api/settings
awaitable<http::response> sign_in_handlers::get_settings(const http::request& received,
                                                         const caller&)
{
    const auto query = expect_no_query(received);
    if (!query)
        co_return http::error_response(query.error());
    json::writer out;
    out.begin_object();
    out.member("signUp", sign_up_ == sign_up::open ? "open" : "closed");
    out.member("mailRelay", sends_mail_);
    out.end_object();
    co_return http::ok_json(out.take());
}

// POST /dashboard/api/accounts
awaitable<http::response> sign_in_handlers::create_account(const http::request& received,
                                                           const caller& who)
{
    if (sign_up_ == sign_up::closed)
        co_return sign_up_is_closed();
    auto given = read_credentials(received, min_password_length);
    if (!given)
        co_return http::error_response(given.error());

    const auto attempt = uuid::make_v7();
    const auto address = issuer_.address_of(received);
    std::vector<accounts::attempt_subject> subjects;
    subjects.push_back(taken_addresses_of(address));
    subjects.push_back(accounts_of_address(address));
    auto begun = co_await gate_.begin(attempt, std::move(subjects));
    if (begun.refusal)
        co_return std::move(*begun.refusal);

    begun.slot.reset(); // the hasher has its own bound
    const auto hash = co_await hasher_.hash(given->password);
    if (!hash)
        co_return http::error_response(hash.error());
    const auto made = co_await accounts_.create(account_id::make(), given->email, "free", *hash);
    if (!made)
        co_return http::error_response(made.error());

    std::vector<accounts::attempt_subject> succeeded;
    succeeded.push_back(taken_addresses_of(address));
    co_await gate_.take_back(attempt, std::move(succeeded));
    co_return co_await issuer_.issue(received, *made, *hash, 201, who.now);
}

// POST /dashboard/api/session
awaitable<http::response> sign_in_handlers::sign_in(const http::request& received,
                                                    const caller& who)
{
    auto given = read_credentials(received, 1);
    if (!given)
        co_return http::error_response(given.error());

    // The attempt is counted for the client address before the account is looked up.
    const auto attempt = uuid::make_v7();
    std::vector<accounts::attempt_subject> of_address;
    of_address.push_back(sign_ins_of_address(issuer_.address_of(received)));
    auto begun = co_await gate_.begin(attempt, of_address);
    if (begun.refusal)
        co_return std::move(*begun.refusal);

    const auto user = co_await sign_in_.find_user_by_email(given->email);
    // An account's failures are counted together however its address is written. The database
    // matches more spellings than this code knows, so its spelling is used.
    std::string counted = given->email;
    if (user)
        counted = user->record.email;
    const auto by_account = sign_ins_of_account(counted);
    std::vector<accounts::attempt_subject> of_account;
    of_account.push_back(by_account);
    const auto status = co_await sign_in_.begin_attempt(attempt, of_account);
    if (!status.is_allowed) {
        co_await gate_.take_back(attempt, std::move(of_address));
        co_return too_many_attempts(status);
    }
    begun.slot.reset(); // the hasher has its own bound

    std::string hash;
    if (user)
        hash = user->password_hash;
    const auto is_right = co_await hasher_.matches(hash, given->password);
    if (!is_right) {
        of_address.push_back(by_account);
        co_await gate_.take_back(attempt, std::move(of_address));
        co_return http::error_response(is_right.error());
    }
    if (!*is_right) {
        log::info("a sign-in failed", {{"request_id", received.id}});
        co_return wrong_credentials();
    }
    co_await sign_in_.reset_attempts(by_account);
    co_await gate_.take_back(attempt, std::move(of_address));
    co_return co_await issuer_.issue(received, user->record, std::move(hash), 200, who.now);
}

// GET /dashboard/api/session
awaitable<http::response> sign_in_handlers::show_session(const http::request& received,
                                                         const caller& who)
{
    const auto query = expect_no_query(received);
    if (!query)
        co_return http::error_response(query.error());
    const auto account = co_await accounts_.find(who.account());
    if (!account)
        co_return http::error_response(account.error());
    const auto token = issuer_.cookie_of(received).find(received);
    co_return http::ok_json(session_json(*account, csrf_token_of(*token), who.now));
}

// DELETE /dashboard/api/session
awaitable<http::response> sign_in_handlers::sign_out(const http::request& received, const caller&)
{
    const auto query = expect_no_query(received);
    if (!query)
        co_return http::error_response(query.error());
    const auto cookie = issuer_.cookie_of(received);
    const auto token = cookie.find(received);
    auto digest = accounts::session_digest(token->reveal());
    co_await sign_in_.end_session(digest);
    event_stream_.end_session(digest);
    auto response = http::ok_json(ended_json(std::nullopt));
    cookie.clear(response);
    co_return response;
}

// DELETE /dashboard/api/sessions
awaitable<http::response> sign_in_handlers::sign_out_everywhere(const http::request& received,
                                                                const caller& who)
{
    const auto query = expect_no_query(received);
    if (!query)
        co_return http::error_response(query.error());
    const int ended = co_await sign_in_.end_sessions(who.account());
    event_stream_.end_sessions_of(who.account());
    auto response = http::ok_json(ended_json(ended));
    issuer_.cookie_of(received).clear(response);
    co_return response;
}

http::response sign_up_is_closed()
{
    return error_response(dashboard_error::sign_up_closed);
}

} // namespace tempinbox::gateway
