#pragma once

#include "common/async/batcher.hpp"
#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"
#include "mailbox/domain_repository.hpp"

#include <optional>
#include <string>

namespace tempinbox::mail_ingest {

// Batches address lookups: those that queue up while one is under way share the next query. Finds
// every inbox made before its query.
class address_batcher
{
public:
    struct result
    {
        bool is_known = false; // false: the database did not answer in time
        std::optional<mailbox::known_address> found;
    };

    address_batcher(runtime::host& host, mailbox::domain_repository& store,
                    std::chrono::milliseconds timeout);

    awaitable<result> find(std::string address);

private:
    async::keyed_batcher<std::string, std::optional<mailbox::known_address>> calls_;
};

} // namespace tempinbox::mail_ingest
