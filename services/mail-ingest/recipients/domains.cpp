#include "mail-ingest/recipients/domains.hpp"

#include "common/log/log.hpp"
#include "mailbox/address_rules.hpp"

namespace tempinbox::mail_ingest {
namespace {

constexpr std::chrono::seconds max_age{1};

} // namespace

domains::domains(runtime::host& host, mailbox::domain_repository& store,
                 std::chrono::milliseconds timeout)
    : store_(store),
      refresh_(host.executor(), {timeout}, [this](std::monostate) { return read_list(); })
{}

std::string_view domains::parent_of(std::string_view domain) const
{
    if (cached_.contains(domain))
        return {};
    const auto parent = mailbox::parent_domain(domain);
    const auto known = cached_.find(parent);
    return known != cached_.end() && known->second ? parent : std::string_view();
}

// An empty name means the default domain.
awaitable<domains::status> domains::find(std::string domain)
{
    const auto is_cached = [&] {
        return domain.empty() ? !default_.empty() : has(domain) || !parent_of(domain).empty();
    };
    const auto is_fresh = [&] {
        return refreshed_at_ && std::chrono::steady_clock::now() - *refreshed_at_ < max_age;
    };
    if (!is_cached() && !is_fresh())
        co_await refresh_.ask({});
    if (is_cached())
        co_return status::ours;
    co_return is_fresh() ? status::foreign : status::unknown;
}

// Whether it was read.
awaitable<bool> domains::read_list()
{
    const auto started_at = std::chrono::steady_clock::now();
    try {
        const auto found = co_await store_.list();
        const auto previous = std::exchange(cached_, {});
        default_.clear();
        for (const auto& one : found) {
            cached_.emplace(one.name, one.has_subdomains);
            if (one.is_default)
                default_ = one.name;
            if (!one.operator_account && !previous.contains(one.name))
                log::warning("domain has no operator: postmaster and abuse are refused",
                             {{"domain", one.name}});
        }
        refreshed_at_ = started_at;
        co_return true;
    } catch (const std::exception& error) {
        // Logged once for all who ask; they see by the list's age that it was not read.
        log::warning("domains cannot be read", {{"error", error.what()}});
    }
    co_return false;
}

} // namespace tempinbox::mail_ingest
