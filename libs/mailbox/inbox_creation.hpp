#pragma once

#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/core/time.hpp"
#include "common/outbox/outbox.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"
#include "common/trace/traceparent.hpp"
#include "mailbox/address_rules.hpp"
#include "mailbox/retention.hpp"
#include "mailbox/types.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

// A login to create for an inbox.
struct new_login
{
    login_id id; // chosen by the caller, so that the creation can be repeated
    std::string password_sha256;
};

// An inbox to create. What is absent gets a random local part, the default domain, the plan's
// default TTL. Local part `*` makes a catch-all, of the subdomain that `domain` names, or of a
// random one.
struct new_inbox
{
    plans::account_state
        account; // as the caller knows it; the stored state wins if its version is higher
    inbox_id id;
    std::optional<std::string> local_part;
    std::optional<std::string> domain;
    std::optional<std::chrono::seconds> ttl;
    std::optional<std::string> name;
    std::vector<std::string> tags;
    std::map<std::string, std::string> metadata;
    std::optional<new_login> login; // a capture inbox
    std::optional<retention_change> retention;
    std::optional<bool> renews_on_use; // absent: if it is a capture, and the plan has renewals
    trace::context cause; // of its events; not valid: the context in which they are made

    bool is_catch_all() const { return local_part == catch_all_local_part; }
};

// An inbox and the committed events to publish; no events if it had been created before.
struct created_inbox
{
    mailbox::inbox inbox;
    std::vector<outbox::row> events;
};

// The TTL of an inbox: 60 seconds up to the plan's limit, else invalid_argument naming ttlSeconds.
result<std::chrono::seconds> choose_ttl(const plans::plan_limits& limits,
                                        std::optional<std::chrono::seconds> requested);

// The steps of inbox_repository's transactions that create inboxes; they throw as pqxx does.

// To be prepared before the steps are used.
std::vector<postgres::statement> creation_statements();

// Creates inboxes, each as if alone and one after the other: results in the order of the requests.
// Writes addresses, inboxes and events with `outbox_owner` as owner.
std::vector<result<created_inbox>> create_inboxes(pqxx::work& tx,
                                                  const std::vector<new_inbox>& requested,
                                                  time_point now, const std::string& outbox_owner);

// Fails with invalid_argument where create_inboxes would.
result<void> check_new_inbox(pqxx::work& tx, const new_inbox& requested, time_point now);

// postmaster@ and abuse@ of a domain, without end and whatever the plan allows; existing ones stay.
result<std::vector<created_inbox>> create_operator_inboxes(pqxx::work& tx, account_id account,
                                                           const std::string& domain,
                                                           const std::string& outbox_owner);

} // namespace tempinbox::mailbox
