#include "webhook-dispatcher/delivery/outcome.hpp"

namespace tempinbox::webhooks {
namespace {

delivery_outcome::state state_after(delivery_decision::step next)
{
    switch (next) {
    case delivery_decision::step::succeed:
        return delivery_outcome::state::succeeded;
    case delivery_decision::step::exhaust:
        return delivery_outcome::state::exhausted;
    case delivery_decision::step::abort:
        return delivery_outcome::state::aborted;
    case delivery_decision::step::retry:
    case delivery_decision::step::park:
        return delivery_outcome::state::waiting;
    }
    return delivery_outcome::state::waiting;
}

} // namespace

delivery_outcome unsent_outcome(const delivery_job& job, std::chrono::milliseconds wait)
{
    delivery_outcome outcome;
    outcome.event = job.event->id;
    outcome.is_email = job.event->is_email();
    outcome.webhook = job.to->id;
    outcome.account = job.to->account;
    outcome.endpoint_renewed_at = job.to->renewed_at;
    outcome.lease = job.lease;
    outcome.attempts = job.attempts_made;
    outcome.is_replayed = job.is_replayed;
    outcome.wait = wait;
    return outcome;
}

attempt_facts facts_of(const delivery_job& job, time_point now)
{
    attempt_facts facts;
    facts.event = job.event->id;
    facts.webhook = job.to->id;
    facts.number = job.attempts_made + 1;
    facts.now = now;
    facts.delivery_began = job.began;
    return facts;
}

delivery_outcome outcome_after(const delivery_job& job, sent_request sent,
                               const delivery_decision& decision)
{
    auto outcome = unsent_outcome(job, decision.wait);
    outcome.next = state_after(decision.next);
    outcome.error = decision.error;
    outcome.disables_endpoint = decision.disables_endpoint;
    // A failure of our own is no attempt.
    if (decision.next == delivery_decision::step::park)
        return outcome;
    outcome.has_attempt = true;
    outcome.attempts = job.attempts_made + 1;
    outcome.at = sent.at;
    outcome.took = sent.took;
    outcome.status = sent.result.status;
    outcome.response_body = std::move(sent.response_body);
    return outcome;
}

} // namespace tempinbox::webhooks
