#pragma once

#include "common/async/batcher.hpp"
#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"
#include "mailbox/domain_repository.hpp"

#include <compare>
#include <optional>
#include <string>

namespace tempinbox::mail_ingest {

// The addresses by which the owner of a recipient is looked up.
struct address_keys
{
    std::string exact;     // `name@domain`; empty: no named inbox can have it
    std::string catch_all; // `*@domain`; empty if the domain is no subdomain

    auto operator<=>(const address_keys&) const = default;
};

// Batches address lookups: those that queue up while one is under way share the next query. Finds
// every inbox made before its query; both keys of a recipient are in one.
class address_batcher
{
public:
    struct result
    {
        bool is_known = false; // false: the database did not answer in time
        std::optional<mailbox::known_address> exact;
        std::optional<mailbox::known_address> catch_all;
    };

    address_batcher(runtime::host& host, mailbox::domain_repository& store,
                    std::chrono::milliseconds timeout);

    awaitable<result> find(address_keys keys);

private:
    async::keyed_batcher<address_keys, result> calls_;
};

} // namespace tempinbox::mail_ingest
