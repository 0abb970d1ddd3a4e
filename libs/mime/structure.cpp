#include "mime/structure.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "mime/charset.hpp"
#include "mime/line.hpp"
#include "mime/signed_content.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace tempinbox::mime {
namespace {

constexpr std::size_t max_boundary_bytes = 1'000;
constexpr int look_ahead_lines = 5;

// The fields that the view is made of: read wherever they stand.
constexpr std::string_view needed_fields[] = {"From",
                                              "To",
                                              "Cc",
                                              "Reply-To",
                                              "Subject",
                                              "Date",
                                              "Message-ID",
                                              "Content-Type",
                                              "Content-Transfer-Encoding",
                                              "Content-Disposition",
                                              "Content-ID"};

// Of each of these, behind a header that has used up its bytes.
constexpr std::size_t max_needed_bytes = std::size_t{64} * 1024;

constexpr std::string_view parameter_names[] = {"boundary",    "charset",    "delsp", "filename",
                                                "format",      "micalg",     "name",  "protocol",
                                                "report-type", "smime-type", "start", "type"};

// Builds the parts of one message from its lines.
class splitter
{
public:
    splitter(structure& out, const view_limits& limits,
             std::chrono::steady_clock::time_point deadline, std::string_view raw)
        : out_(out),
          limits_(limits),
          deadline_(deadline),
          raw_(raw)
    {}

    void run(int parent, std::string id, int depth, bool is_in_message)
    {
        if (!add_part(parent, std::move(id), depth, is_in_message, {}))
            return;
        std::size_t at = raw_.size() - without_byte_order_mark(raw_).size();
        // `From : a@b.test` is a field (RFC 5322 4.5), `From a@b.test` an mbox line.
        const auto first = parent < 0 && raw_.starts_with("From ") ? line_at(raw_, 0) : line{};
        if (!first.text.empty() && field_name(first.text).empty()) {
            at = first.end;
            out_.defects.insert("mbox_line");
        }
        if (!has_header(at))
            finish_header(at);
        while (at < raw_.size() && !is_full_) {
            const auto next = line_at(raw_, at);
            at = next.end;
            if (!take_boundary(next) && is_in_header_)
                at = take_header_line(next);
        }
        while (is_in_header_)
            finish_header(raw_.size());
        close_parts(raw_.size());
    }

private:
    struct open_multipart
    {
        int part = 0;
        std::string boundary;
        bool was_seen = false;
        bool is_ended = false; // the closing boundary was read
    };

    // Whether fields begin here, or a blank line ends an empty header block.
    bool has_header(std::size_t at) const
    {
        if (at >= raw_.size())
            return false;
        const auto first = line_at(raw_, at);
        if (first.text.empty() || !field_name(first.text).empty())
            return true;
        return first.end < raw_.size() && !field_name(line_at(raw_, first.end).text).empty();
    }

    bool add_part(int parent, std::string id, int depth, bool is_in_message,
                  std::string default_type)
    {
        const bool is_late = std::chrono::steady_clock::now() > deadline_;
        if (out_.parts.size() >= limits_.parts || (is_late && parent >= 0)) {
            out_.defects.insert(is_late ? "deadline" : "too_many_parts");
            is_full_ = true;
            is_in_header_ = false;
            return false;
        }
        auto& fresh = out_.parts.emplace_back();
        fresh.id = std::move(id);
        fresh.parent = parent;
        fresh.depth = depth;
        fresh.is_in_message = is_in_message;
        fresh.body = raw_.substr(raw_.size());
        if (!default_type.empty())
            fresh.type.type = std::move(default_type);
        current_ = static_cast<int>(out_.parts.size()) - 1;
        open_.push_back(current_);
        is_in_header_ = true;
        header_bytes_ = field_share_ = 0;
        has_needed_ = {};
        is_field_open_ = false;
        type_field_ = read_type_field_ = 0;
        own_boundary_.clear();
        return true;
    }

    part& current() { return out_.parts[static_cast<std::size_t>(current_)]; }

    // Returns where the next line begins; that is this line if the body has already begun.
    std::size_t take_header_line(const line& header_line)
    {
        if (header_line.text.empty()) {
            finish_header(header_line.end);
            return header_line.end;
        }
        if (header_line.text.front() == ' ' || header_line.text.front() == '\t') {
            extend_field(header_line.text);
            return header_line.end;
        }
        if (is_parameter(header_line.text)) {
            out_.defects.insert("bad_header_line");
            extend_field(header_line.text);
            return header_line.end;
        }
        const auto name = field_name(header_line.text);
        if (!name.empty()) {
            begin_field(name, header_line.text);
            return header_line.end;
        }
        out_.defects.insert("bad_header_line");
        if (begins_own_part(header_line)) {
            finish_header(header_line.begin);
            return header_line.begin;
        }
        if (fields_follow(header_line.end))
            return header_line.end;
        finish_header(header_line.begin); // RFC 7103 7.5: the blank line before the body is missing
        return header_line.begin;
    }

    void begin_field(std::string_view name, std::string_view text)
    {
        const auto needed = std::find_if(
            std::begin(needed_fields), std::end(needed_fields),
            [name](std::string_view known) { return equals_ignoring_ascii_case(name, known); });
        const bool is_first_needed =
            needed != std::end(needed_fields) &&
            !std::exchange(has_needed_[static_cast<std::size_t>(needed - needed_fields)], true);
        field_share_ = is_first_needed ? std::min(max_needed_bytes, limits_.header_bytes) : 0;
        auto& fields = current().fields;
        const bool is_too_many = !is_first_needed && fields.size() >= limits_.header_fields;
        if (is_too_many)
            out_.defects.insert("header_truncated");
        const auto kept = is_too_many ? std::string_view{} : take_of_budget(text);
        is_field_open_ = kept.size() == text.size();
        if (kept.size() <= name.size() + 1 && !is_field_open_)
            return;
        fields.push_back(field{name, kept.substr(kept.find(':') + 1)});
        if (equals_ignoring_ascii_case(name, "Content-Type"))
            type_field_ = fields.size();
    }

    void extend_field(std::string_view text)
    {
        auto& fields = current().fields;
        if (fields.empty() || !is_field_open_)
            return;
        const auto kept = take_of_budget(text);
        is_field_open_ = kept.size() == text.size();
        auto& value = fields.back().value;
        if (!kept.empty())
            value = std::string_view(
                value.data(), static_cast<std::size_t>(kept.data() + kept.size() - value.data()));
    }

    // What may be kept of a line. Past the header's budget a field that the view needs has a share
    // of its own, and is cut; others are left out whole.
    std::string_view take_of_budget(std::string_view text)
    {
        const auto left = limits_.header_bytes - header_bytes_;
        if (text.size() <= left) {
            header_bytes_ += text.size();
            return text;
        }
        out_.defects.insert("header_truncated");
        const auto kept = text.substr(0, whole_characters(text, field_share_));
        field_share_ -= kept.size();
        return kept;
    }

    // At most `bytes`, without a part of a character of UTF-8 at the end.
    static std::size_t whole_characters(std::string_view text, std::size_t bytes)
    {
        if (bytes >= text.size())
            return text.size();
        constexpr std::size_t max_more_bytes = 3;
        const auto min_bytes = bytes - std::min(bytes, max_more_bytes);
        for (auto end = bytes; end > min_bytes; --end)
            if ((static_cast<unsigned char>(text[end]) & 0xc0) != 0x80)
                return end;
        return bytes;
    }

    // `boundary="…"` at the beginning of a line, below a field that can have such a parameter.
    bool is_parameter(std::string_view text) const
    {
        const auto& fields = out_.parts[static_cast<std::size_t>(current_)].fields;
        if (fields.empty() ||
            !(equals_ignoring_ascii_case(fields.back().name, "Content-Type") ||
              equals_ignoring_ascii_case(fields.back().name, "Content-Disposition")))
            return false;
        const bool has_semicolon = text.front() == ';';
        text = trim(text.substr(has_semicolon ? 1 : 0));
        const auto name = trim(text.substr(0, std::min(text.find('='), text.size())));
        if (name.size() == text.size() || name.empty() || !is_parameter_name(name))
            return false;
        if (has_semicolon || trim(fields.back().value).ends_with(';'))
            return true;
        const auto base = name.substr(0, name.find('*'));
        return std::any_of(
            std::begin(parameter_names), std::end(parameter_names),
            [base](std::string_view known) { return equals_ignoring_ascii_case(base, known); });
    }

    static bool is_parameter_name(std::string_view text)
    {
        return std::all_of(text.begin(), text.end(), [](char c) {
            return is_letter_or_digit(c) || c == '-' || c == '_' || c == '*';
        });
    }

    // A multipart's first boundary directly after its fields, without the blank line. Each
    // Content-Type is parsed once, however many lines are compared.
    bool begins_own_part(const line& header_line)
    {
        if (type_field_ == 0 || !header_line.text.starts_with("--"))
            return false;
        if (std::exchange(read_type_field_, type_field_) != type_field_)
            own_boundary_ =
                parse_content_type(to_utf8(unfold(current().fields[type_field_ - 1].value), {}))
                    .boundary;
        return !own_boundary_.empty() && trim(header_line.text.substr(2)) == own_boundary_;
    }

    bool fields_follow(std::size_t at) const
    {
        for (int i = 0; i < look_ahead_lines && at < raw_.size(); ++i) {
            const auto next = line_at(raw_, at);
            if (next.text.empty())
                return true; // the blank line is there: the body begins after it
            if (!field_name(next.text).empty())
                return true;
            at = next.end;
        }
        return false;
    }

    void finish_header(std::size_t body_begin)
    {
        is_in_header_ = false;
        auto& ended = current();
        ended.body = raw_.substr(body_begin);
        read_content_fields(ended);
        if (ended.is_opaque)
            return;
        const int depth = ended.depth;
        if (ended.is_multipart) {
            open_multipart opened;
            opened.part = current_;
            opened.boundary = ended.type.boundary;
            multiparts_.push_back(std::move(opened));
            by_boundary_[multiparts_.back().boundary].push_back(multiparts_.size() - 1);
        } else if (ended.is_message && ended.encoding == encoding::identity) {
            const auto id = ended.id + ".1";
            ended.children = 1;
            const int parent = current_;
            if (add_part(parent, id, depth + 1, true, {}) && !has_header(body_begin))
                finish_header(body_begin);
        }
    }

    void read_content_fields(part& of)
    {
        // The last of several counts; parsing is expensive, so only that one is parsed.
        const std::string_view* type = nullptr;
        const std::string_view* placement = nullptr;
        for (const auto& [name, value] : of.fields) {
            if (equals_ignoring_ascii_case(name, "Content-Type")) {
                if (std::exchange(type, &value))
                    out_.defects.insert("duplicate_content_type");
            } else if (equals_ignoring_ascii_case(name, "Content-Disposition")) {
                placement = &value;
            } else if (equals_ignoring_ascii_case(name, "Content-Transfer-Encoding")) {
                const auto known = parse_encoding(unfold(value));
                of.encoding = known.value_or(encoding::identity);
                if (!known)
                    out_.defects.insert("unknown_encoding");
            } else if (equals_ignoring_ascii_case(name, "Content-ID")) {
                of.content_id = to_utf8(unfold(value), {});
            }
        }
        if (type)
            of.type = parse_content_type(to_utf8(unfold(*type), {}));
        if (placement)
            of.placement = parse_disposition(to_utf8(unfold(*placement), {}));
        if (of.type.is_broken)
            out_.defects.insert("bad_content_type");
        of.is_message = of.type.type == "message/rfc822" || of.type.type == "message/global";
        if (!of.type.type.starts_with("multipart/") && has_delimiter(of)) {
            of.type.type = "multipart/mixed";
            of.type.is_broken = of.is_message = false;
            out_.defects.insert("bad_content_type");
        }
        if (of.type.type.starts_with("multipart/"))
            read_boundary(of);
        if ((of.is_multipart || of.is_message) && of.depth >= static_cast<int>(limits_.depth)) {
            out_.defects.insert("too_deep");
            of.is_opaque = true;
            of.is_multipart = of.is_message = false;
            of.type = {};
            of.type.type = "application/octet-stream";
        }
        if (of.parent < 0 && !of.is_multipart)
            of.id = "1";
    }

    // `text/html; boundary=x` is what it says, unless it begins with the boundary, or has it in
    // front of a part's fields.
    static bool has_delimiter(const part& of)
    {
        constexpr int max_lines = 50;
        const auto boundary = trim(of.type.boundary);
        if (boundary.empty())
            return false;
        bool is_first = true;
        std::size_t at = 0;
        for (int i = 0; i < max_lines && at < of.body.size(); ++i) {
            const auto next = line_at(of.body, at);
            const auto text = trim(next.text);
            at = next.end;
            if (text.starts_with("--") && text.substr(2) == boundary)
                return is_first || begins_part_fields(of.body.substr(at));
            is_first = is_first && text.empty();
        }
        return false;
    }

    static bool begins_part_fields(std::string_view text)
    {
        constexpr std::string_view prefix = "Content-";
        return equals_ignoring_ascii_case(
            field_name(line_at(text, 0).text).substr(0, prefix.size()), prefix);
    }

    void read_boundary(part& of)
    {
        auto& boundary = of.type.boundary;
        boundary.erase(boundary.find_last_not_of(" \t") + 1);
        of.is_multipart = !boundary.empty() && boundary.size() <= max_boundary_bytes;
        if (!of.is_multipart) {
            out_.defects.insert("no_boundary");
            of.type.type = "text/plain";
        } else if (of.encoding != encoding::identity) {
            out_.defects.insert("encoded_multipart"); // RFC 2045 6.4 forbids it
            of.encoding = encoding::identity;
        }
    }

    // If the line is `--boundary` or `--boundary--` of an open multipart: closes the parts inside
    // and, for the former, begins the next part.
    bool take_boundary(const line& header_line)
    {
        if (by_boundary_.empty() || !header_line.text.starts_with("--"))
            return false;
        auto name = header_line.text.substr(2);
        name = name.substr(0, name.find_last_not_of(" \t") + 1);
        if (name.size() > max_boundary_bytes + 2)
            return false;
        auto found = by_boundary_.find(name);
        const bool is_delimiter = found != by_boundary_.end();
        if (!is_delimiter && name.ends_with("--"))
            found = by_boundary_.find(name.substr(0, name.size() - 2));
        if (found == by_boundary_.end())
            return false;
        const auto level = found->second.back();
        while (is_in_header_) // first the part's header, then that of the message it holds
            finish_header(header_line.begin);
        close_to(level, header_line.begin);
        auto& owner = multiparts_[level];
        owner.was_seen = true;
        if (!is_delimiter) {
            // From here on this boundary is an outer multipart's, or text.
            owner.is_ended = true;
            remove_boundary(owner.boundary);
            return true;
        }
        auto& parent = out_.parts[static_cast<std::size_t>(owner.part)];
        const auto id =
            (parent.id.empty() ? "" : parent.id + ".") + std::to_string(++parent.children);
        add_part(owner.part, id, parent.depth + 1, parent.is_in_message,
                 parent.type.type == "multipart/digest" ? "message/rfc822" : "");
        return true;
    }

    // Closes the inner multiparts and all parts below the one at `level`.
    void close_to(std::size_t level, std::size_t at)
    {
        while (multiparts_.size() > level + 1)
            close_multipart();
        const int owner = multiparts_[level].part;
        while (!open_.empty() && open_.back() != owner)
            close_part(at);
        current_ = owner;
    }

    void close_parts(std::size_t at)
    {
        while (!multiparts_.empty())
            close_multipart();
        while (!open_.empty())
            close_part(at);
    }

    // RFC 2046 5.1.1: the line break before a boundary belongs to the boundary.
    void close_part(std::size_t at)
    {
        auto& ended = out_.parts[static_cast<std::size_t>(open_.back())];
        open_.pop_back();
        const auto begin = static_cast<std::size_t>(ended.body.data() - raw_.data());
        auto end = at;
        if (at < raw_.size()) {
            if (end > begin && raw_[end - 1] == '\n')
                --end;
            if (end > begin && raw_[end - 1] == '\r')
                --end;
        }
        ended.body = raw_.substr(begin, end > begin ? end - begin : 0);
    }

    void close_multipart()
    {
        const auto& last = multiparts_.back();
        auto& owner = out_.parts[static_cast<std::size_t>(last.part)];
        if (!last.was_seen) {
            out_.defects.insert("boundary_not_found");
            owner.is_multipart = false;
            owner.type.type = "text/plain";
            if (owner.id.empty())
                owner.id = "1";
        } else if (!last.is_ended && !is_full_) { // nothing is known of parts that were not read
            out_.defects.insert("missing_end_boundary");
        }
        if (!last.is_ended)
            remove_boundary(last.boundary);
        multiparts_.pop_back();
    }

    void remove_boundary(const std::string& boundary)
    {
        const auto levels = by_boundary_.find(boundary);
        levels->second.pop_back();
        if (levels->second.empty())
            by_boundary_.erase(levels);
    }

    structure& out_;
    const view_limits& limits_;
    std::chrono::steady_clock::time_point deadline_;
    std::string_view raw_;
    int current_ = -1;
    std::vector<int> open_;
    std::vector<open_multipart> multiparts_;
    std::map<std::string, std::vector<std::size_t>, std::less<>> by_boundary_;
    bool is_in_header_ = true;
    bool is_full_ = false;
    std::size_t header_bytes_ = 0; // kept of the part's header, without shares
    std::size_t field_share_ = 0;  // what the last field may take past the header's budget
    std::array<bool, std::size(needed_fields)> has_needed_{};
    bool is_field_open_ = false;      // the last field was kept whole so far
    std::size_t type_field_ = 0;      // the number of the part's last Content-Type, from 1
    std::size_t read_type_field_ = 0; // the number of the Content-Type that own_boundary_ is from
    std::string own_boundary_;
};

// An opaque signature (RFC 8551 3.5.2). Without a smime-type the content says what it is.
bool may_be_signed(const part& one)
{
    const auto& type = one.type.type;
    const bool is_named_so = type == "application/octet-stream" &&
                             (equals_ignoring_ascii_case(one.placement.filename, "smime.p7m") ||
                              equals_ignoring_ascii_case(one.type.name, "smime.p7m"));
    if (type != "application/pkcs7-mime" && type != "application/x-pkcs7-mime" && !is_named_so)
        return false;
    return one.type.smime_type.empty() ||
           equals_ignoring_ascii_case(one.type.smime_type, "signed-data");
}

// Whether a signed content is an entity of a mail, and not a file: it has a blank line first, or
// fields that describe a part.
bool is_entity(std::string_view content)
{
    constexpr int max_lines = 100;
    std::size_t at = 0;
    for (int i = 0; i < max_lines && at < content.size(); ++i) {
        const auto next = line_at(content, at);
        if (next.text.empty())
            return i == 0;
        const bool is_folded = next.text.front() == ' ' || next.text.front() == '\t';
        const auto name = field_name(next.text);
        if (name.empty() && !(is_folded && i > 0))
            return false;
        constexpr std::string_view prefix = "Content-";
        if (equals_ignoring_ascii_case(name.substr(0, prefix.size()), prefix))
            return true;
        at = next.end;
    }
    return false;
}

// The entity inside a part: an encoded message, which RFC 2046 5.2.1 forbids but mail has, or what
// an opaque signature is around.
std::optional<std::string> read_entity(const part& holder)
{
    if (holder.is_message && holder.encoding != encoding::identity)
        return decode(holder.encoding, holder.body).bytes;
    if (!may_be_signed(holder))
        return std::nullopt;
    auto content = signed_content(decode(holder.encoding, holder.body).bytes);
    return content && is_entity(*content) ? std::move(content) : std::nullopt;
}

// The bytes decoded are bounded by `budget`, since what was decoded may hold more to decode.
void read_inner_entities(structure& found, const view_limits& limits,
                         std::chrono::steady_clock::time_point deadline, std::size_t budget)
{
    for (std::size_t i = 0; i < found.parts.size(); ++i) {
        auto& holder = found.parts[i];
        const bool is_signed = may_be_signed(holder);
        if (!is_signed && !(holder.is_message && holder.encoding != encoding::identity))
            continue;
        const bool is_too_deep = holder.depth >= static_cast<int>(limits.depth);
        if (is_too_deep)
            found.defects.insert("too_deep");
        if (is_too_deep || holder.body.size() > budget || found.parts.size() >= limits.parts ||
            std::chrono::steady_clock::now() > deadline)
            continue;
        budget -= holder.body.size();
        auto entity = read_entity(holder);
        if (!entity)
            continue;
        const std::string_view inner = found.decoded_entities.emplace_back(std::move(*entity));
        holder.children = 1;
        if (is_signed) {
            // Its parts are read as if they stood in its place.
            holder.is_multipart = true;
            found.defects.insert("signature_not_verified");
        }
        splitter(found, limits, deadline, inner)
            .run(static_cast<int>(i), holder.id + ".1", holder.depth + 1,
                 holder.is_in_message || !is_signed);
    }
}

// https://mimesniff.spec.whatwg.org, 3: bytes that occur in no text, searched in as many bytes as
// browsers examine.
bool holds_binary(std::string_view bytes)
{
    constexpr std::size_t max_head_bytes = 1'445;
    const auto head = bytes.substr(0, max_head_bytes);
    return std::any_of(head.begin(), head.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\f' &&
               c != '\r' && c != '\x1b';
    });
}

// A part without a valid type is plain text (RFC 2045 5.2), unless its bytes cannot be text.
void find_binary_parts(structure& found)
{
    constexpr std::size_t enough = 8'192; // encoded bytes to decode
    for (auto& one : found.parts)
        if (one.type.is_broken && !one.is_multipart &&
            holds_binary(decode(one.encoding, one.body.substr(0, enough)).bytes))
            one.type.type = "application/octet-stream";
}

} // namespace

const std::string_view* find_field(const part& of, std::string_view name)
{
    for (const auto& entry : of.fields)
        if (equals_ignoring_ascii_case(entry.name, name))
            return &entry.value;
    return nullptr;
}

structure read_structure(std::string_view raw, const view_limits& limits,
                         std::chrono::steady_clock::time_point deadline)
{
    structure found;
    splitter(found, limits, deadline, raw).run(-1, {}, 0, false);
    read_inner_entities(found, limits, deadline, 2 * raw.size());
    find_binary_parts(found);
    if (found.parts.front().fields.empty())
        found.defects.insert("no_header");
    if (found.parts.front().body.empty())
        found.defects.insert("no_body");
    return found;
}

} // namespace tempinbox::mime
