#include "mime/view.hpp"

#include "common/core/text.hpp"
#include "mime/addresses.hpp"
#include "mime/charset.hpp"
#include "mime/date.hpp"
#include "mime/filename.hpp"
#include "mime/flowed.hpp"
#include "mime/structure.hpp"

namespace tempinbox::mime {
namespace {

constexpr std::size_t preview_characters = 200;

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
        found_.reply_to = addresses("Reply-To");
        for (const auto& address : found_.to)
            summary.to_header.push_back(address.address);
        if (const auto* subject = find_field(root(), "Subject"))
            summary.subject = decoded_value(*subject);
        if (const auto* id = find_field(root(), "Message-ID"))
            summary.message_id = decoded_value(*id);
        if (const auto* date = find_field(root(), "Date"))
            found_.date = parse_date(coded_value(*date));
    }

    void read_parts()
    {
        find_roots();
        for (std::size_t i = 0; i < from_.parts.size(); ++i) {
            if (std::chrono::steady_clock::now() > deadline_) {
                defects_.insert("deadline");
                return;
            }
            const auto& one = from_.parts[i];
            if (!one.is_multipart && !is_nothing(one))
                read_leaf(one);
        }
    }

    bool is_nothing(const part& one) const
    {
        return one.parent >= 0 && one.fields.empty() && one.body.empty();
    }

    // The text root of an attached message is not listed by itself: the message is the attachment.
    bool is_text_of_inner_message(const part& one) const
    {
        return one.is_in_message && one.type.type.starts_with("text/") &&
               one.placement.kind != "attachment" && shown_name(one).empty();
    }

    static std::string shown_name(const part& one)
    {
        return safe_filename(one.placement.filename.empty() ? one.type.name
                                                            : one.placement.filename);
    }

    const part* parent_of(const part& one) const
    {
        return one.parent < 0 ? nullptr : &from_.parts[static_cast<std::size_t>(one.parent)];
    }

    // The part named by the `start` of its multipart/related, if it is text (RFC 2387 3.2).
    bool is_start(const part& one) const
    {
        const auto* parent = parent_of(one);
        return parent && !parent->type.start.empty() &&
               (one.is_multipart || one.type.type.starts_with("text/")) &&
               without_brackets(one.content_id) == without_brackets(parent->type.start);
    }

    void find_roots()
    {
        for (const auto& one : from_.parts)
            if (is_start(one))
                has_root_.insert(one.parent);
    }

    bool could_be_body(const part& one) const
    {
        if (one.is_in_message || one.is_message || one.placement.kind == "attachment")
            return false;
        if (has_root_.contains(one.parent) && !is_start(one))
            return false;
        const bool is_root = one.parent < 0;
        return is_root || (one.placement.filename.empty() && one.type.name.empty());
    }

    void read_leaf(const part& one)
    {
        if (could_be_body(one)) {
            if (one.type.type == "text/plain" && text_part_ == nullptr) {
                text_part_ = &one;
                return;
            }
            // Of two alternatives the later is richer (RFC 2046 5.1.4); elsewhere the first is the
            // body.
            if (one.type.type == "text/html" &&
                (html_part_ == nullptr || are_alternatives(*html_part_, one))) {
                html_part_ = &one;
                return;
            }
            if (one.type.type == "text/x-amp-html" || one.type.type == "text/watch-html")
                return;
        }
        if (!is_text_of_inner_message(one))
            add_attachment(one);
    }

    bool are_alternatives(const part& a, const part& b) const
    {
        return a.parent >= 0 && a.parent == b.parent &&
               parent_of(a)->type.type == "multipart/alternative";
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
        bool is_damaged = false;
        listed.size = static_cast<std::int64_t>(decoded_size(one.encoding, one.body, is_damaged));
        note_damage(one, is_damaged);
        found_.attachments.push_back(std::move(listed));
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

    std::string read_text(const part& one)
    {
        const bool has_odd_lines = has_bare_newline_ && one.encoding != encoding::base64;
        auto body = has_odd_lines ? decode(one.encoding, with_whole_newlines(one.body))
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

    void finish_texts()
    {
        has_bare_newline_ = has_bare_newline(raw_);
        if (html_part_)
            found_.html = read_text(*html_part_);
        if (text_part_) {
            found_.text = read_text(*text_part_);
            if (text_part_->type.is_flowed)
                found_.text = unflow(*found_.text, text_part_->type.deletes_space);
        }
        const bool is_text_blank = !found_.text || trim(*found_.text).empty();
        if (found_.html && is_text_blank) {
            found_.page = html::read_visible_page(*found_.html);
            found_.text = take_bytes(found_.page->text, limits_.text_bytes);
            found_.is_text_derived = true;
            if (found_.page->is_cut)
                defects_.insert("html_cut");
        }
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
    bool has_bare_newline_ = false; // anywhere in the message
    const part* text_part_ = nullptr;
    const part* html_part_ = nullptr;
    std::set<int> has_root_; // multiparts that have the part their `start` names
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
