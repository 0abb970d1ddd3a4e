#include "mail-ingest/recipients/recipients.hpp"

#include "common/events/events.hpp"
#include "common/log/log.hpp"
#include "common/rpc/timestamp.hpp"

namespace tempinbox::mail_ingest {
namespace {

using smtp::recipient_result;
using smtp::recipient_status;

// A recipient that is refused for the sake of this inbox.
template <class Owner>
recipient_result refused(recipient_status status, const Owner& owner)
{
    recipient_result result(status);
    result.account = owner.account;
    result.inbox = owner.inbox;
    return result;
}

// An inbox.created that comes later than this may be one that was lost and is published again, of
// an inbox that has ended (docs/decisions/0020-events-are-made-again-from-sql.md). `tempinboxctl
// events verify` repairs none that is younger than five minutes; what is between allows for clocks
// that differ.
constexpr std::chrono::minutes max_creation_age{2};

constexpr const char* look_ups_help = "Recipients looked up, by source of the result";

} // namespace

recipients::recipients(runtime::host& host, postgres::pool& db, const recipient_settings& chosen)
    : host_(host),
      settings_(chosen),
      domain_repository_(db),
      domains_(host, domain_repository_, chosen.timeout),
      address_batcher_(host, domain_repository_, chosen.timeout),
      addresses_(chosen.cached_addresses),
      accounts_(chosen.cached_accounts),
      rates_(token_rate::per_minute(chosen.messages_per_minute, chosen.message_burst)),
      cached_(host.metrics().gauge("tempinbox_mail_ingest_cached_addresses",
                                   "Live addresses in the cache")),
      from_memory_(host.metrics().counter("tempinbox_mail_ingest_lookups_total", look_ups_help,
                                          {{"source", "memory"}})),
      from_database_(host.metrics().counter("tempinbox_mail_ingest_lookups_total", look_ups_help,
                                            {{"source", "database"}})),
      unreadable_events_(host.metrics().counter("tempinbox_mail_ingest_unreadable_events_total",
                                                "Events that could not be read"))
{}

// `name@domain` if the domain is cached as ours; else absent.
std::optional<std::string> recipients::address_of(const smtp::smtp_path& path) const
{
    const auto& domain = path.domain.empty() ? domains_.default_domain() : path.domain;
    auto name = smtp::inbox_name(path.local);
    if (!name || domain.empty() || !domains_.has(domain))
        return std::nullopt;
    return std::move(*name) + "@" + domain;
}

std::optional<recipient_result> recipients::find_cached(const smtp::smtp_path& path)
{
    const auto address = address_of(path);
    if (!address)
        return std::nullopt;
    auto result = find_cached_address(*address);
    if (result)
        from_memory_.Increment();
    return result;
}

std::optional<recipient_result> recipients::find_cached_address(const std::string& address)
{
    const auto now = host_.clock().now();
    const auto live = addresses_.find(address, now);
    if (!live) {
        const auto ended = addresses_.find_quarantined(address, now);
        if (ended)
            return refused(recipient_status::quarantined, *ended);
        return std::nullopt;
    }
    const auto max_bytes = accounts_.max_message_bytes(live->account, now);
    if (!max_bytes)
        return std::nullopt;
    recipient_result result(*max_bytes > 0 ? recipient_status::live : recipient_status::unknown);
    result.account = live->account;
    result.inbox = live->inbox;
    result.max_message_bytes = *max_bytes;
    return result;
}

awaitable<recipient_result> recipients::find(smtp::smtp_path path)
{
    const auto status = co_await domains_.find(path.domain);
    if (status != domains::status::ours)
        co_return recipient_result(status == domains::status::foreign
                                       ? recipient_status::foreign
                                       : recipient_status::unavailable);
    const auto address = address_of(path);
    if (!address)
        co_return recipient_result(recipient_status::unknown);
    const auto cached = find_cached_address(*address);
    if (cached)
        co_return *cached;

    from_database_.Increment();
    addresses_.look_up_started(*address);
    auto lookup = co_await address_batcher_.find(*address);
    co_return make_result(*address, std::move(lookup));
}

recipient_result recipients::make_result(const std::string& address, address_batcher::result lookup)
{
    std::optional<live_address> live;
    if (lookup.found && lookup.found->is_live)
        live = live_address{lookup.found->account, lookup.found->inbox, lookup.found->until};
    // First the account, then the address: a cached address relies on its cached account.
    if (lookup.found && lookup.found->owner)
        accounts_.put(*lookup.found->owner);
    live = addresses_.look_up_ended(address, live);
    cached_.Set(static_cast<double>(addresses_.size()));
    if (!lookup.is_known)
        return recipient_result(recipient_status::unavailable);
    if (!live && lookup.found) {
        if (!lookup.found->is_live)
            addresses_.quarantined(
                address, {lookup.found->account, lookup.found->inbox, lookup.found->until},
                host_.clock().now());
        return refused(recipient_status::quarantined, *lookup.found);
    }
    if (!live)
        return recipient_result(recipient_status::unknown);

    if (lookup.found &&
        settings_.inbox_bounds.are_reached(lookup.found->email_count, lookup.found->email_bytes)) {
        addresses_.evict(address);
        return refused(lookup.found->drops_oldest ? recipient_status::full_for_now
                                                  : recipient_status::full,
                       *lookup.found);
    }
    if (auto result = find_cached_address(address))
        return *result;
    // No state of the account is known: the limit that every account has applies.
    recipient_result result(recipient_status::live);
    result.account = live->account;
    result.inbox = live->inbox;
    result.max_message_bytes = static_cast<std::uint64_t>(plans::plan_limits{}.max_message_bytes);
    return result;
}

std::uint64_t recipients::max_message_bytes(account_id account, std::uint64_t otherwise)
{
    return accounts_.max_message_bytes(account, host_.clock().now()).value_or(otherwise);
}

void recipients::evict(const std::string& recipient)
{
    const auto parsed = smtp::parse_path("<" + recipient + ">");
    if (!parsed)
        return;
    if (const auto address = address_of(parsed->smtp_path))
        addresses_.evict(*address);
}

void recipients::take_creation(const events::v1::InboxCreated& event)
{
    if (rpc::to_time(event.created_at()) < host_.clock().now() - max_creation_age)
        return addresses_.created_long_ago(event.email_address());
    const live_address fresh{account_id::parse(event.account_id()).value(),
                             inbox_id::parse(event.inbox_id()).value(),
                             rpc::to_time(event.expires_at())};
    addresses_.created(event.email_address(), fresh);
}

void recipients::take_events(const std::vector<kafka::record>& batch)
{
    for (const auto& record : batch) {
        std::optional<failure> error;
        if (record.topic == events::topics::inbox_created) {
            const auto event = events::read_inbox_created(record);
            if (event)
                take_creation(*event);
            else
                error = event.error();
        } else if (record.topic == events::topics::inbox_expired) {
            const auto event = events::read_inbox_expired(record);
            if (event)
                addresses_.ended(event->email_address(),
                                 inbox_id::parse(event->inbox_id()).value());
            else
                error = event.error();
        } else if (record.topic == events::topics::account_state) {
            const auto state = events::read_account_state(record);
            if (state)
                accounts_.put(*state);
            else
                error = state.error();
        }
        if (error) {
            unreadable_events_.Increment();
            log::warning("event cannot be read", {{"topic", record.topic},
                                                  {"partition", record.partition},
                                                  {"offset", record.offset},
                                                  {"reason", error->message}});
        }
    }
    cached_.Set(static_cast<double>(addresses_.size()));
}

} // namespace tempinbox::mail_ingest
