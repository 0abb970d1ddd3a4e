#include "mime/view.hpp"

#include "common/core/encoding.hpp"
#include "common/core/text.hpp"
#include "html/invisible.hpp"
#include "mime/addresses.hpp"
#include "mime/bodies.hpp"
#include "mime/charset.hpp"
#include "mime/date.hpp"
#include "mime/filename.hpp"
#include "mime/flowed.hpp"
#include "mime/structure.hpp"

#include <algorithm>
#include <map>

namespace tempinbox::mime {
namespace {

constexpr std::size_t preview_characters = 200;
constexpr std::size_t digest_passes = 4;

std::string_view without_brackets(std::string_view id)
{
    id = trim(id);
    return id.size() > 1 && id.front() == '<' && id.back() == '>' ? id.substr(1, id.size() - 2)
                                                                  : id;
}

// Text lines end in CRLF (RFC 2046 4.1.1); a bare LF counts as one, for listeners that accept bare
// newlines.
std::string with_whole_newlines(std::string_view body)
{
    std::string out;
    out.reserve(body.size() + body.size() / 32);
    for (auto rest = body; !rest.empty();) {
        const auto newline = rest.find('\n');
        const auto line = rest.substr(0, newline);
        out += line;
        if (newline == std::string_view::npos)
            break;
        out += line.ends_with('\r') ? "\n" : "\r\n";
        rest.remove_prefix(newline + 1);
    }
    return out;
}

// Builds the view of a structure.
class reader
{
public:
    reader(const structure& from, std::string_view raw, const view_limits& limits,
           std::chrono::steady_clock::time_point deadline)
        : from_(from),
          raw_(raw),
          limits_(limits),
          deadline_(deadline),
          defects_(from.defects)
    {}

    view read()
    {
        read_headers();
        read_parts();
        finish_texts();
        found_.summary.attachment_count = static_cast<int>(found_.attachments.size());
        found_.defects.assign(defects_.begin(), defects_.end());
        return std::move(found_);
    }

private:
    const part& root() const { return from_.parts.front(); }

    std::string decoded_value(std::string_view value)
    {
        bool has_raw_bytes = false;
        auto text = decode_text(unfold(value), root().type.charset, has_raw_bytes);
        if (has_raw_bytes)
            defects_.insert("8bit_header");
        if (value.find('\0') != std::string_view::npos)
            defects_.insert("nul_in_header");
        return text;
    }

    // For grammars that need encoded words undecoded.
    std::string coded_value(std::string_view value) const
    {
        const auto line = unfold(value);
        return is_valid_utf8(line) ? to_clean_utf8(line)
                                   : escape_raw_bytes(line, root().type.charset);
    }

    std::vector<email_address> addresses(std::string_view name)
    {
        std::vector<email_address> all;
        for (const auto& entry : root().fields) {
            if (!equals_ignoring_ascii_case(entry.name, name) || all.size() > limits_.addresses)
                continue;
            auto more =
                parse_addresses(coded_value(entry.value), limits_.addresses + 1 - all.size());
            all.insert(all.end(), std::make_move_iterator(more.addresses.begin()),
                       std::make_move_iterator(more.addresses.end()));
            if (more.lacks_comma)
                defects_.insert("missing_comma");
        }
        if (all.size() > limits_.addresses) {
            defects_.insert("too_many_addresses");
            all.resize(limits_.addresses);
        }
        return all;
    }

    void read_headers()
    {
        auto& summary = found_.summary;
        for (const auto& entry : root().fields) {
            found_.headers.emplace_back(std::string(entry.name), decoded_value(entry.value));
            if (equals_ignoring_ascii_case(entry.name, "Received"))
                ++summary.received_hops;
        }
        auto from = addresses("From");
        if (!from.empty()) {
            auto first = std::find_if(from.begin(), from.end(),
                                      [](const auto& one) { return is_address(one.address); });
            if (first == from.end())
                first = from.begin();
            summary.from = std::move(first->address);
            summary.from_name = std::move(first->name);
        }
        found_.to = addresses("To");
        found_.cc = addresses("Cc");
        found_.bcc = addresses("Bcc");
        found_.reply_to = addresses("Reply-To");
        if (const auto* subject = find_field(root(), "Subject"))
            summary.subject = decoded_value(*subject);
        if (const auto* id = find_field(root(), "Message-ID"))
            summary.message_id = decoded_value(*id);
        if (const auto* date = find_field(root(), "Date"))
            found_.date = parse_date(coded_value(*date));
    }

    void read_parts()
    {
        const auto found = find_bodies(from_);
        for (const int index : found.attachments) {
            if (is_late())
                break;
            add_attachment(at(index));
        }
        has_bare_newline_ = has_bare_newline(raw_);
        has_odd_lines_ =
            has_bare_newline_ || std::any_of(from_.decoded_entities.begin(),
                                             from_.decoded_entities.end(), has_bare_newline);
        read_html(found.html);
        read_text(found.text, found.html);
        read_page(found.html);
    }

    bool is_late()
    {
        const bool is_past = std::chrono::steady_clock::now() > deadline_;
        if (is_past)
            defects_.insert("deadline");
        return is_past;
    }

    const part& at(int index) const { return from_.parts[static_cast<std::size_t>(index)]; }

    static std::string shown_name(const part& one)
    {
        return safe_filename(one.placement.filename.empty() ? one.type.name
                                                            : one.placement.filename);
    }

    void add_attachment(const part& one)
    {
        attachment listed;
        listed.id = one.id;
        listed.content_type = one.type.type;
        listed.filename = shown_name(one);
        if (listed.filename.empty())
            listed.filename =
                made_up_filename(static_cast<int>(found_.attachments.size()) + 1, one.type.type);
        if (!trim(one.content_id).empty())
            listed.content_id = std::string(without_brackets(one.content_id));
        listed.is_inline =
            one.placement.kind == "inline" || (one.placement.kind.empty() && listed.content_id);
        note_damage(one, measure(one, listed));
        found_.attachments.push_back(std::move(listed));
    }

    // Whether the part is damaged.
    bool measure(const part& one, attachment& listed)
    {
        bool is_damaged = false;
        if (!limits_.with_digests || one.body.size() > digest_bytes_left_) {
            listed.size =
                static_cast<std::int64_t>(decoded_size(one.encoding, one.body, is_damaged));
            return is_damaged;
        }
        digest_bytes_left_ -= one.body.size();
        const auto found = digest_decoded(one.encoding, one.body);
        listed.size = static_cast<std::int64_t>(found.size);
        listed.sha256 = to_hex(found.sha256);
        return found.is_damaged;
    }

    void note_damage(const part& one, bool is_damaged)
    {
        if (is_damaged)
            defects_.insert(one.encoding == encoding::base64 ? "bad_base64"
                                                             : "bad_quoted_printable");
    }

    static std::string charset_of(const part& one, std::string_view bytes)
    {
        if (const auto marked = marked_charset(bytes, one.type.charset); !marked.empty())
            return std::string(marked);
        const bool needs_meta_charset =
            one.type.charset.empty() && one.type.type == "text/html" && !is_valid_utf8(bytes);
        return needs_meta_charset ? meta_charset(bytes) : one.type.charset;
    }

    std::string read_body(const part& one)
    {
        const bool is_odd = has_odd_lines_ && one.encoding != encoding::base64;
        auto body = is_odd ? decode(one.encoding, with_whole_newlines(one.body))
                           : decode(one.encoding, one.body);
        note_damage(one, body.is_damaged);
        // No charset in use needs more than four bytes for one of UTF-8, so later bytes cannot fit.
        const auto max_coded_bytes = 4 * limits_.text_bytes;
        const auto bytes = std::string_view(body.bytes).substr(0, max_coded_bytes);
        auto text =
            std::string(without_byte_order_mark(to_utf8(bytes, charset_of(one, body.bytes))));
        if (text.size() > limits_.text_bytes || body.bytes.size() > max_coded_bytes) {
            defects_.insert("text_truncated");
            text.resize(take_bytes(text, limits_.text_bytes).size());
        }
        return text;
    }

    // Each part is read once, although text and html may both show it.
    const std::string& body_of(int index)
    {
        auto [found, is_new] = bodies_.try_emplace(index);
        if (is_new) {
            const auto& one = at(index);
            found->second = read_body(one);
            if (one.type.is_flowed)
                found->second = unflow(found->second, one.type.deletes_space);
        }
        return found->second;
    }

    bool is_html(int index) const { return at(index).type.type == "text/html"; }

    // Shows one part below the other, within the bound.
    void add_below(std::string& whole, std::string_view more)
    {
        if (!whole.empty() && !whole.ends_with('\n'))
            whole += "\r\n";
        whole += more;
        if (whole.size() > limits_.text_bytes) {
            defects_.insert("text_truncated");
            whole.resize(take_bytes(whole, limits_.text_bytes).size());
        }
    }

    // Blank parts among others show nothing.
    template <class Show>
    std::string join(const std::vector<int>& parts, const Show& show)
    {
        std::string whole;
        for (const int index : parts) {
            if (is_late())
                break;
            if (whole.size() >= limits_.text_bytes) {
                defects_.insert("text_truncated");
                break;
            }
            if (parts.size() == 1 || !trim(body_of(index)).empty())
                add_below(whole, show(index));
        }
        return whole;
    }

    void read_html(const std::vector<int>& parts)
    {
        if (std::any_of(parts.begin(), parts.end(), [&](int it) { return is_html(it); }))
            found_.html = join(
                parts, [&](int it) { return is_html(it) ? body_of(it) : as_html(body_of(it)); });
    }

    static std::string as_html(std::string_view text)
    {
        return "<pre style=\"white-space:pre-wrap\">" +
               replace_all(replace_all(replace_all(text, "&", "&amp;"), "<", "&lt;"), ">", "&gt;") +
               "</pre>";
    }

    void read_text(const std::vector<int>& parts, const std::vector<int>& html_parts)
    {
        const bool has_words = std::any_of(parts.begin(), parts.end(), [&](int it) {
            return !is_html(it) && !trim(body_of(it)).empty();
        });
        found_.is_text_derived = found_.html && !has_words;
        const auto& shown = found_.is_text_derived ? html_parts : parts;
        if (!shown.empty())
            found_.text = join(shown, [&](int it) { return text_of(it); });
    }

    // Each page by itself, so that nothing left open in one hides another; all of a mail take no
    // more work than one may.
    const html::visible_page& page_of(int index)
    {
        auto [found, is_new] = pages_.try_emplace(index);
        if (is_new) {
            found->second = html::read_visible_page(body_of(index), page_steps_left_);
            page_steps_left_ -= found->second.steps;
            if (found->second.is_cut)
                defects_.insert("html_cut");
        }
        return found->second;
    }

    // Pages that were put together have a byte order mark in their middle, too.
    std::string text_of(int index)
    {
        return is_html(index) ? std::string(trim(without_byte_order_mark(page_of(index).text)))
                              : body_of(index);
    }

    void read_page(const std::vector<int>& html_parts)
    {
        if (!found_.html || !(found_.is_text_derived || limits_.with_page))
            return;
        auto& page = found_.page.emplace();
        page.html = join(html_parts, [&](int it) {
            return is_html(it) ? page_of(it).html : as_html(body_of(it));
        });
        page.text = join(html_parts, [&](int it) { return text_of(it); });
        page.shows_text = html::has_glyph(page.text);
    }

    void finish_texts()
    {
        if (found_.text)
            found_.summary.preview = make_preview(*found_.text);
        if (raw_.find('\0') != std::string_view::npos)
            defects_.insert("nul");
        if (has_bare_newline_)
            defects_.insert("bare_newline");
    }

    // Searches by memchr, which makes this cheap.
    static bool has_bare_newline(std::string_view raw)
    {
        for (std::size_t at = 0;;) {
            const auto newline = std::min(raw.find('\n', at), raw.size());
            const auto carriage = std::min(raw.substr(0, newline).find('\r', at), raw.size());
            if (newline == raw.size())
                return carriage < raw.size();
            if (carriage + 1 != newline)
                return true;
            at = newline + 1;
        }
    }

    // The beginning of the text, on one line.
    static std::string make_preview(std::string_view text)
    {
        std::string line;
        bool wants_blank = false;
        for (const char c : take_bytes(text, preview_characters * 16)) {
            if (line.size() >= preview_characters * 4) // enough bytes for any characters
                break;
            if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) {
                wants_blank = !line.empty();
                continue;
            }
            if (std::exchange(wants_blank, false))
                line.push_back(' ');
            line.push_back(c);
        }
        return std::string(take_characters(line, preview_characters));
    }

    const structure& from_;
    std::string_view raw_;
    const view_limits& limits_;
    std::chrono::steady_clock::time_point deadline_;
    view found_;
    std::set<std::string> defects_;
    bool has_bare_newline_ = false;     // anywhere in the message
    bool has_odd_lines_ = false;        // there, or in what was decoded
    std::map<int, std::string> bodies_; // parts that are shown, by their index
    std::map<int, html::visible_page> pages_;
    std::size_t page_steps_left_ = html::max_page_steps;
    std::size_t digest_bytes_left_ = digest_passes * raw_.size();
};

} // namespace

view read_view(std::string_view raw, const view_limits& limits)
{
    const auto deadline = std::chrono::steady_clock::now() + limits.time;
    const auto parts = read_structure(raw, limits, deadline);
    return reader(parts, raw, limits, deadline).read();
}

std::optional<std::string> read_attachment(std::string_view raw, std::string_view attachment_id,
                                           const view_limits& limits)
{
    const auto parts = read_structure(raw, limits);
    for (const auto& one : parts.parts)
        if (one.id == attachment_id && !one.is_multipart)
            return decode(one.encoding, one.body).bytes;
    return std::nullopt;
}

} // namespace tempinbox::mime
