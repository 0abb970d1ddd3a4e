#include "common/json/value.hpp"

#include "common/core/text.hpp"

#include <rapidjson/document.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace tempinbox::json {
namespace {

using node = rapidjson::Value;

constexpr unsigned strict_flags = rapidjson::kParseIterativeFlag |
                                  rapidjson::kParseNumbersAsStringsFlag |
                                  rapidjson::kParseInsituFlag;

constexpr double two_to_63 = 0x1p63;

const node& as_node(const void* pointer)
{
    return *static_cast<const node*>(pointer);
}

std::string_view view(const node& string)
{
    return {string.GetString(), string.GetStringLength()};
}

// Passes the reader's events to the document and refuses what RapidJSON accepts: excessive depth,
// repeated names, strings that are not UTF-8 (an escaped lone low surrogate makes one). Numbers
// come as text: RapidJSON 1.1 itself reads past its table of powers for some with hundreds of
// digits, and makes no number at all of some close to zero.
class strict_builder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, strict_builder>
{
public:
    strict_builder(rapidjson::Document& out, unsigned depth)
        : out_(out),
          depth_(depth),
          depth_left_(depth)
    {}

    const std::string& refusal() const { return refusal_; }

    bool Null() { return out_.Null(); }
    bool Bool(bool b) { return out_.Bool(b); }
    // What follows the text is not part of a number, or the reader would have consumed it.
    bool RawNumber(const char* text, rapidjson::SizeType length, bool)
    {
        const char* const end = text + length;
        if (std::string_view(text, length).find_first_of(".eE") == std::string_view::npos) {
            std::int64_t whole = 0;
            if (std::from_chars(text, end, whole).ec == std::errc())
                return out_.Int64(whole);
            std::uint64_t larger = 0;
            if (std::from_chars(text, end, larger).ec == std::errc())
                return out_.Uint64(larger);
        }
        const double number = std::strtod(text, nullptr);
        if (!std::isfinite(number))
            return refuse("a number too large");
        // JSON Schema: what has no fraction is an integer, however it is written (`5.0`, `1e1`).
        if (number == std::trunc(number) && number >= -two_to_63 && number < two_to_63)
            return out_.Int64(static_cast<std::int64_t>(number));
        return out_.Double(number);
    }

    bool String(const char* text, rapidjson::SizeType length, bool copy)
    {
        return check_text({text, length}) && out_.String(text, length, copy);
    }

    bool Key(const char* text, rapidjson::SizeType length, bool copy)
    {
        names_.emplace_back(text, length);
        return check_text({text, length}) && out_.Key(text, length, copy);
    }

    bool StartObject() { return enter() && out_.StartObject(); }
    bool StartArray() { return enter() && out_.StartArray(); }

    bool EndObject(rapidjson::SizeType members)
    {
        ++depth_left_;
        return check_names(members) && out_.EndObject(members);
    }

    bool EndArray(rapidjson::SizeType items)
    {
        ++depth_left_;
        return out_.EndArray(items);
    }

private:
    bool refuse(std::string why)
    {
        refusal_ = std::move(why);
        return false;
    }

    bool enter()
    {
        if (depth_left_ == 0)
            return refuse("nested deeper than " + std::to_string(depth_) + " levels");
        --depth_left_;
        return true;
    }

    bool check_text(std::string_view text)
    {
        return is_valid_utf8(text) || refuse("a string is not valid UTF-8");
    }

    // The names of open objects are on one stack; sorting those of the object that ends keeps a
    // hostile body linearithmic.
    bool check_names(std::size_t members)
    {
        const auto first = names_.end() - static_cast<std::ptrdiff_t>(members);
        std::sort(first, names_.end());
        const auto twice = std::adjacent_find(first, names_.end());
        if (twice != names_.end())
            return refuse("the name " + quote(*twice) + " is given twice");
        names_.erase(first, names_.end());
        return true;
    }

    rapidjson::Document& out_;
    const unsigned depth_;
    unsigned depth_left_;
    std::vector<std::string_view> names_;
    std::string refusal_;
};

std::string_view reason_of(rapidjson::ParseErrorCode code)
{
    switch (code) {
    case rapidjson::kParseErrorDocumentEmpty:
        return "the text is empty";
    case rapidjson::kParseErrorDocumentRootNotSingular:
        return "more text follows the value";
    case rapidjson::kParseErrorObjectMissName:
        return "missing the name of an object member";
    case rapidjson::kParseErrorObjectMissColon:
        return "missing a colon after the name of an object member";
    case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket:
        return "missing a comma or } after an object member";
    case rapidjson::kParseErrorArrayMissCommaOrSquareBracket:
        return "missing a comma or ] after an array item";
    case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex:
        return "\\u must be followed by four hexadecimal digits";
    case rapidjson::kParseErrorStringUnicodeSurrogateInvalid:
        return "half of a surrogate pair";
    case rapidjson::kParseErrorStringEscapeInvalid:
        return "an escape that JSON does not know, or a control character not escaped";
    case rapidjson::kParseErrorStringMissQuotationMark:
        return "missing the closing quotation mark of a string";
    case rapidjson::kParseErrorStringInvalidEncoding:
        return "a control character in a string that is not escaped";
    case rapidjson::kParseErrorNumberTooBig:
        return "a number too large";
    case rapidjson::kParseErrorNumberMissFraction:
        return "missing digits after the decimal point";
    case rapidjson::kParseErrorNumberMissExponent:
        return "missing digits in an exponent";
    default:
        return "not a JSON value";
    }
}

failure invalid_at(std::string_view text, std::size_t offset, std::string_view why)
{
    const auto before = text.substr(0, std::min(offset, text.size()));
    const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
    const auto line_start = before.rfind('\n');
    const auto column =
        count_characters(before.substr(line_start == std::string_view::npos ? 0 : line_start + 1)) +
        1;
    return failure{errc::invalid_argument,
                   "body is not valid JSON at line " + std::to_string(line) + ", column " +
                       std::to_string(column) + ": " + std::string(why),
                   error_reason::invalid_json};
}

[[noreturn]] void throw_kind(std::string_view expected, std::string_view given)
{
    throw failure_error(failure{errc::invalid_argument, "JSON: expected " + std::string(expected) +
                                                            ", found " + std::string(given)});
}

} // namespace

// Strings stay where they were in the text; the pool grows in chunks of the text's size instead of
// RapidJSON's 64 KiB.
struct value::document
{
    explicit document(std::string_view source)
        : text(source),
          pool(std::clamp<std::size_t>(source.size() * 2, 512, 64 * 1024)),
          root(&pool)
    {}

    std::string text;
    rapidjson::MemoryPoolAllocator<> pool;
    rapidjson::Document root;
};

result<value> value::parse(std::string_view text, const limits& allowed)
{
    if (text.size() > allowed.bytes)
        return failure{errc::payload_too_large,
                       "body must be at most " + std::to_string(allowed.bytes) + " bytes of JSON",
                       error_reason::too_large};
    // The in-place reader would take a zero byte for the end.
    if (const auto zero = text.find('\0'); zero != std::string_view::npos)
        return invalid_at(text, zero, "a zero byte");

    const auto owner = std::make_shared<document>(text);
    strict_builder builder(owner->root, allowed.depth);
    rapidjson::Reader reader;
    auto read = [&](rapidjson::Document&) {
        rapidjson::InsituStringStream stream(owner->text.data());
        return !reader.Parse<strict_flags>(stream, builder).IsError();
    };
    owner->root.Populate(read);
    if (reader.HasParseError()) {
        const bool is_refused = reader.GetParseErrorCode() == rapidjson::kParseErrorTermination;
        return invalid_at(text, reader.GetErrorOffset(),
                          is_refused ? std::string_view(builder.refusal())
                                     : reason_of(reader.GetParseErrorCode()));
    }
    return value(owner, static_cast<const node*>(&owner->root));
}

bool value::is_object() const
{
    return as_node(node_).IsObject();
}

bool value::is_array() const
{
    return as_node(node_).IsArray();
}

bool value::is_string() const
{
    return as_node(node_).IsString();
}

bool value::is_bool() const
{
    return as_node(node_).IsBool();
}

bool value::is_integer() const
{
    return as_node(node_).IsInt64();
}

bool value::is_number() const
{
    return as_node(node_).IsNumber();
}

bool value::is_null() const
{
    return as_node(node_).IsNull();
}

std::string_view value::kind() const
{
    switch (as_node(node_).GetType()) {
    case rapidjson::kNullType:
        return "null";
    case rapidjson::kFalseType:
    case rapidjson::kTrueType:
        return "a boolean";
    case rapidjson::kObjectType:
        return "an object";
    case rapidjson::kArrayType:
        return "an array";
    case rapidjson::kStringType:
        return "a string";
    case rapidjson::kNumberType:
        return "a number";
    }
    return "null";
}

std::string value::text() const
{
    if (!is_string())
        throw_kind("a string", kind());
    return std::string(view(as_node(node_)));
}

std::int64_t value::integer() const
{
    if (!is_integer())
        throw_kind("an integer of 64 bits", kind());
    return as_node(node_).GetInt64();
}

double value::number() const
{
    if (!is_number())
        throw_kind("a number", kind());
    return as_node(node_).GetDouble();
}

bool value::boolean() const
{
    if (!is_bool())
        throw_kind("a boolean", kind());
    return as_node(node_).GetBool();
}

std::vector<value> value::items() const
{
    if (!is_array())
        throw_kind("an array", kind());
    std::vector<value> items;
    items.reserve(size());
    for (const auto& item : as_node(node_).GetArray())
        items.push_back(value(owner_, &item));
    return items;
}

std::vector<std::pair<std::string, value>> value::members() const
{
    if (!is_object())
        throw_kind("an object", kind());
    std::vector<std::pair<std::string, value>> members;
    members.reserve(size());
    for (const auto& member : as_node(node_).GetObject())
        members.emplace_back(view(member.name), value(owner_, &member.value));
    return members;
}

std::optional<value> value::find(std::string_view name) const
{
    if (!is_object())
        return std::nullopt;
    for (const auto& member : as_node(node_).GetObject())
        if (view(member.name) == name)
            return value(owner_, &member.value);
    return std::nullopt;
}

value value::operator[](std::string_view name) const
{
    auto found = find(name);
    if (!found)
        throw failure_error(failure{errc::not_found, "JSON: no member " + quote(name) + " in " +
                                                         std::string(kind())});
    return std::move(*found);
}

value value::operator[](std::size_t index) const
{
    if (!is_array() || index >= size())
        throw failure_error(failure{errc::not_found, "JSON: no item " + std::to_string(index) +
                                                         " in " + std::string(kind())});
    return value(owner_, &as_node(node_)[static_cast<rapidjson::SizeType>(index)]);
}

std::size_t value::size() const
{
    const auto& here = as_node(node_);
    if (here.IsObject())
        return here.MemberCount();
    return here.IsArray() ? here.Size() : 0;
}

std::string value::to_string() const
{
    rapidjson::StringBuffer text;
    rapidjson::Writer<rapidjson::StringBuffer> out(text);
    as_node(node_).Accept(out);
    return {text.GetString(), text.GetSize()};
}

} // namespace tempinbox::json
