#pragma once

#include "common/async/batcher.hpp"
#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/faults/step.hpp"
#include "common/postgres/pool.hpp"
#include "common/runtime/host.hpp"
#include "mail-ingest/envelope/fault.hpp"
#include "mail-ingest/faults/delay_slots.hpp"
#include "mailbox/fault_repository.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tempinbox::mail_ingest {

inline constexpr std::chrono::seconds max_rcpt_delay{60};

// Why a transaction did not meet a fault, or not as long as it was to be.
enum class unplayed_reason { shared_transaction, no_answer, too_many_delays, too_many_recipients };

struct unplayed_fault
{
    inbox_id inbox;
    faults::stage at = faults::stage::rcpt;
    unplayed_reason reason = unplayed_reason::no_answer;
};

// What the faults that one transaction met have left: each step is used once in it.
struct fault_memory
{
    static constexpr std::size_t max_unplayed = 20;
    // Past them a recipient that is counted by itself, and named again, is another use.
    static constexpr std::size_t max_settled = 2'000;

    // A transaction without login may be for others, too, who wait with it.
    std::chrono::milliseconds rcpt_delay_left{max_rcpt_delay};
    std::map<inbox_id, mailbox::settled_faults> settled; // of each at most max_settled
    bool has_met_any = false;
    // The step that an inbox played last, by its index, and where.
    std::map<inbox_id, std::pair<faults::stage, std::size_t>> played;
    std::vector<unplayed_fault> unplayed; // at most max_unplayed
    // What gives back the use of a fault at `end` that comes after the message is stored.
    std::optional<mailbox::fault_claim> pending_return;
};

struct played_fault
{
    smtp::fault fault;
    delay_slots::slot slot; // to be held while the reply waits
};

// Plays the faults that inboxes have on purpose. Which inboxes have any is kept in memory, and read
// each 300 ms, so other mail costs nothing; what is played is claimed in PostgreSQL, by a
// connection of its own and one batch at a time, in which accounts take turns. Without an answer
// within 2 s, or where a fault would reach the mail of others, there is none, which is counted.
// Never throws. On the loop.
class fault_player
{
public:
    // The pool that `database` describes is this one's alone; its connections are two.
    fault_player(runtime::host& host, postgres::settings database);
    fault_player(const fault_player&) = delete;

    void start() { reader_.start(); }
    // Once sessions have ended.
    awaitable<void> stop();

    // Empty for most inboxes.
    faults::stage_set stages_of(inbox_id inbox) const;

    // Each part of the claim has its account, inbox and recipients; `met` outlives the call.
    // Absent: the ordinary reply, at once. After `end` note_message says how the message ended.
    awaitable<std::optional<played_fault>> play(mailbox::fault_claim claim, fault_memory& met);
    // A wait or a cut at `end` is for a message that is stored. Of another one nothing was played:
    // its use is given back, behind the reply.
    void note_message(bool is_stored, fault_memory& met);

private:
    struct account_of
    {
        account_id operator()(const mailbox::fault_claim& claim) const
        {
            return claim.parts.front().account;
        }
    };

    // Each recipient is compared with each step.
    struct claim_weight
    {
        std::size_t operator()(const mailbox::fault_claim& claim) const
        {
            std::size_t weight = 0;
            for (const auto& part : claim.parts)
                weight += 1 + part.recipients.size();
            return weight;
        }
    };

    awaitable<std::chrono::microseconds> read_changes();
    std::optional<played_fault> limit(const faults::step& step, const mailbox::fault_claim& claim,
                                      fault_memory& met);
    void note_not_played(unplayed_reason reason, const mailbox::fault_claim& claim,
                         fault_memory& met);

    runtime::host& host_;
    postgres::pool db_;
    mailbox::fault_repository faults_;
    std::unordered_map<inbox_id, faults::stage_set> stages_;
    std::int64_t version_ = 0; // of what was read last
    std::optional<std::chrono::steady_clock::time_point> read_all_at_;
    delay_slots delays_;
    prometheus::Gauge& inboxes_;
    prometheus::Gauge& known_version_;
    async::batcher<mailbox::fault_claim, mailbox::claimed_fault, claim_weight, account_of> claims_;
    async::periodic_task reader_;
};

} // namespace tempinbox::mail_ingest
