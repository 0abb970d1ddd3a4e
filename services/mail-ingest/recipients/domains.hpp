#pragma once

#include "common/async/reset_event.hpp"
#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"
#include "mailbox/domain_repository.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>

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
    awaitable<void> refresh();
    awaitable<void> run_refresh(std::shared_ptr<async::reset_event> done);

    runtime::host& host_;
    mailbox::domain_repository& store_;
    std::chrono::milliseconds timeout_;
    std::set<std::string, std::less<>> cached_;
    std::string default_;
    std::optional<std::chrono::steady_clock::time_point> refreshed_at_;
    std::shared_ptr<async::reset_event> under_way_;
};

} // namespace tempinbox::mail_ingest
