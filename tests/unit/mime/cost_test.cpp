#include "mime/structure.hpp"

#include "unit/mime/mails.hpp"

#include <catch2/catch.hpp>

#include <tuple>

using namespace tempinbox;
using testing::has_defect;
using testing::mail;
using testing::repeated;

namespace {

// What the reading of a mail keeps and decodes, in numbers: linear or bounded is seen without a clock.
struct cost
{
    std::size_t parts = 0;
    std::size_t fields = 0;
    std::size_t field_bytes = 0;
    std::size_t leaf_bytes = 0; // what decoding and measuring walk over
    std::size_t id_bytes = 0;
    int depth = 0;

    explicit cost(std::string_view raw)
    {
        mime::start();
        for (const auto& one : mime::read_structure(raw, {}).parts) {
            ++parts;
            fields += one.fields.size();
            for (const auto& entry : one.fields)
                field_bytes += entry.name.size() + entry.value.size();
            if (!one.is_multipart && !one.is_message)
                leaf_bytes += one.body.size();
            id_bytes += one.id.size();
            depth = std::max(depth, one.depth);
        }
    }
    bool operator==(const cost&) const = default;
};

std::size_t bytes_of(const mime::view& view)
{
    const auto size_of = [](const std::optional<std::string>& text) { return text ? text->size() : 0; };
    std::size_t total = view.summary.subject.size() + view.summary.preview.size() + size_of(view.text) + size_of(view.html);
    for (const auto& [name, value] : view.headers)
        total += name.size() + value.size();
    for (const auto& one : view.attachments)
        total += one.id.size() + one.filename.size() + one.content_type.size();
    for (const auto& list : {view.to, view.cc, view.reply_to})
        for (const auto& [name, address] : list)
            total += name.size() + address.size();
    return total;
}

std::string header_lines(std::size_t count)
{
    return mail("Subject: hi\n" + repeated("X-Y: z\n", count) + "\nbody\n");
}

std::string nested_multiparts(int count)
{
    std::string text;
    for (int i = 0; i < count; ++i) {
        const auto boundary = "b" + std::to_string(i);
        text += "Content-Type: multipart/mixed; boundary=" + boundary + "\n\n--" + boundary + "\n";
    }
    return mail(text + "\nx\n");
}

std::string nested_messages(std::size_t count)
{
    return mail(repeated("Content-Type: message/rfc822\n\n", count) + "Subject: x\n\nx\n");
}

std::string many_parts(std::size_t count)
{
    return mail("Content-Type: multipart/mixed; boundary=b\n\n" + repeated("--b\n\nx\n", count));
}

} // namespace

TEST_CASE("what is kept of a header does not grow with it once it is past the limits", "[mime][torture-4]")
{
    const auto some = header_lines(10'000);
    const auto many = header_lines(1'000'000);
    CHECK(cost(some) == cost(many));
    CHECK(cost(many).fields <= 1'000);
    CHECK(bytes_of(mime::read_view(some)) == bytes_of(mime::read_view(many)));

    const auto one_field = mail("Subject: " + std::string(10'000'000, 'x') + "\n\nbody\n");
    CHECK(cost(one_field).field_bytes == 0);
    const auto folded = mail("Subject: hi\nX-Long: a\n" + repeated(" " + std::string(70, 'a') + "\n", 140'000) + "\nbody\n");
    CHECK(cost(folded).field_bytes <= 260 * 1024);
    for (const auto* raw : {&one_field, &folded}) {
        const auto view = mime::read_view(*raw);
        CHECK(has_defect(view, "header_truncated"));
        CHECK(view.text == "body\r\n");
        CHECK(bytes_of(view) <= 260 * 1024);
    }
}

TEST_CASE("nesting past the depth that is followed costs nothing more", "[mime][torture-19]")
{
    for (const auto& [some, many] : {std::pair(nested_multiparts(200), nested_multiparts(20'000)),
                                     std::pair(nested_messages(200), nested_messages(20'000))}) {
        const cost found(many);
        CHECK(found.parts == cost(some).parts);
        CHECK(found.id_bytes == cost(some).id_bytes);
        CHECK(found.depth == 100);
        CHECK(found.fields <= 101);
        CHECK(found.leaf_bytes <= many.size());
        CHECK(has_defect(mime::read_view(many), "too_deep"));
    }
}

TEST_CASE("parts past the number that is listed cost nothing more", "[mime][torture-20]")
{
    const auto many = many_parts(100'000);
    CHECK(cost(many) == cost(many_parts(2'000)));
    CHECK(cost(many).parts == 1'000);
    CHECK(cost(many).leaf_bytes <= many.size());
    CHECK(bytes_of(mime::read_view(many)) == bytes_of(mime::read_view(many_parts(2'000))));
    CHECK(has_defect(mime::read_view(many), "too_many_parts"));

    // The last one that fits holds a message whose header is still to come.
    const auto digest = mail("Content-Type: multipart/digest; boundary=b\n\n" + repeated("--b\n\n", 2'000));
    CHECK(cost(digest).parts == 1'000);
    CHECK_FALSE(has_defect(mime::read_view(digest), "boundary_not_found"));
}

TEST_CASE("no byte of a mail is in two leaves", "[mime][torture-18]")
{
    const std::string inner = "Content-Type: multipart/mixed; boundary=i\n\npreamble\n--i\n\none\n--i--\nepilogue\n";
    const auto raw = mail("Content-Type: multipart/mixed; boundary=o\n\n--o\n" + inner + "--o\nContent-Type: message/rfc822\n\n" +
                          inner + "--o\n\n--o--\nlate\n");
    CHECK(cost(raw).leaf_bytes < raw.size());
}
