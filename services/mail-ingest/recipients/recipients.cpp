#include "mail-ingest/recipients/recipients.hpp"

#include "common/events/events.hpp"
#include "common/log/log.hpp"
#include "common/rpc/timestamp.hpp"
#include "mailbox/address_rules.hpp"

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

// Absent unless the domain is cached as ours and an inbox may get this mail. Names by which an
// authority validates a domain are never caught; those of RFC 2142 go to the domain's operator.
std::optional<address_keys> recipients::keys_of(const smtp::smtp_path& path) const
{
    const auto& domain = path.domain.empty() ? domains_.default_domain() : path.domain;
    const auto name = smtp::inbox_name(path.local);
    if (domain.empty())
        return std::nullopt;
    if (domains_.has(domain))
        return name ? std::optional(address_keys{*name + "@" + domain, ""}) : std::nullopt;
    const auto parent = domains_.parent_of(domain);
    if (parent.empty())
        return std::nullopt;
    if (name && mailbox::is_operators(*name))
        return address_keys{*name + "@" + std::string(parent), ""};
    if (name && mailbox::is_reserved(*name))
        return std::nullopt;
    return address_keys{name ? *name + "@" + domain : "", mailbox::catch_all_address(domain)};
}

std::optional<recipient_result> recipients::find_cached(const smtp::smtp_path& path)
{
    const auto keys = keys_of(path);
    if (!keys)
        return std::nullopt;
    auto result = find_cached_keys(*keys);
    if (result)
        from_memory_.Increment();
    return result;
}

std::optional<recipient_result> recipients::find_cached_keys(const address_keys& keys)
{
    // An inbox that was made or has ended a moment ago changes who gets the mail, not whether
    // somebody does.
    if (!keys.catch_all.empty())
        return std::nullopt;
    if (auto live = find_live(keys.exact))
        return live;
    const auto ended = addresses_.find_quarantined(keys.exact, host_.clock().now());
    if (ended)
        return refused(recipient_status::quarantined, *ended);
    return std::nullopt;
}

// From the cache.
std::optional<recipient_result> recipients::find_live(const std::string& address)
{
    const auto now = host_.clock().now();
    const auto live = addresses_.find(address, now);
    if (!live)
        return std::nullopt;
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
    const auto keys = keys_of(path);
    if (!keys)
        co_return recipient_result(recipient_status::unknown);
    const auto cached = find_cached_keys(*keys);
    if (cached)
        co_return *cached;

    from_database_.Increment();
    for (const auto& address : {keys->exact, keys->catch_all})
        if (!address.empty())
            addresses_.look_up_started(address);
    const auto lookup = co_await address_batcher_.find(*keys);
    co_return make_result(*keys, lookup);
}

// What was found, corrected by events that came meanwhile. It is cached if live.
std::optional<live_address>
recipients::note_look_up(const std::string& address,
                         const std::optional<mailbox::known_address>& found)
{
    if (address.empty())
        return std::nullopt;
    std::optional<live_address> live;
    if (found && found->is_live)
        live = live_address{found->account, found->inbox, found->until};
    // First the account, then the address: a cached address relies on its cached account.
    if (found && found->owner)
        accounts_.put(*found->owner);
    return addresses_.look_up_ended(address, live);
}

recipient_result recipients::make_result(const address_keys& keys,
                                         const address_batcher::result& lookup)
{
    const auto exact = note_look_up(keys.exact, lookup.exact);
    const auto catch_all = note_look_up(keys.catch_all, lookup.catch_all);
    cached_.Set(static_cast<double>(addresses_.size()));
    if (!lookup.is_known)
        return recipient_result(recipient_status::unavailable);
    if (exact)
        return make_live_result(keys.exact, *exact, lookup.exact);
    if (catch_all) {
        auto caught = make_live_result(keys.catch_all, *catch_all, lookup.catch_all);
        caught.is_catch_all = true;
        return caught;
    }
    if (!lookup.exact)
        return recipient_result(recipient_status::unknown);

    const auto& ended = *lookup.exact;
    // In a subdomain the address may be caught, or made again, at any time.
    if (!ended.is_live && keys.catch_all.empty())
        addresses_.quarantined(keys.exact, {ended.account, ended.inbox, ended.until},
                               host_.clock().now());
    return refused(recipient_status::quarantined, ended);
}

recipient_result recipients::make_live_result(const std::string& address, const live_address& live,
                                              const std::optional<mailbox::known_address>& found)
{
    if (found && settings_.inbox_bounds.are_reached(found->email_count, found->email_bytes)) {
        addresses_.evict(address);
        return refused(
            found->drops_oldest ? recipient_status::full_for_now : recipient_status::full, *found);
    }
    if (auto result = find_live(address))
        return *result;
    // No state of the account is known: the limit that every account has applies.
    recipient_result result(recipient_status::live);
    result.account = live.account;
    result.inbox = live.inbox;
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
    const auto keys = keys_of(parsed->smtp_path);
    if (!keys)
        return;
    addresses_.evict(keys->exact);
    addresses_.evict(keys->catch_all);
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
