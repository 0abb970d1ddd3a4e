#include "mime/signed_content.hpp"

#include <openssl/asn1.h>
#include <openssl/err.h>

#include <algorithm>
#include <cstddef>

namespace tempinbox::mime {
namespace {

// Walks over the elements by OpenSSL's reader of tags. d2i_CMS_ContentInfo would build every
// certificate, algorithm and signer in memory: some seven bytes for each of a hostile message, and
// seconds that no deadline can end.
class cms_reader
{
public:
    explicit cms_reader(std::string_view bytes) : rest_(bytes) {}

    // Steps inside the next element, whose content may have an indefinite length.
    bool enter(int tag, int tag_class)
    {
        const auto next = take_header();
        if (!next || next->tag != tag || next->tag_class != tag_class || !next->is_constructed)
            return false;
        if (!next->is_indefinite)
            rest_ = rest_.substr(0, next->length);
        return true;
    }

    // The content of the next element, which must be a primitive.
    std::optional<std::string_view> take(int tag)
    {
        const auto next = take_header();
        if (!next || next->tag != tag || next->tag_class != V_ASN1_UNIVERSAL ||
            next->is_constructed)
            return std::nullopt;
        return take_bytes(next->length);
    }

    // Steps over the next element, whatever is in it.
    bool skip(int tag)
    {
        const auto first = take_header();
        if (!first || first->tag != tag || first->tag_class != V_ASN1_UNIVERSAL)
            return false;
        std::size_t open = first->is_indefinite ? 1 : 0;
        take_bytes(first->length);
        while (open != 0) {
            const auto next = take_header();
            if (!next)
                return false;
            if (next->is_end())
                --open;
            else if (next->is_indefinite)
                ++open;
            take_bytes(next->length);
        }
        return true;
    }

    // An octet string whole, or in pieces within pieces.
    bool take_octets(std::string& out)
    {
        constexpr std::size_t max_depth = 8;
        std::size_t open = 0;
        std::size_t ends[max_depth]; // of those with a length: the bytes behind them
        do {
            const auto next = take_header();
            if (!next)
                return false;
            if (next->is_end()) {
                if (open == 0 || ends[open - 1] != is_open)
                    return false;
                --open;
            } else if (next->tag != V_ASN1_OCTET_STRING || next->tag_class != V_ASN1_UNIVERSAL ||
                       (next->is_constructed && open == max_depth)) {
                return false;
            } else if (!next->is_constructed) {
                out += take_bytes(next->length);
            } else {
                ends[open++] = next->is_indefinite ? is_open : rest_.size() - next->length;
            }
            while (open != 0 && ends[open - 1] != is_open && rest_.size() <= ends[open - 1])
                --open;
        } while (open != 0);
        return true;
    }

private:
    static constexpr std::size_t is_open = static_cast<std::size_t>(-1);

    struct header
    {
        int tag = 0;
        int tag_class = 0;
        bool is_constructed = false;
        bool is_indefinite = false;
        std::size_t length = 0; // 0 if it is indefinite

        bool is_end() const
        {
            return tag == V_ASN1_EOC && tag_class == V_ASN1_UNIVERSAL && length == 0;
        }
    };

    std::optional<header> take_header()
    {
        constexpr int error_bit = 0x80;
        constexpr int indefinite_bit = 0x01;
        const auto* const begin = reinterpret_cast<const unsigned char*>(rest_.data());
        const auto* at = begin;
        long length = 0;
        header next;
        const int found = ASN1_get_object(&at, &length, &next.tag, &next.tag_class,
                                          static_cast<long>(rest_.size()));
        if ((found & error_bit) != 0 || length < 0)
            return std::nullopt;
        rest_.remove_prefix(static_cast<std::size_t>(at - begin));
        next.is_constructed = (found & V_ASN1_CONSTRUCTED) != 0;
        next.is_indefinite = (found & indefinite_bit) != 0;
        next.length = next.is_indefinite ? 0 : static_cast<std::size_t>(length);
        return next;
    }

    std::string_view take_bytes(std::size_t count)
    {
        const auto taken = rest_.substr(0, count);
        rest_.remove_prefix(taken.size());
        return taken;
    }

    std::string_view rest_;
};

std::optional<std::string> read_content(std::string_view cms)
{
    constexpr std::string_view signed_data = "\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02";
    constexpr int context = V_ASN1_CONTEXT_SPECIFIC;
    cms_reader reader(cms);
    std::string content;
    // ContentInfo, SignedData and its EncapsulatedContentInfo.
    if (reader.enter(V_ASN1_SEQUENCE, V_ASN1_UNIVERSAL) &&
        reader.take(V_ASN1_OBJECT) == signed_data && reader.enter(0, context) &&
        reader.enter(V_ASN1_SEQUENCE, V_ASN1_UNIVERSAL) && reader.take(V_ASN1_INTEGER) &&
        reader.skip(V_ASN1_SET) && reader.enter(V_ASN1_SEQUENCE, V_ASN1_UNIVERSAL) &&
        reader.take(V_ASN1_OBJECT) && reader.enter(0, context) && reader.take_octets(content))
        return content;
    return std::nullopt;
}

} // namespace

std::optional<std::string> signed_content(std::string_view cms)
{
    // The queue of errors belongs to this thread's TLS too.
    ERR_set_mark();
    auto content = read_content(cms);
    ERR_pop_to_mark();
    return content;
}

} // namespace tempinbox::mime
