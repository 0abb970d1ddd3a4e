#include "gateway/access/key_cache.hpp"

namespace tempinbox::gateway {
namespace {

credentials::credential_kind<accounts::key_owner>
kind_of_keys(runtime::host& host, accounts::key_repository& keys, accounts::key_repository& changes)
{
    auto& metrics = host.metrics();
    return {
        [&keys](std::string digest) { return keys.find_by_digest(std::move(digest)); },
        [&changes](std::optional<std::int64_t> after) { return changes.read_changes(after); },
        "read_key_changes",
        "API keys",
        failure{errc::rate_limited, "Too many requests without a valid API key from this address",
                error_reason::authentication_limit},
        too_many_lookups(),
        metrics.counter("tempinbox_gateway_key_lookups_total", "API keys looked up in PostgreSQL"),
        metrics.counter("tempinbox_gateway_key_change_reads_failed_total",
                        "Reads of accounts.changes that failed"),
        metrics.gauge("tempinbox_gateway_key_change_version",
                      "Version up to which accounts.changes has been read"),
    };
}

} // namespace

key_cache::key_cache(runtime::host& host, accounts::key_repository& keys,
                     accounts::key_repository& changes, lookup_limiter& strangers)
    : credential_cache(host, kind_of_keys(host, keys, changes), strangers)
{}

} // namespace tempinbox::gateway
