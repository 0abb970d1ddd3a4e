#include "gateway/dashboard/password_handlers.hpp"

#include "accounts/sign_in_tokens.hpp"
#include "common/json/object_reader.hpp"
#include "common/json/writer.hpp"
#include "gateway/dashboard/errors.hpp"
#include "gateway/dashboard/throttle.hpp"
#include "gateway/pipeline/query_reader.hpp"

namespace tempinbox::gateway {
namespace {

constexpr std::size_t max_token_length = 128;

// A new password and its proof: the current password, or the token of a link.
struct password_change
{
    secret proof;
    secret new_password;
};

result<password_change> read_change(const http::request& received, std::string_view proof_name,
                                    std::size_t max_proof_length)
{
    auto body = read_body(received);
    if (!body)
        return body.error();
    auto proof = body->required_secret(proof_name, 1, max_proof_length);
    auto new_password =
        body->required_secret("newPassword", min_password_length, max_password_length);
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();
    return password_change{secret(std::move(proof)), secret(std::move(new_password))};
}

std::string reset_json(const std::string& email)
{
    json::writer out;
    out.begin_object().member("email", email).member("passwordReset", true).end_object();
    return out.take();
}

} // namespace

password_handlers::password_handlers(accounts::sign_in_repository& sign_in, attempt_gate& gate,
                                     password_hasher& hasher, session_issuer& issuer,
                                     event_stream& stream)
    : sign_in_(sign_in),
      gate_(gate),
      hasher_(hasher),
      issuer_(issuer),
      event_stream_(stream)
{}

std::vector<route> password_handlers::open_operations()
{
    std::vector<route> all;
    all.emplace_back(
        "POST", "/dashboard/api/password-resets/confirm", body_kind::json,
        [this](const http::request& received, const caller& who) { return reset(received, who); });
    return all;
}

std::vector<route> password_handlers::operations()
{
    std::vector<route> all;
    all.emplace_back(
        "POST", "/dashboard/api/account/password", body_kind::json,
        [this](const http::request& received, const caller& who) { return change(received, who); });
    all.back().holds_password = true;
    return all;
}

// POST /dashboard/api/account/password
awaitable<http::response> password_handlers::change(const http::request& received,
                                                    const caller& who)
{
    const auto given = read_change(received, "currentPassword", max_password_length);
    if (!given)
        co_return http::error_response(given.error());
    const auto user = co_await sign_in_.find_user(who.account());
    if (!user)
        co_return error_response(dashboard_error::account_deleted);

    const auto attempt = uuid::make_v7();
    std::vector<accounts::attempt_subject> subjects;
    subjects.push_back(sign_ins_of_account(user->record.email));
    const auto status = co_await sign_in_.begin_attempt(attempt, subjects);
    if (!status.is_allowed)
        co_return too_many_attempts(status);
    const auto is_right = co_await hasher_.matches(user->password_hash, given->proof);
    if (is_right && !*is_right)
        co_return error_response(dashboard_error::wrong_password);
    co_await sign_in_.take_back_attempt(attempt, std::move(subjects));
    if (!is_right)
        co_return http::error_response(is_right.error());

    const auto hash = co_await hasher_.hash(given->new_password);
    if (!hash)
        co_return http::error_response(hash.error());
    const auto changed = co_await sign_in_.set_password(who.account(), *hash);
    if (!changed)
        co_return http::error_response(changed.error());
    event_stream_.end_sessions_of(who.account());
    co_return co_await issuer_.issue(received, *changed, *hash, 200, who.now);
}

// POST /dashboard/api/password-resets/confirm
awaitable<http::response> password_handlers::reset(const http::request& received, const caller&)
{
    const auto given = read_change(received, "token", max_token_length);
    if (!given)
        co_return http::error_response(given.error());

    const auto attempt = uuid::make_v7();
    std::vector<accounts::attempt_subject> subjects;
    subjects.push_back(resets_of_address(issuer_.address_of(received)));
    auto begun = co_await gate_.begin(attempt, subjects);
    if (begun.refusal)
        co_return std::move(*begun.refusal);
    begun.slot.reset(); // the hasher has its own bound
    const auto hash = co_await hasher_.hash(given->new_password);
    if (!hash)
        co_return http::error_response(hash.error());
    auto digest = accounts::session_digest(given->proof.reveal());
    const auto changed = co_await sign_in_.reset_password(std::move(digest), *hash);
    if (!changed)
        co_return http::error_response(changed.error());
    event_stream_.end_sessions_of(changed->id());

    co_await gate_.take_back(attempt, std::move(subjects));
    // A user locked out by others' guesses can sign in with the new password.
    const auto failures = sign_ins_of_account(changed->email);
    co_await sign_in_.reset_attempts(failures);
    co_return http::ok_json(reset_json(changed->email));
}

} // namespace tempinbox::gateway
