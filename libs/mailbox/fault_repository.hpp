#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/faults/evaluation.hpp"
#include "common/faults/step.hpp"
#include "common/postgres/pool.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

// The steps of an inbox, and in how many transactions each was played.
struct fault_set
{
    std::vector<faults::step> steps;
    std::vector<std::int64_t> used;
};

// The stages for which an inbox has steps since a change; none: it has no steps any more.
struct fault_change
{
    std::int64_t version = 0;
    inbox_id inbox;
    faults::stage_set stages;
};

// What a transaction has settled of the set of this version; of another one it has settled nothing.
struct settled_faults
{
    std::int64_t version = 0;
    std::vector<faults::decision> decided;
};

// A transaction that comes to a stage, with each inbox that it is for.
struct fault_claim
{
    struct part
    {
        account_id account;
        inbox_id inbox;
        std::vector<std::string> recipients; // in the inbox; at `auth` and `mail` none
        settled_faults settled; // of it what is about this stage and these recipients is enough
    };

    faults::stage at = faults::stage::rcpt;
    bool has_login = false;
    bool is_shared = false;  // with inboxes that have no step for the stage: none is played
    std::vector<part> parts; // at least one, each of another inbox
    // Gives back the uses that `settled` has as played, since nothing came of them. What their
    // steps have seen stays.
    bool is_return = false;
};

struct claimed_fault
{
    std::optional<faults::step> played;
    // Of the part at the same index: the index of its step that was due, if one was.
    std::vector<std::optional<std::size_t>> due;
    // Of the part at the same index: what the transaction has settled by this claim.
    std::vector<settled_faults> settled;
    // A step is due, but not at all inboxes of the message, or another one: none is used.
    bool is_shared = false;
    bool is_uncounted = false; // too many recipients are counted by themselves
};

// Faults of inboxes. Each change of a set takes the next version of mailbox.fault_changes, so
// whoever reads those notices it at once. A use is counted in the transaction that claims it, under
// the lock of the inbox's row: no two replicas play the same one. Throws if PostgreSQL cannot be
// reached.
class fault_repository
{
public:
    explicit fault_repository(postgres::pool& db);

    static constexpr std::size_t max_changes = 10'000;

    // In place of the inbox's steps; all counts are 0 again. not_found unless the inbox is live,
    // invalid_argument for a step that needs a login where there is none: at `auth` and `mail`, and
    // one that closes the connection at `rcpt`, since the message may be for others too.
    awaitable<result<fault_set>> replace(account_id account, inbox_id inbox,
                                         std::vector<faults::step> steps);
    // Without steps where none were set. not_found unless the inbox is live.
    awaitable<result<fault_set>> find(account_id account, inbox_id inbox);

    // Sets changed after a version, in their order, at most max_changes.
    awaitable<std::vector<fault_change>> read_changes(std::int64_t after);
    // In the order of the claims, in one transaction; by PostgreSQL's clock. A message for several
    // inboxes meets a fault only if all of them have the same one due. A set that cannot be read,
    // as one of a later version, is as none, and logged once.
    awaitable<std::vector<claimed_fault>> claim(std::vector<fault_claim> claims);

private:
    postgres::pool& db_;
    // The newest version of a set that could not be read. Outlives this with a claim under way.
    std::shared_ptr<std::atomic<std::int64_t>> last_unreadable_;
};

} // namespace tempinbox::mailbox
