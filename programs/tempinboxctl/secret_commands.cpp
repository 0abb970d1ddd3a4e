#include "tempinboxctl/command.hpp"

#include "common/rpc/webhook_methods.hpp"
#include "tempinboxctl/session.hpp"

#include "tempinbox/webhooks/v1/secret_service.pb.h"

namespace tempinbox::ctl {
namespace {

using namespace webhooks::v1;

constexpr std::int64_t default_batch = 200;

std::vector<record> other_keys(const CountSecretsResponse& counted)
{
    std::vector<record> keys;
    for (const auto& entry : counted.keys())
        if (entry.key_id() != counted.current_key_id())
            keys.emplace_back().add("key", entry.key_id()).add("secrets", entry.secrets());
    return keys;
}

// Responses that gateways store sealed for repeated requests; they expire by themselves within a
// day.
awaitable<void> add_stored_responses(session& suite, std::string key_id, record& fields)
{
    if (!suite.has_database()) {
        fields.add("keptAnswers", record::field()).add("keptAnswersEndAt", record::field());
        co_return;
    }
    const auto stored = co_await suite.stored_responses().count_sealed_otherwise(std::move(key_id));
    fields.add("keptAnswers", stored.count).add_time("keptAnswersEndAt", stored.last_end);
}

awaitable<result<command_result>> reseal(session& suite, arguments given)
{
    const auto batch = given.integer("batch", 1, 1'000);
    if (!batch)
        co_return batch.error();
    auto& dispatcher = suite.webhook_dispatcher();
    const auto before = co_await dispatcher.call(webhook_methods::count_secrets, {});
    if (!before)
        co_return before.error();

    std::int64_t resealed = 0, unopened = 0;
    ResealSecretsRequest request;
    request.set_key_id(before->current_key_id());
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
    fields.add("currentKey", before->current_key_id())
        .add("resealed", resealed)
        .add("unopened", unopened);
    fields.add("remaining", other_keys(*after));
    co_await add_stored_responses(suite, before->current_key_id(), fields);
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
