#include "inbox/api/inbox_requests.hpp"

#include "common/core/text.hpp"
#include "common/rpc/timestamp.hpp"
#include "common/rules/rules.hpp"
#include "mailbox/address_rules.hpp"

#include <algorithm>

namespace tempinbox::inbox {
namespace {

constexpr int max_tags = 10;
constexpr int max_metadata_pairs = 20;
constexpr int max_inboxes = 1'000;
constexpr std::size_t max_condition_length = 500;
constexpr int max_headers = 4;
constexpr std::size_t max_header_name_length = 100;
constexpr std::size_t digest_length = 32;
constexpr std::int64_t max_grace_seconds = 86'400;
// Of mail: as the life of an inbox, which no plan has longer.
constexpr std::int64_t min_age_seconds = 60;
constexpr std::int64_t max_age_seconds = 31'622'400;

bool has_control(std::string_view text)
{
    return std::any_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f;
    });
}

result<void> check_text(const std::string& field, std::string_view given, std::size_t min,
                        std::size_t max)
{
    const auto characters = count_characters(given);
    if (characters < min || characters > max)
        return failure{errc::invalid_argument,
                       field + " must have " + std::to_string(min) + " to " + std::to_string(max) +
                           " characters, not " + std::to_string(characters)};
    if (has_control(given) || !is_valid_utf8(given))
        return failure{errc::invalid_argument,
                       field + " must not hold control characters: " + quote(given)};
    return {};
}

template <class Texts>
result<void> check_tags(const Texts& tags)
{
    if (tags.size() > max_tags)
        return failure{errc::invalid_argument,
                       "tags must be at most 10, not " + std::to_string(tags.size())};
    for (const auto& tag : tags)
        if (auto fits = check_text("each of tags", tag, 1, 50); !fits)
            return fits;
    return {};
}

template <class Map>
result<void> check_metadata(const Map& metadata)
{
    if (static_cast<int>(metadata.size()) > max_metadata_pairs)
        return failure{errc::invalid_argument, "metadata must have at most 20 pairs, not " +
                                                   std::to_string(metadata.size())};
    for (const auto& [key, value] : metadata) {
        if (auto fits = check_text("each key of metadata", key, 1, 50); !fits)
            return fits;
        if (auto fits = check_text("each value of metadata", value, 0, 500); !fits)
            return fits;
    }
    return {};
}

result<void> check_digest(const std::string& given)
{
    if (given.size() == digest_length)
        return {};
    return failure{errc::invalid_argument,
                   "password_sha256 must have 32 bytes, not " + std::to_string(given.size())};
}

result<mailbox::retention_change> read_retention(const v1::RetentionChange& message)
{
    mailbox::retention_change change;
    change.resets = message.reset();
    if (message.has_max_age_seconds()) {
        const auto seconds = message.max_age_seconds();
        if (seconds != 0 && (seconds < min_age_seconds || seconds > max_age_seconds))
            return failure{errc::invalid_argument, "max_age_seconds must be 0 or an integer from " +
                                                       std::to_string(min_age_seconds) + " to " +
                                                       std::to_string(max_age_seconds) + ", not " +
                                                       std::to_string(seconds)};
        change.max_age = std::chrono::seconds(seconds);
    }
    if (message.when_full() != v1::WHEN_FULL_UNSPECIFIED)
        change.drops_oldest = message.when_full() == v1::WHEN_FULL_DROP_OLDEST;
    return change;
}

// How long an inbox and its mail live, of a new inbox or a change.
template <class Request, class Parsed>
result<void> read_life(const Request& request, Parsed& parsed)
{
    if (request.has_retention()) {
        const auto retention = read_retention(request.retention());
        if (!retention)
            return retention.error();
        parsed.retention = *retention;
    }
    if (request.has_renew_on_use())
        parsed.renews_on_use = request.renew_on_use();
    return {};
}

result<void> check_words(const v1::CreateInboxRequest& request)
{
    if (request.has_name())
        if (auto fits = check_text("name", request.name(), 1, 100); !fits)
            return fits;
    if (auto fits = check_tags(request.tags()); !fits)
        return fits;
    return check_metadata(request.metadata());
}

result<void> check_words(const v1::UpdateInboxRequest& request)
{
    if (request.has_name())
        if (auto fits = check_text("name", request.name(), 0, 100); !fits)
            return fits;
    if (auto fits = check_tags(request.tags().tags()); !fits)
        return fits;
    return check_metadata(request.metadata().values());
}

// A text that an email must contain.
struct text_condition
{
    const char* name;
    bool is_given;
    const std::string& value;
    std::optional<std::string> mailbox::email_filter::* field;
};

result<void> read_condition(const text_condition& condition, mailbox::email_filter& filter)
{
    if (!condition.is_given)
        return {};
    if (auto fits = check_text(condition.name, condition.value, 1, max_condition_length); !fits)
        return fits;
    filter.*condition.field = condition.value;
    return {};
}

result<void> read_message_conditions(const v1::EmailFilter& message, mailbox::email_filter& filter)
{
    if (message.headers_size() > max_headers)
        return failure{errc::invalid_argument, "headers must be at most " +
                                                   std::to_string(max_headers) + ", not " +
                                                   std::to_string(message.headers_size())};
    for (const auto& header : message.headers()) {
        for (const auto& [name, value, max] :
             {std::tuple("a header's name", header.name(), max_header_name_length),
              std::tuple("a header's value", header.value(), max_condition_length)})
            if (auto fits = check_text(name, value, 1, max); !fits)
                return fits;
        filter.headers.push_back({header.name(), header.value()});
    }
    const text_condition text{"text", message.has_text(), message.text(),
                              &mailbox::email_filter::text};
    if (auto read = read_condition(text, filter); !read)
        return read;
    if (filter.text && rules::fold_text(*filter.text).empty())
        return failure{errc::invalid_argument, "text must have a character that is shown"};
    return {};
}

} // namespace

result<mailbox::new_inbox> read_new_inbox(const v1::CreateInboxRequest& request,
                                          const std::vector<std::string>& reserved_subdomains)
{
    mailbox::new_inbox parsed;
    auto account = plans::from_proto(request.account());
    if (!account)
        return account.error();
    parsed.account = std::move(*account);
    const auto id = inbox_id::parse(request.inbox_id());
    if (!id)
        return id.error();
    parsed.id = *id;
    if (request.local_part() == mailbox::catch_all_local_part) {
        parsed.local_part = request.local_part();
    } else if (request.has_local_part()) {
        auto local_part = mailbox::parse_local_part(request.local_part());
        if (!local_part)
            return local_part.error();
        parsed.local_part = std::move(*local_part);
    }
    if (request.has_domain()) {
        auto domain = parsed.is_catch_all() ? mailbox::parse_subdomain(request.domain())
                                            : mailbox::parse_domain(request.domain());
        if (!domain)
            return domain.error();
        const auto label = domain->substr(0, domain->find('.'));
        if (parsed.is_catch_all() &&
            std::find(reserved_subdomains.begin(), reserved_subdomains.end(), label) !=
                reserved_subdomains.end())
            return failure{errc::invalid_argument,
                           "domain must not begin with " + quote(label) + ", which is reserved"};
        parsed.domain = std::move(*domain);
    }
    if (request.has_ttl_seconds())
        parsed.ttl = std::chrono::seconds(request.ttl_seconds());
    if (const auto fits = check_words(request); !fits)
        return fits.error();
    if (request.has_name())
        parsed.name = request.name();
    parsed.tags.assign(request.tags().begin(), request.tags().end());
    parsed.metadata.insert(request.metadata().begin(), request.metadata().end());
    if (const auto read = read_life(request, parsed); !read)
        return read.error();
    if (!request.has_login())
        return parsed;
    auto login = read_new_login(request.login());
    if (!login)
        return login.error();
    parsed.login = std::move(*login);
    return parsed;
}

result<mailbox::new_login> read_new_login(const v1::NewLogin& login)
{
    const auto id = login_id::parse(login.login_id());
    if (!id)
        return id.error();
    if (const auto fits = check_digest(login.password_sha256()); !fits)
        return fits.error();
    return mailbox::new_login{*id, login.password_sha256()};
}

result<mailbox::login_rotation> read_rotation(const v1::RotateLoginRequest& request)
{
    const auto id = login_id::parse(request.rotation_id());
    if (!id)
        return id.error();
    if (const auto fits = check_digest(request.password_sha256()); !fits)
        return fits.error();
    if (request.grace_seconds() < 0 || request.grace_seconds() > max_grace_seconds)
        return failure{errc::invalid_argument, "grace_seconds must be an integer from 0 to " +
                                                   std::to_string(max_grace_seconds) + ", not " +
                                                   std::to_string(request.grace_seconds())};
    return mailbox::login_rotation{*id, request.password_sha256(),
                                   std::chrono::seconds(request.grace_seconds())};
}

result<inbox_owner> read_owner(const std::string& account, const v1::TaggedAccount* tagged)
{
    const auto id = account_id::parse(tagged ? tagged->account_id() : account);
    if (!id)
        return id.error();
    inbox_owner owner;
    owner.account = *id;
    if (!tagged)
        return owner;
    if (const auto fits = check_tag(tagged->tag()); !fits)
        return fits.error();
    owner.tag = tagged->tag();
    return owner;
}

std::vector<std::string> tags_of(const std::optional<std::string>& tag, const inbox_owner& owner)
{
    std::vector<std::string> tags;
    if (tag)
        tags.push_back(*tag);
    if (owner.tag && owner.tag != tag)
        tags.push_back(*owner.tag);
    return tags;
}

result<mailbox::inbox_filter> read_filter(const v1::ListInboxesRequest& request,
                                          const inbox_owner& owner)
{
    mailbox::inbox_filter filter;
    if (request.status() == v1::INBOX_STATUS_ACTIVE)
        filter.status = mailbox::inbox_status::active;
    else if (request.status() == v1::INBOX_STATUS_EXPIRED)
        filter.status = mailbox::inbox_status::expired;
    else if (request.status() != v1::INBOX_STATUS_UNSPECIFIED)
        return failure{errc::invalid_argument, "status must be active, expired or all"};
    if (request.has_tag()) {
        if (const auto fits = check_tag(request.tag()); !fits)
            return fits.error();
    }
    filter.tags = tags_of(request.has_tag() ? std::optional(request.tag()) : std::nullopt, owner);
    if (request.has_address()) {
        if (const auto fits = check_text("address", request.address(), 1, 254); !fits)
            return fits.error();
        filter.address = request.address();
    }
    return filter;
}

result<mailbox::inbox_change> read_change(const v1::UpdateInboxRequest& request)
{
    mailbox::inbox_change parsed;
    auto account = plans::from_proto(request.account());
    if (!account)
        return account.error();
    parsed.account = std::move(*account);
    const auto id = inbox_id::parse(request.inbox_id());
    if (!id)
        return id.error();
    parsed.id = *id;
    if (const auto fits = check_words(request); !fits)
        return fits.error();
    if (request.has_ttl_seconds())
        parsed.ttl = std::chrono::seconds(request.ttl_seconds());
    if (request.has_name())
        parsed.name = request.name();
    if (request.has_tags())
        parsed.tags.emplace(request.tags().tags().begin(), request.tags().tags().end());
    if (const auto read = read_life(request, parsed); !read)
        return read.error();
    parsed.removes_all_metadata = request.metadata().remove_all();
    for (const auto& key : request.metadata().removed())
        parsed.metadata.insert_or_assign(key, std::nullopt);
    for (const auto& [key, value] : request.metadata().values())
        parsed.metadata.insert_or_assign(key, value);
    return parsed;
}

result<mailbox::email_filter> read_filter(const v1::EmailFilter& message)
{
    using filter_type = mailbox::email_filter;
    filter_type filter;
    for (const auto& condition :
         {text_condition{"from", message.has_from(), message.from(), &filter_type::from},
          text_condition{"to", message.has_to(), message.to(), &filter_type::to},
          text_condition{"recipient", message.has_recipient(), message.recipient(),
                         &filter_type::recipient},
          text_condition{"subject", message.has_subject(), message.subject(),
                         &filter_type::subject}})
        if (const auto read = read_condition(condition, filter); !read)
            return read.error();
    if (message.has_has_code())
        filter.has_code = message.has_code();
    if (message.has_has_link())
        filter.has_link = message.has_link();
    if (message.has_link_kind())
        filter.link_kind = message.link_kind();
    if (message.has_has_attachment())
        filter.has_attachment = message.has_attachment();
    if (message.has_is_read())
        filter.is_read = message.is_read();
    if (message.has_since())
        filter.since = rpc::to_time(message.since());
    if (message.has_until())
        filter.until = rpc::to_time(message.until());
    if (const auto read = read_message_conditions(message, filter); !read)
        return read.error();
    return filter;
}

result<mailbox::email_query> read_email_query(const v1::ListEmailsRequest& request)
{
    mailbox::email_query query;
    const auto owner = read_owner(request);
    if (!owner)
        return owner.error();
    query.account = owner->account;
    if (request.has_tag())
        if (const auto fits = check_tag(request.tag()); !fits)
            return fits.error();
    query.tags = tags_of(request.has_tag() ? std::optional(request.tag()) : std::nullopt, *owner);
    if (!request.inbox_id().empty()) {
        if (!query.tags.empty())
            return failure{errc::invalid_argument,
                           "tags are for emails of all inboxes, not of one"};
        const auto inbox = inbox_id::parse(request.inbox_id());
        if (!inbox)
            return inbox.error();
        query.inbox = *inbox;
    }
    const auto limit = read_limit(request.limit());
    if (!limit)
        return limit.error();
    query.limit = *limit;
    query.cursor = request.cursor();
    query.order = to_list_order(request.oldest_first());
    if (request.after() < 0 || (request.after() > 0 && !query.inbox))
        return failure{errc::invalid_argument,
                       "after must be an integer from 0 and needs an inbox, not " +
                           std::to_string(request.after())};
    query.after = request.after();
    query.with_codes = !request.omit_codes();
    auto filter = read_filter(request.filter());
    if (!filter)
        return filter.error();
    query.filter = std::move(*filter);
    return query;
}

result<void> check_count(const char* field, int given, int max)
{
    if (given >= 1 && given <= max)
        return {};
    return failure{errc::invalid_argument, std::string(field) + " must have 1 to " +
                                               std::to_string(max) + " items, not " +
                                               std::to_string(given)};
}

result<std::pair<account_id, inbox_id>> read_inbox_name(const std::string& account,
                                                        const std::string& inbox)
{
    const auto owner = account_id::parse(account);
    if (!owner)
        return owner.error();
    const auto id = inbox_id::parse(inbox);
    if (!id)
        return id.error();
    return std::pair(*owner, *id);
}

result<std::vector<std::pair<account_id, inbox_id>>>
read_inbox_names(const google::protobuf::RepeatedPtrField<v1::InboxName>& names)
{
    if (const auto fits = check_count("inboxes", names.size(), max_inboxes); !fits)
        return fits.error();
    std::vector<std::pair<account_id, inbox_id>> inboxes;
    inboxes.reserve(static_cast<std::size_t>(names.size()));
    for (const auto& name : names) {
        const auto inbox = read_inbox_name(name);
        if (!inbox)
            return inbox.error();
        inboxes.push_back(*inbox);
    }
    return inboxes;
}

result<void> check_tag(const std::string& tag)
{
    return check_text("tag", tag, 1, 50);
}

result<int> read_limit(int given)
{
    constexpr int max = 100, default_limit = 25;
    if (given < 0 || given > max)
        return failure{errc::invalid_argument,
                       "limit must be an integer from 1 to 100, not " + std::to_string(given)};
    return given == 0 ? default_limit : given;
}

} // namespace tempinbox::inbox
