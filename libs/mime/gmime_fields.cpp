#include "mime/gmime_fields.hpp"

#include "common/core/text.hpp"
#include "mime/header.hpp"
#include "mime/parameters.hpp"

#include <gmime/gmime.h>

namespace tempinbox::mime {
namespace {

struct object_deleter
{
    template <class T>
    void operator()(T* object) const
    {
        g_object_unref(object);
    }
};

template <class T>
using owned = std::unique_ptr<T, object_deleter>;

struct options_deleter
{
    void operator()(GMimeParserOptions* options) const { g_mime_parser_options_free(options); }
};

// Loose everywhere, and the charsets of 8-bit bytes said: GMime would ask the locale.
const GMimeParserOptions* loose_options()
{
    static const std::unique_ptr<GMimeParserOptions, options_deleter> options = [] {
        GMimeParserOptions* made = g_mime_parser_options_new();
        g_mime_parser_options_set_address_compliance_mode(made, GMIME_RFC_COMPLIANCE_LOOSE);
        g_mime_parser_options_set_parameter_compliance_mode(made, GMIME_RFC_COMPLIANCE_LOOSE);
        g_mime_parser_options_set_rfc2047_compliance_mode(made, GMIME_RFC_COMPLIANCE_LOOSE);
        g_mime_parser_options_set_allow_addresses_without_domain(made, TRUE);
        const char* charsets[] = {"utf-8", "windows-1252", nullptr};
        g_mime_parser_options_set_fallback_charsets(made, charsets);
        return std::unique_ptr<GMimeParserOptions, options_deleter>(made);
    }();
    return options.get();
}

GMimeParserOptions* options()
{
    return const_cast<GMimeParserOptions*>(loose_options()); // only read by the parsers
}

std::string text_of(const char* text)
{
    return text ? to_clean_utf8(text) : std::string();
}

// A parameter; an encoded word in it, which RFC 2047 5 forbids, is decoded all the same.
std::string parameter(GMimeParamList* list, const char* name)
{
    GMimeParam* found = g_mime_param_list_get_parameter(list, name);
    auto value = found ? text_of(g_mime_param_get_value(found)) : std::string();
    bool has_raw_bytes = false;
    return value.find("=?") == std::string::npos ? value : decode_text(value, {}, has_raw_bytes);
}

// What GMime gets to see of a field with parameters: it spends some microseconds on each, and a mail has room for millions.
std::string bounded(const std::string& field)
{
    constexpr std::size_t longest = 16 * 1024;
    constexpr int most_parameters = 100;
    std::size_t end = 0;
    for (int i = 0; i <= most_parameters && end < field.size(); ++i)
        end = std::min(field.find(';', end + 1), field.size());
    return field.substr(0, std::min(end, longest));
}

// The same of a name to show, for which GMime is not loose enough: it takes pieces past a gap, and knows no charset but known
// ones.
std::string shown_parameter(const std::string& field, GMimeParamList* list, const char* name)
{
    auto extended = extended_parameter(field, name);
    return extended ? std::move(*extended) : parameter(list, name);
}

bool is_token(std::string_view text)
{
    return !text.empty() && text.size() <= 127 && std::all_of(text.begin(), text.end(), [](char c) {
        return c > 0x20 && c < 0x7f && std::string_view("()<>@,;:\\\"/[]?=").find(c) == std::string_view::npos;
    });
}

// As it was written: GMime shows A-labels in Unicode, which makes two domains look like one.
std::string written_address(InternetAddressMailbox* mailbox, const std::string& field)
{
    const auto shown = std::string(trim(text_of(internet_address_mailbox_get_addr(mailbox))));
    const bool is_ascii = std::all_of(shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (is_ascii || field.find(shown) != std::string::npos)
        return shown;
    const auto labels = std::string(trim(text_of(internet_address_mailbox_get_idn_addr(mailbox))));
    return labels.empty() ? shown : labels;
}

void collect(InternetAddressList* list, const std::string& field, std::size_t most, int depth,
             std::vector<mailbox_address>& found)
{
    constexpr int deepest = 8;
    const int count = internet_address_list_length(list);
    for (int i = 0; i < count && found.size() < most; ++i) {
        InternetAddress* entry = internet_address_list_get_address(list, i);
        if (INTERNET_ADDRESS_IS_GROUP(entry)) {
            if (InternetAddressList* members = internet_address_group_get_members(INTERNET_ADDRESS_GROUP(entry));
                members && depth < deepest)
                collect(members, field, most, depth + 1, found);
            continue;
        }
        mailbox_address address;
        bool has_raw_bytes = false;
        address.name = decode_text(text_of(internet_address_get_name(entry)), {}, has_raw_bytes);
        address.address = written_address(INTERNET_ADDRESS_MAILBOX(entry), field);
        if (!address.address.empty())
            found.push_back(std::move(address));
    }
}

// Groups do not nest (RFC 5322 3.4), but GMime follows them as if they did, on the stack.
bool could_nest_deep(std::string_view value)
{
    constexpr std::ptrdiff_t most_colons = 1'000;
    return std::count(value.begin(), value.end(), ':') > most_colons;
}

// `multipart/mixed boundary=x`: the semicolon is missing (RFC 2045 5.1).
std::string with_semicolon(const std::string& value)
{
    const auto slash = value.find('/');
    const auto type_end = slash == std::string::npos ? slash : value.find_first_of("; \t", slash);
    const auto parameter_begin = type_end == std::string::npos ? type_end : value.find_first_not_of(" \t", type_end);
    if (parameter_begin == std::string::npos || type_end == slash + 1 || value[type_end] == ';' ||
        value[parameter_begin] == ';' || value.find('=', parameter_begin) == std::string::npos || value[parameter_begin] == '(')
        return value;
    return value.substr(0, type_end) + "; " + value.substr(parameter_begin);
}

// `Undisclosed recipients:;`: no address is meant.
bool is_empty_group(std::string_view value)
{
    const auto colon = value.find(':');
    return colon != std::string_view::npos && value.find_first_not_of(" ;,\t", colon + 1) == std::string_view::npos;
}

} // namespace

void start()
{
    g_mime_init();
    loose_options();
}

content_type parse_content_type(const std::string& given_value)
{
    const auto value = with_semicolon(given_value);
    content_type parsed;
    const owned<GMimeContentType> given(g_mime_content_type_parse(options(), bounded(value).c_str()));
    if (!given) {
        parsed.type = "application/octet-stream";
        parsed.is_broken = true;
        return parsed;
    }
    const auto major = to_lower_ascii(text_of(g_mime_content_type_get_media_type(given.get())));
    const auto minor = to_lower_ascii(text_of(g_mime_content_type_get_media_subtype(given.get())));
    const auto named = trim(std::string_view(value).substr(0, value.find(';')));
    if (is_token(major) && is_token(minor) && named.find('/') != std::string_view::npos) {
        parsed.type = major + "/" + minor;
    } else {
        // RFC 2045 5.2 takes what is no type/subtype for plain text; here that is so for those that say text.
        parsed.is_broken = true;
        const auto word = to_lower_ascii(trim(named.substr(0, named.find('/'))));
        parsed.type = word == "text" ? "text/plain" : "application/octet-stream";
    }
    GMimeParamList* parameters = g_mime_content_type_get_parameters(given.get());
    parsed.charset = parameter(parameters, "charset");
    parsed.name = shown_parameter(value, parameters, "name");
    if (parsed.type.starts_with("multipart/"))
        parsed.boundary = parameter(parameters, "boundary");
    if (parsed.type == "multipart/related")
        parsed.start = parameter(parameters, "start");
    if (parsed.type == "text/plain") {
        parsed.is_flowed = equals_ignoring_ascii_case(parameter(parameters, "format"), "flowed");
        parsed.deletes_space = equals_ignoring_ascii_case(parameter(parameters, "delsp"), "yes");
    }
    return parsed;
}

disposition parse_disposition(const std::string& value)
{
    disposition parsed;
    const owned<GMimeContentDisposition> given(g_mime_content_disposition_parse(options(), bounded(value).c_str()));
    if (!given)
        return parsed;
    parsed.kind = to_lower_ascii(text_of(g_mime_content_disposition_get_disposition(given.get())));
    parsed.filename = shown_parameter(value, g_mime_content_disposition_get_parameters(given.get()), "filename");
    return parsed;
}

std::vector<mailbox_address> parse_addresses(const std::string& value, std::size_t most)
{
    std::vector<mailbox_address> found;
    const owned<InternetAddressList> list(could_nest_deep(value) ? nullptr
                                                                 : internet_address_list_parse(options(), value.c_str()));
    if (list)
        collect(list.get(), value, most, 0, found);
    if (found.empty() && !trim(value).empty() && !is_empty_group(value)) {
        mailbox_address raw;
        raw.address = to_clean_utf8(trim(value));
        found.push_back(std::move(raw));
    }
    return found;
}

std::optional<time_point> parse_date(const std::string& value)
{
    GDateTime* parsed = g_mime_utils_header_decode_date(value.c_str());
    if (!parsed)
        return std::nullopt;
    const auto seconds = g_date_time_to_unix(parsed);
    g_date_time_unref(parsed);
    constexpr std::int64_t year_10000 = 253'402'300'800;
    if (seconds < 0 || seconds >= year_10000)
        return std::nullopt;
    return time_point{std::chrono::seconds{seconds}};
}

} // namespace tempinbox::mime
