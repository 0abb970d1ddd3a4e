#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

struct domain
{
    std::string name; // lower case, A-labels
    bool is_default = false;
    std::optional<account_id> operator_account;
    bool takes_subdomains = false; // new ones
    bool has_subdomains = false;   // took some at some time
};

// The inbox an address belongs to, with what accepting a mail for it needs.
struct known_address
{
    std::string address;
    bool is_live = false; // false: in quarantine
    account_id account;
    inbox_id inbox;
    time_point until;
    std::optional<plans::account_state> owner; // for live addresses only
    std::int64_t email_count = 0;
    std::int64_t email_bytes = 0;
    bool drops_oldest = false; // before it is full
};

// Domains an inbox can be on, and whose an address on them is. Throws if PostgreSQL cannot be
// reached.
class domain_repository
{
public:
    explicit domain_repository(postgres::pool& db);

    // The default first, then by name.
    awaitable<std::vector<domain>> list();

    // Idempotent; the first domain becomes the default. `operator_account`, if given, replaces the
    // stored one. conflict if an account holds the name as a subdomain.
    awaitable<result<domain>> add(std::string name, std::optional<account_id> operator_account);

    // Whether accounts may hold names below the domain; those that are held stay. not_found if
    // there is no such domain.
    awaitable<result<domain>> set_subdomains(std::string name, bool takes_subdomains);

    // The subdomains that the account holds, by name.
    awaitable<std::vector<std::string>> list_held(account_id account);

    // The names right above subdomains that somebody holds, by name: domains that take none any
    // more may be among them.
    awaitable<std::vector<std::string>> list_parents_of_held();

    // Addresses in lower case without tags. Those that are neither live nor in quarantine are left
    // out. Two statements, however many addresses.
    awaitable<std::vector<known_address>> find_addresses(std::vector<std::string> addresses);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
