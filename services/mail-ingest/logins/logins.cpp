#include "mail-ingest/logins/logins.hpp"

#include "common/credentials/capture_login.hpp"
#include "common/log/log.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace tempinbox::mail_ingest {
namespace {

using smtp::admission_result;
using smtp::admission_status;
using smtp::login_result;
using smtp::login_status;
using steady = std::chrono::steady_clock;

constexpr std::chrono::hours use_interval{1}; // in which a login is noted as used once
constexpr std::chrono::seconds use_write_interval{5};
constexpr std::size_t max_unwritten_uses = 100'000;
constexpr std::size_t max_noted_uses = 100'000;
constexpr std::size_t sha256_bytes = 32;

std::string_view to_text(login_status status)
{
    constexpr std::string_view names[] = {"good", "bad", "unavailable", "too_many_sessions",
                                          "too_many_failures"};
    return names[static_cast<std::size_t>(status)];
}

// The result of a good login that its inbox refuses on purpose.
constexpr std::string_view refused_by_fault = "fault";

prometheus::Counter& results_counter(metrics::registry& metrics, std::string_view result)
{
    return metrics.counter("tempinbox_mail_ingest_logins_total",
                           "Attempts to log in for submission, by result",
                           {{"result", std::string(result)}});
}

bool is_well_formed(const smtp::credentials& given)
{
    return (given.acts_as.empty() || given.acts_as == given.user) &&
           credentials::is_capture_user(given.user) &&
           credentials::is_capture_password(given.password);
}

// The largest message by the plan at present.
std::uint64_t max_message_bytes(const mailbox::login_owner& known, time_point now)
{
    return static_cast<std::uint64_t>(known.account.limits_at(now).max_message_bytes);
}

credentials::credential_kind<mailbox::login_owner>
kind_of_logins(runtime::host& host, mailbox::login_repository& look_ups,
               mailbox::login_repository& changes)
{
    return {
        .find = [&look_ups](std::string user) { return look_ups.find_by_user(std::move(user)); },
        .read_changes =
            [&changes](std::optional<std::int64_t> after) { return changes.read_changes(after); },
        .task = "read_login_changes",
        .plural = "Logins",
        .not_allowed = failure{errc::rate_limited, "Login may not be looked up"},
        .too_many_lookups =
            failure{errc::unavailable, "Too many unknown logins are looked up at this moment"},
        .lookups = host.metrics().counter("tempinbox_mail_ingest_login_lookups_total",
                                          "Logins looked up in PostgreSQL"),
        .failed_reads =
            host.metrics().counter("tempinbox_mail_ingest_login_change_reads_failed_total",
                                   "Reads of mailbox.capture_changes that failed"),
        .known_version =
            host.metrics().gauge("tempinbox_mail_ingest_login_change_version",
                                 "Version up to which mailbox.capture_changes has been read")};
}

} // namespace

logins::logins(runtime::host& host, postgres::pool& look_up_db, std::size_t look_up_connections,
               postgres::pool& changes_db, outbox::publisher& publisher,
               const login_settings& chosen)
    : host_(host),
      settings_(chosen),
      look_ups_(look_up_db),
      changes_(changes_db),
      renewals_(look_up_db, host.instance()),
      publisher_(publisher),
      renewed_(host.metrics().counter("tempinbox_mail_ingest_inboxes_renewed_total",
                                      "Inboxes whose end moved since their login was used")),
      strangers_(host,
                 host.metrics().counter("tempinbox_mail_ingest_login_lookups_refused_total",
                                        "Look-ups of unknown logins refused: too many at once"),
                 std::max<std::size_t>(look_up_connections / 4, 1)),
      cache_(host, kind_of_logins(host, look_ups_, changes_), strangers_),
      rate_(token_rate::per_minute(chosen.messages_per_minute, chosen.message_burst)),
      rates_(rate_),
      noted_uses_(max_noted_uses),
      use_writer_(host.executor(), host.metrics(), "write_login_uses",
                  [this] { return write_uses(); })
{
    for (const auto status : {login_status::good, login_status::bad, login_status::unavailable,
                              login_status::too_many_sessions, login_status::too_many_failures})
        results_counter(host.metrics(), to_text(status));
    results_counter(host.metrics(), refused_by_fault);
}

void logins::start()
{
    cache_.start();
    use_writer_.start();
}

awaitable<void> logins::stop()
{
    co_await use_writer_.stop();
    co_await cache_.stop();
    try {
        co_await write_uses();
    } catch (const std::exception& error) {
        // What is lost is when logins were used last; the process ends all the same.
        log::warning("last uses of logins are not noted", {{"error", error.what()}});
    }
}

void logins::count(const login_result& result)
{
    const bool is_refused = result.fault && result.fault->refuses();
    results_counter(host_.metrics(), is_refused ? refused_by_fault : to_text(result.status))
        .Increment();
}

awaitable<login_result> logins::log_in(address client, smtp::credentials given)
{
    if (failures_.is_refused(client, given.user, steady::now()))
        co_return login_result{login_status::too_many_failures, {}, {}};
    if (!is_well_formed(given))
        co_return refuse(client, given.user, nullptr);
    auto digest = credentials::capture_password_digest(given.password);
    const auto user = given.user;
    given = {};
    const auto found = co_await find(user);
    if (!found)
        co_return login_result{};
    const auto& known = *found;
    const auto now = host_.clock().now();
    // An unknown user takes the time of a known one.
    static const mailbox::login_owner nobody = [] {
        mailbox::login_owner owner;
        owner.password_sha256 = std::string(sha256_bytes, '\0');
        return owner;
    }();
    const bool is_password = (known ? *known : nobody).is_password(digest, now);
    if (!known || !is_password || !known->is_active(now)) {
        auto refused = refuse(client, user, known);
        // The owner of a login past the plan's number has the right password.
        if (is_password)
            refused.login.reset();
        co_return refused;
    }
    co_return accept(client, *known, std::move(digest));
}

login_result logins::accept(const address& client, const mailbox::login_owner& known,
                            std::string digest)
{
    auto& sessions = sessions_[known.user];
    if (settings_.sessions_per_login > 0 && sessions >= settings_.sessions_per_login)
        return login_result{login_status::too_many_sessions, {}, {}};
    ++sessions;
    note_use(known);
    log::audit("login accepted", {{"user", known.user},
                                  {"inbox_id", known.inbox.text()},
                                  {"remote_ip", client.to_string()}});
    login_result result(login_status::good);
    result.login = smtp::login{known.user, std::move(digest), known.account.account, known.inbox,
                               max_message_bytes(known, host_.clock().now())};
    result.wait = failures_.note_success(client, known.user, steady::now());
    return result;
}

login_result logins::refuse(const address& client, const std::string& user, const owner& known)
{
    login_result result(login_status::bad);
    result.wait = failures_.note_failure(client, credentials::is_capture_user(user) ? user : "",
                                         steady::now());
    // A user that does not exist may be anything, such as a password in the wrong field.
    log::audit("login refused",
               {{"user", known ? known->user : ""}, {"remote_ip", client.to_string()}});
    if (known)
        result.login = smtp::login{known->user, {}, known->account.account, known->inbox, 0};
    return result;
}

void logins::leave(const std::string& user)
{
    const auto sessions = sessions_.find(user);
    if (sessions != sessions_.end() && --sessions->second == 0)
        sessions_.erase(sessions);
}

awaitable<std::optional<logins::owner>> logins::find(std::string user)
{
    try {
        const auto found = co_await cache_.find(std::move(user), credentials::lookups::all);
        if (found)
            co_return found->owner;
    } catch (const std::exception& error) {
        // A lost database is 454 or 451 to each client; the task that reads changes warns of it.
        log::debug("login cannot be looked up", {{"error", error.what()}});
    }
    co_return std::nullopt;
}

awaitable<admission_result> logins::admit(smtp::login who)
{
    auto result = co_await check_again(who);
    if (result.status != admission_status::admitted || rates_.take(who.inbox, rate_, steady::now()))
        co_return result;
    if (!co_await await_rate(who.inbox))
        co_return admission_result{admission_status::over_rate, 0};
    // It may have ended during the wait.
    co_return co_await check_again(std::move(who));
}

awaitable<admission_result> logins::check_again(smtp::login who)
{
    const auto found = co_await find(who.user);
    if (!found)
        co_return admission_result{};
    const auto& known = *found;
    const auto now = host_.clock().now();
    if (!known || known->inbox != who.inbox || !known->is_active(now) ||
        !known->is_password(who.password_digest, now))
        co_return admission_result{admission_status::ended, 0};
    co_return admission_result{admission_status::admitted, max_message_bytes(*known, now)};
}

awaitable<bool> logins::await_rate(inbox_id inbox)
{
    const auto deadline = steady::now() + settings_.max_rate_wait;
    boost::asio::steady_timer timer(host_.executor());
    while (!rates_.take(inbox, rate_, steady::now())) {
        const auto now = steady::now();
        if (now >= deadline)
            co_return false;
        const auto wait =
            std::chrono::ceil<std::chrono::milliseconds>(rates_.wait(inbox, rate_, now));
        timer.expires_at(std::min(now + wait, deadline));
        co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    co_return true;
}

void logins::note_use(const mailbox::login_owner& known)
{
    const auto now = host_.clock().now();
    if (known.is_renewal_due(now) && due_renewals_.size() < max_unwritten_uses)
        due_renewals_.insert({known.account.account, known.inbox});
    const auto* noted = noted_uses_.find(known.user);
    if ((noted && now - *noted < use_interval) || unwritten_uses_.size() >= max_unwritten_uses)
        return;
    noted_uses_.put(known.user, now);
    unwritten_uses_.push_back({known.account.account, known.user, now});
}

awaitable<std::chrono::microseconds> logins::write_uses()
{
    // Those that cannot be written are tried again.
    const auto count = unwritten_uses_.size();
    if (count > 0)
        co_await look_ups_.record_uses(unwritten_uses_);
    unwritten_uses_.erase(unwritten_uses_.begin(),
                          unwritten_uses_.begin() + static_cast<std::ptrdiff_t>(count));
    co_await renew_inboxes();
    co_return use_write_interval;
}

awaitable<void> logins::renew_inboxes()
{
    while (!due_renewals_.empty()) {
        std::vector<mailbox::inbox_use> uses;
        for (auto use = due_renewals_.begin();
             use != due_renewals_.end() && uses.size() < mailbox::renewal_repository::max_uses;
             ++use)
            uses.push_back(*use);
        auto renewed =
            co_await renewals_.renew(uses, mailbox::use_kind::login, host_.clock().now());
        for (const auto& use : uses)
            due_renewals_.erase(use);
        renewed_.Increment(static_cast<double>(renewed.inboxes.size()));
        publisher_.publish(std::move(renewed.events));
    }
}

} // namespace tempinbox::mail_ingest
