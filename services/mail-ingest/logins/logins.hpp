#pragma once

#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/token_bucket.hpp"
#include "common/credentials/credential_cache.hpp"
#include "common/credentials/lookup_limiter.hpp"
#include "common/outbox/outbox.hpp"
#include "common/postgres/pool.hpp"
#include "common/runtime/host.hpp"
#include "mail-ingest/envelope/login.hpp"
#include "mail-ingest/logins/login_failures.hpp"
#include "mailbox/login_repository.hpp"
#include "mailbox/renewal_repository.hpp"

#include <boost/asio/ip/address.hpp>

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace tempinbox::mail_ingest {

struct login_settings
{
    std::size_t sessions_per_login = 20; // 0: unlimited
    int messages_per_minute = 600;       // of one login; 0: unlimited
    int message_burst = 100;
    std::chrono::milliseconds max_rate_wait{10'000}; // of MAIL, before it is refused
};

// Who may submit mail: checks logins against PostgreSQL through a cache that learns of revocations
// within 1 s, slows down whoever guesses, and bounds the sessions and the rate of each login. Good
// logins renew their inboxes. Never
// throws; what cannot be checked is `unavailable`. On the loop.
class logins
{
public:
    using address = boost::asio::ip::address;

    // `changes_db` is used by nothing else; of the connections of `look_up_db` unknown users get a
    // quarter.
    logins(runtime::host& host, postgres::pool& look_up_db, std::size_t look_up_connections,
           postgres::pool& changes_db, outbox::publisher& publisher, const login_settings& chosen);

    void start();
    awaitable<void> stop();

    // A good login counts as one of its user's sessions until `leave`.
    awaitable<smtp::login_result> log_in(address client, smtp::credentials given);
    // Counts the attempt by its result, with the fault that the inbox played after a good login.
    void count(const smtp::login_result& result);
    void leave(const std::string& user);

    // Whether the login of a session is still good and has a message left of its rate, for which
    // this waits.
    awaitable<smtp::admission_result> admit(smtp::login who);

private:
    using owner = credentials::credential_cache<mailbox::login_owner>::owner;

    // An absent owner is unknown; absent altogether: it cannot be looked up at present.
    awaitable<std::optional<owner>> find(std::string user);
    smtp::login_result accept(const address& client, const mailbox::login_owner& known,
                              std::string digest);
    smtp::login_result refuse(const address& client, const std::string& user, const owner& known);
    awaitable<smtp::admission_result> check_again(smtp::login who);
    // False if there is no message left even after the longest wait.
    awaitable<bool> await_rate(inbox_id inbox);
    void note_use(const mailbox::login_owner& known);
    awaitable<std::chrono::microseconds> write_uses();
    awaitable<void> renew_inboxes();

    runtime::host& host_;
    login_settings settings_;
    mailbox::login_repository look_ups_;
    mailbox::login_repository changes_;
    mailbox::renewal_repository renewals_;
    outbox::publisher& publisher_;
    prometheus::Counter& renewed_;
    credentials::lookup_limiter strangers_;
    credentials::credential_cache<mailbox::login_owner> cache_;
    login_failures failures_;
    std::unordered_map<std::string, std::size_t> sessions_; // of a user, while there are any
    token_rate rate_;
    token_bucket<inbox_id> rates_; // of this replica alone
    lru_cache<std::string, time_point> noted_uses_;
    std::vector<mailbox::login_repository::use> unwritten_uses_;
    std::set<mailbox::inbox_use> due_renewals_;
    async::periodic_task use_writer_;
};

} // namespace tempinbox::mail_ingest
