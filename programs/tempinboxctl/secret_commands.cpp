#include "tempinboxctl/command.hpp"

#include "common/core/text.hpp"
#include "common/http/resolve.hpp"
#include "common/rpc/webhook_methods.hpp"
#include "tempinboxctl/session.hpp"

#include "tempinbox/webhooks/v1/secret_service.pb.h"

namespace tempinbox::ctl {
namespace {

using namespace webhooks::v1;

constexpr std::int64_t default_batch = 200;
constexpr std::chrono::seconds resolve_timeout{5};

std::vector<record> other_keys(const CountSecretsResponse& counted)
{
    std::vector<record> keys;
    for (const auto& entry : counted.keys())
        if (entry.key_id() != counted.current_key_id())
            keys.emplace_back().add("key", entry.key_id()).add("secrets", entry.secrets());
    return keys;
}

// Responses that gateways store sealed for repeated requests; they expire by themselves.
awaitable<void> add_stored_responses(session& suite, std::string key_id, record& fields)
{
    if (!suite.has_database()) {
        fields.add("keptAnswers", record::field()).add("keptAnswersEndAt", record::field());
        co_return;
    }
    const auto stored = co_await suite.stored_responses().count_sealed_otherwise(std::move(key_id));
    fields.add("keptAnswers", stored.count).add_time("keptAnswersEndAt", stored.last_end);
}

// A replica behind one of the addresses, and its first key.
struct sealing_replica
{
    std::string address;
    std::string key_id;
};

failure unavailable(const host_port& replica, const std::string& reason)
{
    return failure{errc::unavailable, "the replica " + replica.text() +
                                          " of the webhook dispatcher does not say which master "
                                          "keys it has: " +
                                          reason};
}

// Every address behind every name: a single one whose file lags would not open what the others seal
// anew, and the calls of a client would not find it.
awaitable<result<std::vector<sealing_replica>>> ask_replicas(session& suite)
{
    std::vector<sealing_replica> found;
    for (const auto& named : suite.chosen().webhook_dispatcher_rpc) {
        const auto until = std::chrono::steady_clock::now() + resolve_timeout;
        const auto resolved = co_await http::resolve(suite.host().loop(), {}, named.host, until);
        if (resolved.addresses.empty())
            co_return unavailable(named, "the name has no address");
        for (const auto& address : resolved.addresses) {
            const host_port replica{address.to_string(), named.port};
            rpc::client client(suite.host(), {replica}, suite.tokens(), suite.calls(named.host));
            const auto counted = co_await client.call(webhook_methods::count_secrets, {});
            if (!counted)
                co_return unavailable(replica, counted.error().message);
            found.push_back({replica.text(), counted->current_key_id()});
        }
    }
    co_return found;
}

// The key that all replicas seal with; a conflict while their files differ.
awaitable<result<std::string>> find_common_key(session& suite)
{
    const auto replicas = co_await ask_replicas(suite);
    if (!replicas)
        co_return replicas.error();
    const auto& first = replicas->front();
    for (const auto& other : *replicas)
        if (other.key_id != first.key_id)
            co_return failure{errc::conflict,
                              "the replica " + other.address + " seals with the master key " +
                                  quote(other.key_id) + ", " + first.address + " with " +
                                  quote(first.key_id) +
                                  ": nothing was resealed; try again when all have read the same "
                                  "master-key-file"};
    co_return first.key_id;
}

awaitable<result<command_result>> reseal(session& suite, arguments given)
{
    const auto batch = given.integer("batch", 1, 1'000);
    if (!batch)
        co_return batch.error();
    const auto key_id = co_await find_common_key(suite);
    if (!key_id)
        co_return key_id.error();

    auto& dispatcher = suite.webhook_dispatcher();
    std::int64_t resealed = 0, unopened = 0;
    ResealSecretsRequest request;
    request.set_key_id(*key_id);
    request.set_limit(static_cast<int>(batch->value_or(default_batch)));
    bool has_more = true;
    while (has_more) {
        const auto done = co_await dispatcher.call(webhook_methods::reseal_secrets, request);
        if (!done)
            co_return done.error();
        resealed += done->resealed();
        unopened += done->unopened();
        request.set_position(done->next_position());
        has_more = !done->next_position().empty();
    }

    const auto after = co_await dispatcher.call(webhook_methods::count_secrets, {});
    if (!after)
        co_return after.error();
    record fields;
    fields.add("currentKey", *key_id).add("resealed", resealed).add("unopened", unopened);
    fields.add("remaining", other_keys(*after));
    co_await add_stored_responses(suite, *key_id, fields);
    co_return command_result(std::move(fields));
}

awaitable<result<command_result>> count(session& suite, arguments)
{
    const auto counted =
        co_await suite.webhook_dispatcher().call(webhook_methods::count_secrets, {});
    if (!counted)
        co_return counted.error();
    std::vector<record> keys;
    for (const auto& entry : counted->keys())
        keys.emplace_back()
            .add("key", entry.key_id())
            .add("secrets", entry.secrets())
            .add("isCurrent", entry.key_id() == counted->current_key_id());
    co_return command_result("keys", std::move(keys));
}

} // namespace

std::vector<command> secret_commands()
{
    std::vector<command> commands;
    auto& resealing = commands.emplace_back(
        "secrets reseal", "Seals all webhook secrets with the first key of the master-key-file; "
                          "run it again where it was interrupted");
    resealing.options.emplace_back("batch", "N", "secrets a call, 1 to 1000; without it 200",
                                   option::kind::optional);
    resealing.run = reseal;

    auto& counting = commands.emplace_back(
        "secrets count", "Counts the webhook secrets by the master key that seals them");
    counting.run = count;
    return commands;
}

} // namespace tempinbox::ctl
