#include "mail-ingest/directory/directory.hpp"

#include "common/events/events.hpp"
#include "common/log/log.hpp"

namespace tempinbox::mail_ingest {
namespace {

using smtp::recipient_answer;
using smtp::recipient_status;

constexpr const char* look_ups_help = "Recipients looked up, by where the answer came from.";

time_point to_time(const google::protobuf::Timestamp& stamp)
{
    return from_unix_micros(stamp.seconds() * 1'000'000 + stamp.nanos() / 1'000);
}

} // namespace

directory::directory(runtime::host& host, postgres::pool& db, const directory_settings& chosen)
    : host_(host),
      settings_(chosen),
      address_store_(db),
      domain_store_(db),
      domains_(host, domain_store_, chosen.patience),
      look_ups_(host, address_store_, chosen.patience),
      addresses_(chosen.cached_addresses),
      accounts_(chosen.cached_accounts),
      rates_(chosen.messages_per_minute, chosen.message_burst),
      cached_(host.metrics().gauge("tempinbox_mail_ingest_cached_addresses",
                                   "Live addresses held in memory.")),
      from_memory_(host.metrics().counter("tempinbox_mail_ingest_look_ups_total", look_ups_help,
                                          {{"source", "memory"}})),
      from_database_(host.metrics().counter("tempinbox_mail_ingest_look_ups_total", look_ups_help,
                                            {{"source", "database"}})),
      unreadable_events_(host.metrics().counter("tempinbox_mail_ingest_unreadable_events_total",
                                                "Events that could not be read."))
{}

// `name@domain` of a domain that is known to be ours; absent otherwise.
std::optional<std::string> directory::address_of(const smtp::mailbox& wanted) const
{
    const auto& domain = wanted.domain.empty() ? domains_.default_domain() : wanted.domain;
    auto name = smtp::inbox_name(wanted.local);
    if (!name || domain.empty() || !domains_.has(domain))
        return std::nullopt;
    return std::move(*name) + "@" + domain;
}

std::optional<recipient_answer> directory::recall(const smtp::mailbox& wanted)
{
    const auto address = address_of(wanted);
    if (!address)
        return std::nullopt;
    auto answer = recall_address(*address);
    if (answer)
        from_memory_.Increment();
    return answer;
}

std::optional<recipient_answer> directory::recall_address(const std::string& address)
{
    const auto now = host_.clock().now();
    const auto live = addresses_.find(address, now);
    if (!live && addresses_.is_quarantined(address, now))
        return recipient_answer(recipient_status::quarantined);
    if (!live)
        return std::nullopt;
    const auto largest = accounts_.largest_message(live->account, now);
    if (!largest)
        return std::nullopt;
    recipient_answer answer(*largest > 0 ? recipient_status::live : recipient_status::unknown);
    answer.account = live->account;
    answer.inbox = live->inbox;
    answer.largest_message = *largest;
    return answer;
}

awaitable<recipient_answer> directory::find(smtp::mailbox wanted)
{
    const auto standing = co_await domains_.find(wanted.domain);
    if (standing != domains::standing::ours)
        co_return recipient_answer(standing == domains::standing::foreign
                                       ? recipient_status::foreign
                                       : recipient_status::unavailable);
    const auto address = address_of(wanted);
    if (!address)
        co_return recipient_answer(recipient_status::unknown);
    const auto known = recall_address(*address);
    if (known)
        co_return *known;

    from_database_.Increment();
    addresses_.look_up_started(*address);
    auto asked = co_await look_ups_.find(*address);
    co_return judge(*address, std::move(asked));
}

recipient_answer directory::judge(const std::string& address, look_ups::answer asked)
{
    std::optional<live_address> live;
    if (asked.found && asked.found->is_live)
        live = live_address{asked.found->account, asked.found->inbox, asked.found->until};
    // Before the address is remembered: who remembers the address relies on it.
    if (asked.found && asked.found->owner)
        accounts_.put(*asked.found->owner);
    live = addresses_.look_up_ended(address, live);
    cached_.Set(static_cast<double>(addresses_.size()));
    if (!asked.is_known)
        return recipient_answer(recipient_status::unavailable);
    if (!live && asked.found) {
        if (!asked.found->is_live)
            addresses_.quarantined(address, asked.found->until, host_.clock().now());
        return recipient_answer(recipient_status::quarantined);
    }
    if (!live)
        return recipient_answer(recipient_status::unknown);

    if (asked.found &&
        settings_.inbox_bounds.are_reached(asked.found->email_count, asked.found->email_bytes)) {
        addresses_.forget(address);
        return recipient_answer(recipient_status::full);
    }
    if (auto answer = recall_address(address))
        return *answer;
    // An account nobody has told of: what every account may.
    recipient_answer answer(recipient_status::live);
    answer.account = live->account;
    answer.inbox = live->inbox;
    answer.largest_message = static_cast<std::uint64_t>(plans::plan_limits{}.max_message_bytes);
    return answer;
}

std::uint64_t directory::largest_message(account_id account, std::uint64_t otherwise)
{
    return accounts_.largest_message(account, host_.clock().now()).value_or(otherwise);
}

void directory::forget(const std::string& recipient)
{
    const auto parsed = smtp::parse_path("<" + recipient + ">");
    if (!parsed)
        return;
    if (const auto address = address_of(parsed->mailbox))
        addresses_.forget(*address);
}

void directory::take_events(const std::vector<kafka::record>& batch)
{
    for (const auto& record : batch) {
        std::optional<failure> problem;
        if (record.topic == events::topics::inbox_created) {
            const auto event = events::read_inbox_created(record);
            if (event) {
                const live_address fresh{account_id::parse(event->account_id()).value(),
                                         inbox_id::parse(event->inbox_id()).value(),
                                         to_time(event->expires_at())};
                addresses_.created(event->email_address(), fresh);
            } else {
                problem = event.error();
            }
        } else if (record.topic == events::topics::inbox_expired) {
            const auto event = events::read_inbox_expired(record);
            if (event)
                addresses_.ended(event->email_address(),
                                 inbox_id::parse(event->inbox_id()).value());
            else
                problem = event.error();
        } else if (record.topic == events::topics::account_state) {
            const auto state = events::read_account_state(record);
            if (state)
                accounts_.put(*state);
            else
                problem = state.error();
        }
        if (problem) {
            unreadable_events_.Increment();
            log::warning("event cannot be read", {{"topic", record.topic},
                                                  {"partition", record.partition},
                                                  {"offset", record.offset},
                                                  {"reason", problem->message}});
        }
    }
    cached_.Set(static_cast<double>(addresses_.size()));
}

} // namespace tempinbox::mail_ingest
