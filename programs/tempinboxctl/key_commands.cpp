#include "tempinboxctl/command.hpp"

#include "common/core/text.hpp"
#include "tempinboxctl/session.hpp"

namespace tempinbox::ctl {
namespace {

result<accounts::key_access> read_access(const arguments& given)
{
    accounts::key_access access;
    if (given.has("scope"))
        access.scopes = accounts::scope_set();
    for (const auto& name : given.values("scope")) {
        const auto scope = accounts::parse_scope(name);
        if (!scope)
            return failure{errc::invalid_argument, "--scope must be one of " +
                                                       join_list(accounts::scope_names()) +
                                                       ", not " + quote(name)};
        access.scopes->add(*scope);
    }
    access.tag = given.value("tag");
    if (const auto text = given.value("expires-at")) {
        access.expires_at = parse_iso8601(*text);
        if (!access.expires_at)
            return failure{errc::invalid_argument,
                           "--expires-at must be a time such as 2027-01-31T10:00:00Z, not " +
                               quote(*text)};
    }
    return access;
}

// As the dashboard's API shows them.
void add_access(record& fields, const accounts::key_access& access)
{
    using field = record::field;
    fields.add("scopes", access.scopes ? field(access.scopes->names()) : field())
        .add("tag", access.tag ? field(*access.tag) : field())
        .add_time("expiresAt", access.expires_at);
}

awaitable<result<command_result>> create(session& suite, arguments given)
{
    auto access = read_access(given);
    if (!access)
        co_return access.error();
    const auto account = co_await suite.find_account(given.at("ACCOUNT"));
    if (!account)
        co_return account.error();
    auto label = *given.value("label");
    const auto made =
        co_await suite.keys().create(account->id(), key_id::make(), std::move(label),
                                     accounts::key_allowance::operator_made, std::move(*access));
    if (!made)
        co_return made.error();
    record fields;
    fields.add("keyId", made->record.id.text()).add("label", made->record.label);
    add_access(fields, made->record.access);
    fields.add("key", made->key.reveal());
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
    const auto now = system_clock_source{}.now();
    const auto& limits = account->state.limits_at(now);
    std::vector<record> all;
    for (const auto& key : *keys) {
        auto& fields = all.emplace_back();
        fields.add("keyId", key.id.text()).add("label", key.label).add("prefix", key.prefix);
        add_access(fields, key.access);
        fields.add_time("createdAt", key.created_at)
            .add_time("lastUsedAt", key.last_used_at)
            .add("isActive", key.is_active(limits, now))
            .add("isSuspended", key.is_suspended)
            .add("isExpired", key.access.has_expired(now));
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
    creating.options.emplace_back("scope", "SCOPE",
                                  "what the key may do, such as emails:read; may be repeated; "
                                  "without it: everything",
                                  option::kind::repeated);
    creating.options.emplace_back("tag", "TAG",
                                  "the key sees and makes only inboxes with this tag, and no "
                                  "webhooks");
    creating.options.emplace_back("expires-at", "TIME",
                                  "when the key ends, such as 2027-01-31T10:00:00Z");
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
