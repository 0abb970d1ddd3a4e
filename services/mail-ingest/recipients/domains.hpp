#pragma once

#include "common/async/single_flight.hpp"
#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"
#include "mailbox/domain_repository.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace tempinbox::mail_ingest {

// Cache of the domains mail is accepted for, and of those that may have subdomains: all names of
// one label below them are ours. On a miss the list is read again, at most once a second.
class domains
{
public:
    enum class status { ours, foreign, unknown };

    domains(runtime::host& host, mailbox::domain_repository& store,
            std::chrono::milliseconds timeout);

    bool has(const std::string& domain) const { return cached_.contains(domain); }
    // The domain that this may be a subdomain of; empty if there is none or it is a domain itself.
    std::string_view parent_of(std::string_view domain) const;
    // Empty until the list was read.
    const std::string& default_domain() const { return default_; }

    awaitable<status> find(std::string domain);

private:
    awaitable<bool> read_list();

    mailbox::domain_repository& store_;
    std::map<std::string, bool, std::less<>> cached_; // and whether it may have subdomains
    std::string default_;
    std::optional<std::chrono::steady_clock::time_point> refreshed_at_;
    async::single_flight<std::monostate, bool> refresh_; // there is one list
};

} // namespace tempinbox::mail_ingest
