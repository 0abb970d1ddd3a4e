#include "gateway/dashboard_api/passwords.hpp"

#include "common/json/object_reader.hpp"
#include "common/json/writer.hpp"
#include "gateway/api/query_reader.hpp"
#include "gateway/dashboard_api/throttle.hpp"

namespace tempinbox::gateway {
namespace {

constexpr std::size_t longest_token = 128;

// A new password, and what allows it: the current one, or the token of a link.
struct password_change
{
    secret proof;
    secret wanted;
};

result<password_change> read_change(const http::request& received, std::string_view proof_name,
                                    std::size_t longest_proof)
{
    if (const auto query = expect_no_query(received); !query)
        return query.error();
    auto body = json::object_reader::parse(received.body);
    if (!body)
        return body.error();
    auto proof = body->required_secret(proof_name, 1, longest_proof);
    auto wanted = body->required_secret("newPassword", shortest_password, longest_password);
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();
    return password_change{secret(std::move(proof)), secret(std::move(wanted))};
}

std::string reset_json(const std::string& email)
{
    json::writer out;
    out.begin_object().member("email", email).member("passwordReset", true).end_object();
    return out.take();
}

} // namespace

password_desk::password_desk(accounts::user_store& users, attempt_gate& gate,
                             password_hasher& hasher, session_opener& opener, mail_feed& feed)
    : users_(users),
      gate_(gate),
      hasher_(hasher),
      opener_(opener),
      feed_(feed)
{}

std::vector<route> password_desk::open_operations()
{
    std::vector<route> all;
    all.emplace_back(
        "POST", "/dashboard/api/password-resets/confirm", body_kind::json,
        [this](const http::request& received, const caller& who) { return reset(received, who); });
    return all;
}

std::vector<route> password_desk::operations()
{
    std::vector<route> all;
    all.emplace_back(
        "POST", "/dashboard/api/account/password", body_kind::json,
        [this](const http::request& received, const caller& who) { return change(received, who); });
    all.back().holds_password = true;
    return all;
}

// POST /dashboard/api/account/password
awaitable<http::response> password_desk::change(const http::request& received, const caller& who)
{
    const auto given = read_change(received, "currentPassword", longest_password);
    if (!given)
        co_return http::error_response(given.error());
    const auto user = co_await users_.find(who.account());
    if (!user)
        co_return http::error_response(401, "Sign in again: the account does not exist any more");

    const auto attempt = uuid::make_v7();
    std::vector<accounts::attempt_subject> subjects;
    subjects.push_back(sign_ins_of_account(user->record.email));
    const auto verdict = co_await gate_.attempts().begin(attempt, subjects);
    if (!verdict.is_allowed)
        co_return too_many_attempts(verdict);
    const auto is_right = co_await hasher_.matches(user->password_hash, given->proof);
    if (is_right && !*is_right)
        co_return http::error_response(403, "currentPassword is wrong");
    co_await gate_.attempts().take_back(attempt, std::move(subjects));
    if (!is_right)
        co_return http::error_response(is_right.error());

    const auto hash = co_await hasher_.hash(given->wanted);
    if (!hash)
        co_return http::error_response(hash.error());
    const auto changed = co_await users_.set_password(who.account(), *hash);
    if (!changed)
        co_return http::error_response(changed.error());
    feed_.end_sessions_of(who.account());
    co_return co_await opener_.open(received, *changed, *hash, 200, who.now);
}

// POST /dashboard/api/password-resets/confirm
awaitable<http::response> password_desk::reset(const http::request& received, const caller&)
{
    const auto given = read_change(received, "token", longest_token);
    if (!given)
        co_return http::error_response(given.error());

    const auto attempt = uuid::make_v7();
    std::vector<accounts::attempt_subject> subjects;
    subjects.push_back(resets_of_address(opener_.address_of(received)));
    auto begun = co_await gate_.begin(attempt, subjects);
    if (!begun)
        co_return http::error_response(begun.error());
    if (!begun->verdict.is_allowed)
        co_return too_many_attempts(begun->verdict);
    begun->slot.reset(); // hashes have a bound of their own
    const auto hash = co_await hasher_.hash(given->wanted);
    if (!hash)
        co_return http::error_response(hash.error());
    auto digest = accounts::session_digest(given->proof.reveal());
    const auto changed = co_await users_.reset_password(std::move(digest), *hash);
    if (!changed)
        co_return http::error_response(changed.error());
    feed_.end_sessions_of(changed->id());

    co_await gate_.take_back(attempt, std::move(subjects));
    // Who was locked out by guesses of others gets in with the new password.
    const auto failures = sign_ins_of_account(changed->email);
    co_await gate_.attempts().forgive(failures);
    co_return http::ok_json(reset_json(changed->email));
}

} // namespace tempinbox::gateway
