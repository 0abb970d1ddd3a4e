#include "mail-ingest/faults/fault_player.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace tempinbox::mail_ingest {
namespace {

using steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds read_interval{300};
// Sets of inboxes that have ended are dropped so.
constexpr std::chrono::minutes read_all_interval{5};
constexpr std::chrono::seconds claim_timeout{2};
// Keep a batch short, however many recipients and inboxes its claims have: those of other accounts
// wait for it.
constexpr std::size_t max_claims = 200;
constexpr std::size_t max_claims_weight = 2 * max_claims;

prometheus::Counter& played_counter(metrics::registry& metrics, faults::stage at)
{
    return metrics.counter("tempinbox_mail_ingest_faults_total",
                           "Faults on purpose that were played, by stage",
                           {{"stage", std::string(faults::to_text(at))}});
}

prometheus::Counter& not_played_counter(metrics::registry& metrics, unplayed_reason reason)
{
    constexpr const char* names[] = {"shared_transaction", "no_answer", "too_many_delays",
                                     "too_many_recipients"};
    return metrics.counter(
        "tempinbox_mail_ingest_faults_not_played_total",
        "Faults on purpose that were left out or not as long as asked for, by reason",
        {{"reason", names[static_cast<std::size_t>(reason)]}});
}

postgres::settings two_connections(postgres::settings chosen)
{
    chosen.name = "faults";
    chosen.connections = 2; // one claims, one reads
    chosen.statement_timeout = claim_timeout;
    chosen.lock_timeout = claim_timeout;
    return chosen;
}

async::batch_policy claim_policy()
{
    async::batch_policy policy;
    policy.max_items = max_claims;
    policy.max_weight = max_claims_weight;
    policy.timeout = claim_timeout;
    return policy;
}

// What the transaction has settled that the claim may come to, however many recipients it had.
mailbox::settled_faults settled_before(faults::stage at, const mailbox::fault_claim::part& part,
                                       const fault_memory& met)
{
    const auto found = met.settled.find(part.inbox);
    if (found == met.settled.end())
        return {};
    const auto recipient =
        at == faults::stage::rcpt ? faults::fold_recipient(part.recipients.front()) : "";
    mailbox::settled_faults before{found->second.version, {}};
    for (const auto& each : found->second.decided)
        if (each.key.recipient.empty() || each.key.recipient == recipient)
            before.decided.push_back(each);
    return before;
}

void settle(mailbox::settled_faults& known, const mailbox::settled_faults& added)
{
    if (known.version != added.version)
        known = {added.version, {}};
    for (const auto& each : added.decided)
        if (each.key.recipient.empty() || known.decided.size() < fault_memory::max_settled)
            known.decided.push_back(each);
}

mailbox::fault_claim return_of(const mailbox::fault_claim& claim,
                               const mailbox::claimed_fault& claimed)
{
    mailbox::fault_claim returned;
    returned.at = claim.at;
    returned.is_return = true;
    for (std::size_t i = 0; i < claim.parts.size(); ++i)
        returned.parts.push_back(
            {claim.parts[i].account,
             claim.parts[i].inbox,
             {},
             {claimed.settled[i].version, {{{claimed.due[i].value_or(0), ""}, true}}}});
    return returned;
}

} // namespace

fault_player::fault_player(runtime::host& host, postgres::settings database)
    : host_(host),
      db_(host, two_connections(std::move(database))),
      faults_(db_),
      inboxes_(host.metrics().gauge("tempinbox_mail_ingest_inboxes_with_faults",
                                    "Inboxes that play faults on purpose")),
      known_version_(
          host.metrics().gauge("tempinbox_mail_ingest_fault_change_version",
                               "Version up to which changes of inboxes' faults have been read")),
      claims_(host.executor(), claim_policy(), "faults on purpose are not played",
              [this](std::vector<mailbox::fault_claim> claims) {
                  return faults_.claim(std::move(claims));
              }),
      reader_(
          host.executor(), host.metrics(), "read_fault_changes", [this] { return read_changes(); },
          read_interval)
{
    // From 0 on, so that a rate shows the first of each.
    for (const auto at : faults::all_stages)
        played_counter(host.metrics(), at);
    for (const auto reason :
         {unplayed_reason::shared_transaction, unplayed_reason::no_answer,
          unplayed_reason::too_many_delays, unplayed_reason::too_many_recipients})
        not_played_counter(host.metrics(), reason);
}

awaitable<void> fault_player::stop()
{
    co_await reader_.stop();
    co_await claims_.stop();
    db_.stop();
}

faults::stage_set fault_player::stages_of(inbox_id inbox) const
{
    const auto found = stages_.find(inbox);
    return found == stages_.end() ? faults::stage_set() : found->second;
}

awaitable<std::chrono::microseconds> fault_player::read_changes()
{
    const auto began = steady::now();
    const bool reads_all = !read_all_at_ || began - *read_all_at_ >= read_all_interval;
    auto version = reads_all ? 0 : version_;
    std::unordered_map<inbox_id, faults::stage_set> all;
    auto& stages = reads_all ? all : stages_;
    for (bool is_full = true; is_full;) {
        const auto changes = co_await faults_.read_changes(version);
        for (const auto& change : changes) {
            version = change.version;
            if (change.stages.empty())
                stages.erase(change.inbox);
            else
                stages.insert_or_assign(change.inbox, change.stages);
        }
        is_full = changes.size() == mailbox::fault_repository::max_changes;
    }
    version_ = version;
    if (reads_all) {
        stages_ = std::move(all);
        read_all_at_ = began;
    }
    inboxes_.Set(static_cast<double>(stages_.size()));
    known_version_.Set(static_cast<double>(version_));
    co_return read_interval;
}

awaitable<std::optional<played_fault>> fault_player::play(mailbox::fault_claim claim,
                                                          fault_memory& met)
{
    // Whether a step is due is asked also if none can be played.
    claim.is_shared = std::erase_if(claim.parts, [&](const auto& part) {
                          return !stages_of(part.inbox).has(claim.at);
                      }) > 0;
    if (claim.parts.empty())
        co_return std::nullopt;
    for (auto& part : claim.parts)
        part.settled = settled_before(claim.at, part, met);

    const auto claimed = co_await claims_.ask(claim);
    if (!claimed) {
        note_not_played(unplayed_reason::no_answer, claim, met);
        co_return std::nullopt;
    }
    for (std::size_t i = 0; i < claim.parts.size(); ++i)
        settle(met.settled[claim.parts[i].inbox], claimed->settled[i]);
    if (claimed->is_uncounted)
        note_not_played(unplayed_reason::too_many_recipients, claim, met);
    if (claimed->is_shared) {
        auto due = claim;
        for (std::size_t i = due.parts.size(); i-- > 0;)
            if (!claimed->due[i])
                due.parts.erase(due.parts.begin() + static_cast<std::ptrdiff_t>(i));
        note_not_played(unplayed_reason::shared_transaction, due, met);
    }
    if (!claimed->played)
        co_return std::nullopt;
    met.has_met_any = true;
    for (std::size_t i = 0; i < claim.parts.size(); ++i)
        met.played[claim.parts[i].inbox] = {claim.at, claimed->due[i].value_or(0)};
    const bool refuses =
        !claimed->played->reply.empty() || claimed->played->cut == faults::cut_kind::unstored;
    if (claim.at == faults::stage::end && !refuses)
        met.pending_return = return_of(claim, *claimed);
    else
        played_counter(host_.metrics(), claim.at).Increment();
    co_return limit(*claimed->played, claim, met);
}

void fault_player::note_message(bool is_stored, fault_memory& met)
{
    auto returned = std::exchange(met.pending_return, std::nullopt);
    if (!returned)
        return;
    if (is_stored)
        return played_counter(host_.metrics(), returned->at).Increment();
    for (const auto& part : returned->parts)
        met.played.erase(part.inbox);
    claims_.submit(std::move(*returned));
}

// With no longer a delay than there is room for.
std::optional<played_fault>
fault_player::limit(const faults::step& step, const mailbox::fault_claim& claim, fault_memory& met)
{
    played_fault played;
    played.fault.reply = step.reply;
    played.fault.is_cut = step.cut != faults::cut_kind::none;
    played.fault.keeps_message = step.cut == faults::cut_kind::stored;
    played.fault.delay = step.delay;
    if (claim.at == faults::stage::rcpt && !claim.has_login) {
        played.fault.delay = std::min(played.fault.delay, met.rcpt_delay_left);
        met.rcpt_delay_left -= played.fault.delay;
    }
    if (played.fault.delay.count() > 0)
        played.slot = delays_.take(claim.parts.front().account);
    if (!played.slot)
        played.fault.delay = {};
    if (played.fault.delay < step.delay)
        note_not_played(unplayed_reason::too_many_delays, claim, met);
    if (played.fault.delay.count() == 0 && played.fault.reply.empty() && !played.fault.is_cut)
        return std::nullopt;
    return played;
}

// Each inbox of the claim lacks it.
void fault_player::note_not_played(unplayed_reason reason, const mailbox::fault_claim& claim,
                                   fault_memory& met)
{
    for (const auto& part : claim.parts)
        if (met.unplayed.size() < fault_memory::max_unplayed)
            met.unplayed.push_back({part.inbox, claim.at, reason});
    not_played_counter(host_.metrics(), reason).Increment();
}

} // namespace tempinbox::mail_ingest
