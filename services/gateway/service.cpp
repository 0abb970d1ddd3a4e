#include "gateway/service.hpp"

#include "common/crypto/digest.hpp"
#include "common/events/events.hpp"
#include "common/rpc/client.hpp"
#include "gateway/dashboard_api/routes.hpp"
#include "gateway/quota/rate_limit_headers.hpp"
#include "gateway/site/base_path.hpp"
#include "gateway/site/documentation.hpp"

#include <algorithm>
#include <array>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;

constexpr int schema_version = 1;

// Longer than the timeout of the waiting requests, because a late response still counts.
constexpr auto quota_deadline = 5s;
// Each step gets a part of the drain time, so one that hangs leaves time for the next.
constexpr auto publish_timeout = 3s;
constexpr auto flush_timeout = 1s;
constexpr auto list_ttl = 60s;
// Between full batches of the purge, so requests go first.
constexpr auto purge_batch_delay = 10ms;
constexpr auto purge_interval = 60s;

accounts::state_publisher account_events_of(runtime::host& host, outbox::publisher& publisher)
{
    return accounts::state_publisher(host.instance(), [&publisher](std::vector<outbox::row> rows) {
        publisher.publish(std::move(rows));
    });
}

// Each replica has its own client, because accounts belong to replicas.
quota_replica quota_replica_at(runtime::host& host, const host_port& address, rpc::tokens& tokens)
{
    const auto client = std::make_shared<rpc::client>(host, std::vector{address}, tokens);
    return quota_replica(address.text(), [client](ratelimit::v1::TakeQuotaRequest request) {
        return client->call<ratelimit::v1::TakeQuotaResponse>(
            "tempinbox.ratelimit.v1.RateLimitService/TakeQuota", std::move(request),
            quota_deadline);
    });
}

std::vector<quota_replica>
quota_replicas(runtime::host& host, const std::vector<host_port>& addresses, rpc::tokens& tokens)
{
    std::vector<quota_replica> replicas;
    replicas.reserve(addresses.size());
    for (const auto& address : addresses)
        replicas.push_back(quota_replica_at(host, address, tokens));
    return replicas;
}

// One connection, for reads that must not wait for others.
postgres::settings one_connection(postgres::settings chosen)
{
    chosen.connections = 1;
    return chosen;
}

// Lookups for strangers use at most a quarter of the connections.
std::size_t max_stranger_lookups(const postgres::settings& database)
{
    return std::max<std::size_t>(1, database.connections / 4);
}

// The sessions of an account have their own day: to rate-limit they are another account.
account_id sessions_of(account_id account)
{
    const auto digest = crypto::sha256("sessions of " + account.text());
    std::array<std::uint8_t, 16> bytes{};
    std::copy_n(digest.begin(), bytes.size(), bytes.begin());
    return account_id{uuid(bytes)};
}

poll_sources sources_of(inbox_client& inboxes, response_budget& memory)
{
    poll_sources sources;
    sources.find_first = [&inboxes](inbox::v1::FindFirstEmailsRequest request) {
        return inboxes.find_first_emails(std::move(request));
    };
    sources.find_email = [&inboxes](inbox::v1::GetEmailRequest request) {
        return inboxes.find_email(std::move(request));
    };
    sources.last_sequences = [&inboxes](inbox::v1::GetLastSequencesRequest request) {
        return inboxes.last_sequences(std::move(request));
    };
    sources.reserve_memory = [&memory](account_id account, std::size_t bytes) {
        return memory.try_reserve(account, bytes);
    };
    return sources;
}

pipeline_sources sources_of(key_cache& keys, key_uses& uses, quota_client& quota,
                            idempotent_calls& idempotency)
{
    pipeline_sources sources;
    sources.find_key = [&keys](std::string digest, lookups allowed) {
        return keys.find(std::move(digest), allowed);
    };
    sources.take_quota = [&quota](const plans::account_state& account) {
        return quota.take(account);
    };
    sources.last_known_quota = [&quota](const plans::account_state& account) {
        return quota.last_known(account);
    };
    sources.note_use = [&uses](const accounts::key_owner& owner, time_point now) {
        uses.note(owner, now);
    };
    sources.handle_idempotent = [&idempotency](http::request& received, caller& who,
                                               const route& operation) {
        return idempotency.handle(received, who, operation);
    };
    return sources;
}

dashboard_sources dashboard_sources_of(session_lookups& sessions, quota_client& quota,
                                       idempotent_calls& idempotency, std::int64_t requests_a_day,
                                       time_point started)
{
    dashboard_sources sources;
    sources.find_session = [&sessions](std::string digest, lookups allowed) {
        return sessions.find(std::move(digest), allowed);
    };
    if (requests_a_day > 0)
        sources.take_session_quota = [&quota, requests_a_day,
                                      version = to_unix_micros(started)](account_id account) {
            plans::account_state day;
            day.account = sessions_of(account);
            day.limits.requests_per_day = requests_a_day;
            day.version = version; // the gateway that started last decides
            return quota.take(day);
        };
    sources.last_known_quota = [&quota](const plans::account_state& account) {
        return quota.last_known(account);
    };
    sources.handle_idempotent = [&idempotency](http::request& received, caller& who,
                                               const route& operation) {
        return idempotency.handle(received, who, operation);
    };
    return sources;
}

http::server_hooks hooks_of(runtime::host& host)
{
    http::server_hooks hooks;
    hooks.complete_own_response = [&clock = host.clock()](const http::request&,
                                                          http::response& response) {
        complete_response_without_account(response, clock.now());
    };
    return hooks;
}

} // namespace

service::service(runtime::host& host, settings chosen)
    : host_(host),
      settings_(std::move(chosen)),
      admin_(host),
      tokens_(settings_.rpc_token_file),
      db_(host, settings_.database),
      changes_db_(host, one_connection(settings_.database)),
      producer_(host, settings_.kafka),
      publisher_(host, db_, producer_, "accounts"),
      accounts_(db_, account_events_of(host, publisher_)),
      plans_(db_, account_events_of(host, publisher_)),
      key_repository_(db_),
      changes_(changes_db_),
      strangers_(host, max_stranger_lookups(settings_.database)),
      keys_(host, key_repository_, changes_, strangers_),
      uses_(host, key_repository_),
      quota_(host, quota_replicas(host, settings_.rate_limit_rpc, tokens_)),
      rate_limit_replicas_(host, settings_.rate_limit_rpc,
                           [this](const auto& found) {
                               quota_.set_replicas(quota_replicas(host_, found, tokens_));
                           }),
      quota_days_(host, settings_.rate_limit_rpc, tokens_),
      inboxes_(host, settings_.inbox_rpc, tokens_),
      webhooks_(host, settings_.webhook_dispatcher_rpc, tokens_),
      idempotency_repository_(db_),
      idempotency_(host, idempotency_repository_, settings_.master_keys,
                   settings_.stored_keys_a_day),
      list_cache_(host, settings_.list_cache_bytes, list_ttl,
                  [this](inbox::v1::GetListVersionsRequest request) {
                      return inboxes_.list_versions(std::move(request));
                  }),
      response_budget_(settings_.response_bytes),
      long_polls_(host, sources_of(inboxes_, response_budget_), settings_.waits),
      sign_in_(db_),
      session_lookups_(sign_in_, strangers_),
      event_stream_(
          host, [this](std::string digest) { return is_open(std::move(digest)); },
          event_stream::check_times()),
      mail_events_(host, settings_.kafka,
                   {events::topics::email_received, events::topics::inbox_expired},
                   [this](const std::vector<kafka::record>& batch) { take_events(batch); }),
      operation_services_(accounts_, inboxes_, webhooks_, quota_days_, list_cache_,
                          response_budget_, long_polls_),
      operations_(operations_below("/v1", operation_services_)),
      api_(host.clock(), operations_, sources_of(keys_, uses_, quota_, idempotency_),
           settings_.trusted_proxies, response_budget_),
      gate_(sign_in_, strangers_),
      purge_task_(host, "old sessions not purged", [this] { return purge(); }),
      hasher_(host),
      session_issuer_(sign_in_, session_lookups_, settings_.trusted_proxies),
      sign_ins_(accounts_, sign_in_, gate_, hasher_, session_issuer_, event_stream_,
                settings_.who_signs_up, settings_.relay.is_set()),
      passwords_(sign_in_, gate_, hasher_, session_issuer_, event_stream_),
      relay_(host, settings_.relay),
      notices_(host, webhooks_, accounts_, relay_),
      email_verification_(accounts_, sign_in_, gate_, hasher_, session_issuer_, relay_,
                          settings_.who_signs_up),
      open_dashboard_operations_(
          open_dashboard_operations(sign_ins_, passwords_, email_verification_)),
      dashboard_operations_(dashboard_operations(operation_services_, plans_, key_repository_,
                                                 sign_ins_, passwords_, event_stream_,
                                                 session_issuer_)),
      dashboard_(host.clock(), open_dashboard_operations_, dashboard_operations_,
                 dashboard_sources_of(session_lookups_, quota_, idempotency_,
                                      settings_.session_requests_a_day, host.clock().now()),
                 settings_.trusted_proxies, response_budget_),
      dashboard_assets_(settings_.dashboard_files, settings_.base_path),
      server_(
          host, settings_.api, [this](http::request& received) { return handle(received); },
          hooks_of(host))
{
    db_.require_schema("accounts", schema_version);
    add_documentation(site_, settings_.base_path);
}

void service::take_events(const std::vector<kafka::record>& batch)
{
    long_polls_.take_events(batch);
    event_stream_.take_events(batch);
}

awaitable<http::response> service::handle(http::request& received)
{
    return settings_.base_path.empty() ? dispatch(received) : handle_below_base_path(received);
}

awaitable<http::response> service::handle_below_base_path(http::request& received)
{
    remove_base_path(received, settings_.base_path);
    auto response = co_await dispatch(received);
    add_base_path(response, settings_.base_path);
    co_return response;
}

awaitable<http::response> service::dispatch(http::request& received)
{
    if (pipeline::serves(received.path))
        return api_.handle(received);
    if (dashboard_pipeline::serves(received.path))
        return dashboard_.handle(received);
    if (dashboard_assets::serves(received.path))
        return handle_dashboard(received);
    return site_.dispatch(received);
}

awaitable<bool> service::is_open(std::string session_digest)
{
    const auto account = co_await sign_in_.find_session(std::move(session_digest));
    co_return account.has_value();
}

awaitable<http::response> service::handle_dashboard(http::request& received)
{
    received.route = "/dashboard/{file}";
    co_return dashboard_assets_.handle(received);
}

awaitable<std::chrono::microseconds> service::purge()
{
    const int ended = co_await sign_in_.purge();
    const int left = co_await accounts_.purge();
    const bool is_done = ended < accounts::sign_in_repository::batch_size &&
                         left < accounts::account_repository::batch_size;
    co_return is_done ? std::chrono::microseconds(purge_interval)
                      : std::chrono::microseconds(purge_batch_delay);
}

void service::start()
{
    admin_.start();
    keys_.start();
    uses_.start();
    idempotency_.start();
    purge_task_.start();
    notices_.start();
    quota_.start();
    rate_limit_replicas_.start();
    publisher_.start();
    mail_events_.start();
    long_polls_.start();
    server_.start();
}

awaitable<void> service::drain()
{
    // Requests: those that wait are ended, the others may finish.
    long_polls_.interrupt();
    event_stream_.interrupt();
    co_await server_.drain(host_.settings().drain_timeout - publish_timeout - flush_timeout);
    // Background work, and the usage and key uses that the requests left behind.
    mail_events_.stop();
    co_await long_polls_.stop();
    co_await rate_limit_replicas_.stop();
    co_await quota_.flush(flush_timeout);
    quota_.stop();
    co_await keys_.stop();
    co_await uses_.stop();
    co_await idempotency_.stop();
    co_await purge_task_.stop();
    co_await notices_.stop();
    hasher_.stop();
    relay_.stop();
    // Events come last: nothing adds any now.
    co_await publisher_.drain(publish_timeout);
    server_.stop();
    changes_db_.stop();
    db_.stop();
}

} // namespace tempinbox::gateway
