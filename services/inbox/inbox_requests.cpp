#include "inbox/inbox_requests.hpp"

#include "common/core/text.hpp"
#include "mailbox/address_rules.hpp"

namespace tempinbox::inbox {
namespace {

constexpr int most_tags = 10;
constexpr int most_pairs = 20;

bool has_control(std::string_view text)
{
    return std::any_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f;
    });
}

result<void> check_text(const std::string& field, std::string_view given, std::size_t least, std::size_t most)
{
    const auto characters = count_characters(given);
    if (characters < least || characters > most)
        return failure{errc::invalid_argument, field + " must have " + std::to_string(least) + " to " + std::to_string(most) +
                                                   " characters, not " + std::to_string(characters)};
    if (has_control(given) || !is_valid_utf8(given))
        return failure{errc::invalid_argument, field + " must not hold control characters: " + quote(given)};
    return {};
}

result<void> check_words(const v1::CreateInboxRequest& request)
{
    if (request.has_name())
        if (auto fits = check_text("name", request.name(), 1, 100); !fits)
            return fits;
    if (request.tags_size() > most_tags)
        return failure{errc::invalid_argument, "tags must be at most 10, not " + std::to_string(request.tags_size())};
    for (const auto& tag : request.tags())
        if (auto fits = check_text("each of tags", tag, 1, 50); !fits)
            return fits;
    if (static_cast<int>(request.metadata_size()) > most_pairs)
        return failure{errc::invalid_argument,
                       "metadata must have at most 20 pairs, not " + std::to_string(request.metadata_size())};
    for (const auto& [key, value] : request.metadata()) {
        if (auto fits = check_text("each key of metadata", key, 1, 100); !fits)
            return fits;
        if (auto fits = check_text("each value of metadata", value, 0, 1'000); !fits)
            return fits;
    }
    return {};
}

} // namespace

result<mailbox::new_inbox> read_new_inbox(const v1::CreateInboxRequest& request)
{
    mailbox::new_inbox wanted;
    auto account = plans::from_proto(request.account());
    if (!account)
        return account.error();
    wanted.account = std::move(*account);
    const auto id = inbox_id::parse(request.inbox_id());
    if (!id)
        return id.error();
    wanted.id = *id;
    if (request.has_local_part()) {
        auto local_part = mailbox::parse_local_part(request.local_part());
        if (!local_part)
            return local_part.error();
        wanted.local_part = std::move(*local_part);
    }
    if (request.has_domain()) {
        auto domain = mailbox::parse_domain(request.domain());
        if (!domain)
            return domain.error();
        wanted.domain = std::move(*domain);
    }
    if (request.has_ttl_seconds())
        wanted.ttl = std::chrono::seconds(request.ttl_seconds());
    if (const auto fits = check_words(request); !fits)
        return fits.error();
    if (request.has_name())
        wanted.name = request.name();
    wanted.tags.assign(request.tags().begin(), request.tags().end());
    wanted.metadata.insert(request.metadata().begin(), request.metadata().end());
    return wanted;
}

result<mailbox::inbox_filter> read_filter(const v1::ListInboxesRequest& request)
{
    mailbox::inbox_filter filter;
    if (request.status() == v1::INBOX_STATUS_ACTIVE)
        filter.status = mailbox::inbox_status::active;
    else if (request.status() == v1::INBOX_STATUS_EXPIRED)
        filter.status = mailbox::inbox_status::expired;
    else if (request.status() != v1::INBOX_STATUS_UNSPECIFIED)
        return failure{errc::invalid_argument, "status must be active, expired or all"};
    if (request.has_tag()) {
        if (const auto fits = check_text("tag", request.tag(), 1, 50); !fits)
            return fits.error();
        filter.tag = request.tag();
    }
    if (request.has_address()) {
        if (const auto fits = check_text("address", request.address(), 1, 254); !fits)
            return fits.error();
        filter.address = request.address();
    }
    return filter;
}

result<int> read_limit(int given)
{
    constexpr int most = 100, usual = 25;
    if (given < 0 || given > most)
        return failure{errc::invalid_argument, "limit must be an integer from 1 to 100, not " + std::to_string(given)};
    return given == 0 ? usual : given;
}

} // namespace tempinbox::inbox
