#include "mime/structure.hpp"

#include "unit/mime/mails.hpp"

#include <catch2/catch.hpp>

#include <ctime>
#include <limits>

using namespace tempinbox;
using testing::has_defect;
using testing::mail;
using testing::repeated;

namespace {

// What reading a mail keeps and decodes, in numbers: linear or bounded growth shows without a
// clock.
struct cost
{
    std::size_t parts = 0;
    std::size_t fields = 0;
    std::size_t field_bytes = 0;
    std::size_t leaf_bytes = 0; // bytes that decoding and measuring read
    std::size_t id_bytes = 0;
    int depth = 0;

    explicit cost(std::string_view raw)
    {
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

// A view without a deadline, so that the counts do not depend on the machine's speed.
mime::view read_whole(std::string_view raw)
{
    return mime::read_view(raw, {.time = std::chrono::minutes(10)});
}

std::size_t bytes_of(const mime::view& view)
{
    const auto size_of = [](const std::optional<std::string>& text) {
        return text ? text->size() : 0;
    };
    std::size_t total = view.summary.subject.size() + view.summary.preview.size() +
                        size_of(view.text) + size_of(view.html);
    for (const auto& [name, value] : view.headers)
        total += name.size() + value.size();
    for (const auto& one : view.attachments)
        total += one.id.size() + one.filename.size() + one.content_type.size();
    for (const auto& list : {view.to, view.cc, view.bcc, view.reply_to})
        for (const auto& [name, address] : list)
            total += name.size() + address.size();
    return total;
}

// The processor time of a view, the least of several runs: other load does not show in it.
double seconds_of(std::string_view raw)
{
    const auto now = [] {
        std::timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
    };
    auto min_seconds = std::numeric_limits<double>::max();
    for (int i = 0; i < 3; ++i) {
        const auto started = now();
        read_whole(raw);
        min_seconds = std::min(min_seconds, now() - started);
    }
    return min_seconds;
}

// Encoded words that take turns in charset.
std::string words(const std::vector<std::string>& charsets)
{
    std::string all;
    for (std::size_t i = 0; i < 7'000; ++i)
        all += "=?" + charsets[i % charsets.size()] + "?Q?=E4?= ";
    return all;
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

TEST_CASE("what is kept of a header does not grow with it once it is past the limits",
          "[mime][torture-4]")
{
    const auto some = header_lines(10'000);
    const auto many = header_lines(1'000'000);
    CHECK(cost(some) == cost(many));
    CHECK(cost(many).fields <= 1'000);
    CHECK(bytes_of(read_whole(some)) == bytes_of(read_whole(many)));

    const auto one_field = mail("Subject: " + repeated("x", 10'000'000) + "\n\nbody\n");
    CHECK(cost(one_field).field_bytes <= 64 * 1024);
    const auto folded = mail("Subject: hi\nX-Long: a\n" +
                             repeated(" " + std::string(70, 'a') + "\n", 140'000) + "\nbody\n");
    CHECK(cost(folded).field_bytes <= 330 * 1024);
    for (const auto* raw : {&one_field, &folded}) {
        const auto view = read_whole(*raw);
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
        CHECK(has_defect(read_whole(many), "too_deep"));
    }
}

TEST_CASE("parts past the number that is listed cost nothing more", "[mime][torture-20]")
{
    const auto many = many_parts(100'000);
    CHECK(cost(many) == cost(many_parts(2'000)));
    CHECK(cost(many).parts == 1'000);
    CHECK(cost(many).leaf_bytes <= many.size());
    CHECK(bytes_of(read_whole(many)) == bytes_of(read_whole(many_parts(2'000))));
    CHECK(has_defect(read_whole(many), "too_many_parts"));

    // The last part that fits holds a message whose header was not read yet.
    const auto digest =
        mail("Content-Type: multipart/digest; boundary=b\n\n" + repeated("--b\n\n", 2'000));
    CHECK(cost(digest).parts == 1'000);
    CHECK_FALSE(has_defect(read_whole(digest), "boundary_not_found"));
}

TEST_CASE("messages within messages are digested as long as that stays a few times their bytes",
          "[mime]")
{
    const auto raw = nested_messages(50) + std::string(100'000, 'x');

    const auto view =
        mime::read_view(raw, {.with_digests = true, .time = std::chrono::minutes(10)});

    std::size_t digested = 0;
    for (const auto& one : view.attachments)
        digested += one.sha256 ? static_cast<std::size_t>(one.size) : 0;
    REQUIRE(view.attachments.size() > 40);
    CHECK(view.attachments.front().sha256);
    CHECK(digested > raw.size());
    CHECK(digested <= 4 * raw.size());
}

TEST_CASE("no byte of a mail is in two leaves", "[mime][torture-18]")
{
    const std::string inner =
        "Content-Type: multipart/mixed; boundary=i\n\npreamble\n--i\n\none\n--i--\nepilogue\n";
    const auto raw = mail("Content-Type: multipart/mixed; boundary=o\n\n--o\n" + inner +
                          "--o\nContent-Type: message/rfc822\n\n" + inner + "--o\n\n--o--\nlate\n");
    CHECK(cost(raw).leaf_bytes < raw.size());
}

// Each once cost hundreds of times its control; now none costs ten times as much.

TEST_CASE("a content type is read once, however many lines could be its boundary",
          "[mime][torture-16]")
{
    const auto with_lines = [](std::string_view line) {
        return mail("Content-Type: multipart/mixed; boundary=z; " + repeated("*=;", 80'000) + "\n" +
                    repeated(repeated(line, 4) + "a:b\n", 190) + "\n--z\n\nx\n--z--\n");
    };
    CHECK(seconds_of(with_lines("--q\n")) < 20 * seconds_of(with_lines("x-q\n")));
}

TEST_CASE("changing the charset with each word costs no more than keeping it", "[mime][torture-5]")
{
    const std::vector<std::string> many{
        "KOI8-R", "EUC-JP", "BIG5",       "GB18030",    "CP437", "ISO-2022-KR",
        "EUC-KR", "CP850",  "Shift_JIS",  "ISO-8859-5", "CP852", "windows-1255",
        "KOI8-T", "VISCII", "ISO-8859-7", "IBM037",     "TSCII", "IBM1364"};
    for (const char* field : {"Subject: ", "From: ", "To: ", "X-Other: "}) {
        const auto mail_of = [field](const auto& charsets) {
            return mail(field + words(charsets) + "<a@b.test>\n\nx\n");
        };
        CHECK(seconds_of(mail_of(many)) < 20 * seconds_of(mail_of(std::vector{many.front()})));
    }
}

TEST_CASE("a long label of a charset is read once", "[mime][torture-8]")
{
    const auto with_label = [](std::size_t length) {
        return mail("Content-Type: text/plain; charset=" + std::string(length, 'x') +
                    "\nX-Filler: " + std::string(120'000 - length, 'x') +
                    "\nSubject: " + repeated("=?utf-8?Q?a?=\xff", 8'000) + "\n\nx\n");
    };
    CHECK(seconds_of(with_label(120'000)) < 20 * seconds_of(with_label(10)));
}

TEST_CASE("the start of a multipart/related is read once", "[mime][torture-22]")
{
    const auto with_start = [](std::size_t length) {
        return mail("Content-Type: multipart/related; boundary=b; start=\"" +
                    std::string(length, ' ') +
                    "x\"\nX-Filler: " + std::string(240'000 - length, 'x') + "\n\n" +
                    repeated("--b\nContent-Type: text/html\n\nx\n", 900) + "--b--\n");
    };
    CHECK(seconds_of(with_start(240'000)) < 20 * seconds_of(with_start(10)));
}

TEST_CASE("many comments and many colons in one address cost what other text does",
          "[mime][torture-28]")
{
    const auto from = [](const std::string& field) { return mail("From: " + field + "\n\nx\n"); };
    CHECK(seconds_of(from(repeated("(a) ", 60'000))) <
          20 * seconds_of(from("x " + repeated("(a) ", 60'000))));
    const auto long_word = std::string(120'000, 'a');
    CHECK(seconds_of(from(long_word + "[" + repeated(":", 120'000))) <
          20 * seconds_of(from(long_word + "[" + repeated(".", 120'000))));
}
