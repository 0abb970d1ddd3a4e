#include "common/core/encoding.hpp"
#include "common/crypto/digest.hpp"
#include "fuzz/require.hpp"
#include "mime/view.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

using namespace tempinbox;
using fuzz::require;
using fuzz::require_clean;

namespace {

mime::view_limits tight_limits()
{
    mime::view_limits limits;
    limits.header_bytes = 300;
    limits.header_fields = 12;
    limits.parts = 8;
    limits.depth = 4;
    limits.addresses = 3;
    limits.text_bytes = 100;
    return limits;
}

void require_addresses(const std::vector<mime::email_address>& list,
                       const mime::view_limits& limits)
{
    require(list.size() <= limits.addresses, "addresses are bounded");
    for (const auto& [name, address] : list) {
        require_clean(name, "the name of an address is clean");
        require_clean(address, "an address is clean");
        require(!address.empty(), "an address is not empty");
    }
}

void require_attachments(const mime::view& view, std::string_view raw,
                         const mime::view_limits& limits)
{
    constexpr std::size_t max_read = 20;
    require(view.attachments.size() <= limits.parts, "attachments are bounded");
    std::set<std::string> ids;
    for (const auto& one : view.attachments) {
        require(ids.insert(one.id).second, "the ids of attachments differ");
        require(!one.filename.empty() && one.filename.size() <= 255,
                "a shown name has 1 to 255 bytes");
        require(one.filename.find_first_of("/\\\r\n") == std::string::npos,
                "a shown name is one component on one line");
        require_clean(one.filename, "a shown name is clean");
        require_clean(one.content_type, "a content type is clean");
        require(one.content_type == to_lower_ascii(one.content_type) &&
                    one.content_type.find('/') != std::string::npos,
                "a content type is lower case type/subtype");
        require_clean(one.content_id.value_or(""), "a content id is clean");
        require(one.size >= 0 && static_cast<std::size_t>(one.size) <= raw.size(),
                "decoding makes nothing larger");
        if (ids.size() > max_read)
            continue;
        const auto bytes = mime::read_attachment(raw, one.id, limits);
        require(bytes && bytes->size() == static_cast<std::size_t>(one.size),
                "a listed attachment can be read, as large as said");
        require(!one.sha256 || *one.sha256 == to_hex(crypto::sha256(*bytes)),
                "a digest is that of what can be read");
    }
    require(static_cast<std::size_t>(view.summary.attachment_count) == view.attachments.size(),
            "attachments are counted");
}

void require_view(const mime::view& view, std::string_view raw, const mime::view_limits& limits)
{
    const auto& summary = view.summary;
    for (const auto* text : {&summary.from, &summary.from_name, &summary.subject, &summary.preview})
        require_clean(*text, "a summary is clean");
    require(summary.subject.find_first_of("\r\n") == std::string::npos, "a subject is one line");
    require(count_characters(summary.preview) <= 200, "a preview is short");
    require_clean(summary.message_id.value_or(""), "a message id is clean");
    for (const auto* list : {&view.to, &view.cc, &view.reply_to})
        require_addresses(*list, limits);

    constexpr std::size_t needed_fields = 11; // each is read once more than the bound says
    require(view.headers.size() <= limits.header_fields + needed_fields, "fields are bounded");
    for (const auto& [name, value] : view.headers) {
        require_clean(name, "a field's name is clean");
        require_clean(value, "a field's value is clean");
        require(value.find_first_of("\r\n") == std::string::npos, "a field's value is one line");
        // An encoded word of one byte becomes three at most; so does a byte that is no UTF-8. A
        // field that is needed has as many bytes again.
        require(value.size() <= 8 * limits.header_bytes, "a field's value is bounded");
    }
    for (const auto* text : {&view.text, &view.html}) {
        require_clean(text->value_or(""), "a text is clean");
        require(text->value_or("").size() <= limits.text_bytes, "a text is bounded");
    }
    require(!view.is_text_derived || (view.text && view.html), "a text is derived from html alone");
    require(std::is_sorted(view.defects.begin(), view.defects.end()), "defects are in order");
    for (const auto& defect : view.defects)
        require(!defect.empty() &&
                    defect.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
                        std::string::npos,
                "a defect has a name");
    require(std::find(view.defects.begin(), view.defects.end(), "deadline") == view.defects.end(),
            "a view is found in time");
    require_attachments(view, raw, limits);
}

} // namespace

// Any bytes as a mail: the view is clean and bounded, and the mail itself stays unchanged.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size)
{
    const std::string raw(reinterpret_cast<const char*>(input), size);
    for (const auto& limits : {mime::view_limits{.with_digests = true}, tight_limits()})
        require_view(mime::read_view(raw, limits), raw, limits);
    require(raw == std::string_view(reinterpret_cast<const char*>(input), size),
            "the mail stays as it came");
    return 0;
}
