#pragma once

#include "common/async/single_flight.hpp"
#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"
#include "mailbox/domain_repository.hpp"

#include <optional>
#include <set>
#include <string>
#include <variant>

namespace tempinbox::mail_ingest {

// Cache of the domains mail is accepted for. On a miss the list is read again, at most once a
// second.
class domains
{
public:
    enum class status { ours, foreign, unknown };

    domains(runtime::host& host, mailbox::domain_repository& store,
            std::chrono::milliseconds timeout);

    bool has(const std::string& domain) const { return cached_.contains(domain); }
    // Empty until the list was read.
    const std::string& default_domain() const { return default_; }

    awaitable<status> find(std::string domain);

private:
    awaitable<bool> read_list();

    mailbox::domain_repository& store_;
    std::set<std::string, std::less<>> cached_;
    std::string default_;
    std::optional<std::chrono::steady_clock::time_point> refreshed_at_;
    async::single_flight<std::monostate, bool> refresh_; // there is one list
};

} // namespace tempinbox::mail_ingest
