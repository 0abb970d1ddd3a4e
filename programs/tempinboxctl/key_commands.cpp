#include "tempinboxctl/command.hpp"

#include "tempinboxctl/session.hpp"

namespace tempinbox::ctl {
namespace {

awaitable<result<command_result>> create(session& suite, arguments given)
{
    const auto account = co_await suite.find_account(given.at("ACCOUNT"));
    if (!account)
        co_return account.error();
    auto label = *given.value("label");
    const auto made = co_await suite.keys().create(account->id(), key_id::make(), std::move(label),
                                                   accounts::key_allowance::operator_made);
    if (!made)
        co_return made.error();
    record fields;
    fields.add("keyId", made->record.id.text())
        .add("label", made->record.label)
        .add("key", made->key.reveal());
    co_return command_result(std::move(fields));
}

awaitable<result<command_result>> list(session& suite, arguments given)
{
    const auto account = co_await suite.find_account(given.at("ACCOUNT"));
    if (!account)
        co_return account.error();
    const auto keys = co_await suite.keys().list(account->id());
    if (!keys)
        co_return keys.error();
    const auto& limits = account->state.limits_at(system_clock_source{}.now());
    std::vector<record> all;
    for (const auto& key : *keys) {
        auto& fields = all.emplace_back();
        fields.add("keyId", key.id.text())
            .add("label", key.label)
            .add("prefix", key.prefix)
            .add_time("createdAt", key.created_at);
        fields.add_time("lastUsedAt", key.last_used_at)
            .add("isActive",
                 limits.api_access && key.position <= limits.api_keys && !key.is_suspended)
            .add("isSuspended", key.is_suspended);
    }
    co_return command_result("keys", std::move(all));
}

// The account is optional: the key id suffices to find it.
awaitable<result<account_id>> owner_of(session& suite, const arguments& given, key_id key)
{
    const auto named = given.positional_of("ACCOUNT");
    if (!named)
        co_return co_await suite.keys().find_account(key);
    const auto account = co_await suite.find_account(*named);
    if (!account)
        co_return account.error();
    co_return account->id();
}

using key_change = awaitable<result<void>> (accounts::key_repository::*)(account_id, key_id);

// `outcome` is the field of the result that says what was done.
awaitable<result<command_result>> change(session& suite, arguments given, key_change made,
                                         const char* outcome)
{
    const auto key = key_id::parse(given.at("KEY"));
    if (!key)
        co_return key.error();
    const auto account = co_await owner_of(suite, given, *key);
    if (!account)
        co_return account.error();
    const auto changed = co_await (suite.keys().*made)(*account, *key);
    if (!changed)
        co_return changed.error();
    record fields;
    fields.add("keyId", key->text()).add(outcome, true);
    co_return command_result(std::move(fields));
}

awaitable<result<command_result>> revoke(session& suite, arguments given)
{
    return change(suite, std::move(given), &accounts::key_repository::revoke, "revoked");
}

awaitable<result<command_result>> activate(session& suite, arguments given)
{
    return change(suite, std::move(given), &accounts::key_repository::activate, "activated");
}

} // namespace

std::vector<command> key_commands()
{
    const positional account("ACCOUNT", "id or email address of the account");
    std::vector<command> commands;

    auto& creating = commands.emplace_back("key create",
                                           "Creates an API key; this is the only time it is shown");
    creating.positionals.push_back(account);
    creating.options.emplace_back("label", "L", "what the key is for, 1 to 100 characters",
                                  option::kind::required);
    creating.run = create;

    auto& listing = commands.emplace_back("key list", "Lists an account's API keys, oldest first");
    listing.positionals.push_back(account);
    listing.run = list;

    auto& revoking =
        commands.emplace_back("key revoke", "Revokes an API key, refused everywhere within 1 s");
    revoking.positionals.emplace_back("ACCOUNT", "id or email address of the account",
                                      need::optional);
    revoking.positionals.emplace_back("KEY", "keyId of the key");
    revoking.run = revoke;

    auto& activating = commands.emplace_back(
        "key activate", "Activates an API key that `restore settle` suspended, within 1 s");
    activating.positionals.emplace_back("ACCOUNT", "id or email address of the account",
                                        need::optional);
    activating.positionals.emplace_back("KEY", "keyId of the key");
    activating.run = activate;
    return commands;
}

} // namespace tempinbox::ctl
