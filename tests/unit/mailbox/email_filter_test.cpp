#include "mailbox/email_filter.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;
using namespace std::chrono_literals;

namespace {

const time_point noon{std::chrono::sys_days(std::chrono::year(2026) / 11 / 21) + 12h};

email_columns some_columns()
{
    email_columns columns;
    columns.from = "Robot@Sender.Example";
    columns.from_name = "Zoë the Robot";
    columns.rcpt_to = {"box+Shop@mail.test", "box@mail.test"};
    columns.to = {{"All", "List@lists.example"}, {"", "box@mail.test"}};
    columns.subject = "Größe: your CODE";
    columns.has_code = true;
    columns.link_kinds = {"other", "verify", "other", "other"};
    columns.attachment_count = 2;
    columns.received_at = noon + 123'456us;
    return columns;
}

std::optional<failed_condition> first_failing(const email_filter& requested,
                                              email_columns columns = some_columns())
{
    return compiled_filter(requested).first_failing(filtered_email(std::move(columns)));
}

// A filter of one condition.
template <class T>
email_filter only(std::optional<T> email_filter::* field, T value)
{
    email_filter requested;
    requested.*field = std::move(value);
    return requested;
}

email_filter with(std::optional<std::string> email_filter::* field, std::string value)
{
    return only(field, std::move(value));
}

email_filter with_header(std::string name, std::string value)
{
    email_filter requested;
    requested.headers.push_back({std::move(name), std::move(value)});
    return requested;
}

filtered_email opened(const mime::view& view, std::string preview = {})
{
    auto columns = some_columns();
    columns.preview = std::move(preview);
    filtered_email email(std::move(columns));
    email.open(std::make_shared<const message_texts>(read_message_texts(view)));
    return email;
}

} // namespace

TEST_CASE("a filter without conditions takes every email", "[mailbox][filter]")
{
    CHECK(compiled_filter(email_filter()).is_empty());
    CHECK(compiled_filter(email_filter()).matches(filtered_email(some_columns())));
    CHECK_FALSE(compiled_filter(with(&email_filter::from, "x")).is_empty());
    CHECK_FALSE(compiled_filter(only(&email_filter::is_read, false)).is_empty());
}

TEST_CASE("from is found in the address and in the display name, whatever the case",
          "[mailbox][filter]")
{
    for (const auto* text : {"robot@sender.example", "ROBOT@", "sender", "zoë", "ZOË THE",
                             "zoe\xcc\x88 the robot", ""})
        CHECK_FALSE(first_failing(with(&email_filter::from, text)));
    for (const auto* text : {"zoe the", "robot@sender.example zoë"})
        CHECK(first_failing(with(&email_filter::from, text)) == filter_field::from);
}

TEST_CASE("to is found in recipients as given and in addresses of To", "[mailbox][filter]")
{
    for (const auto* text : {"+shop@", "box@mail.test", "LISTS.example"})
        CHECK_FALSE(first_failing(with(&email_filter::to, text)));
    for (const auto* text : {"other@mail.test", "box@mail.test, ", "All"})
        CHECK(first_failing(with(&email_filter::to, text)) == filter_field::to);
}

TEST_CASE("recipient is found in recipients as given alone", "[mailbox][filter]")
{
    for (const auto* text : {"+SHOP@", "box@mail.test"})
        CHECK_FALSE(first_failing(with(&email_filter::recipient, text)));
    for (const auto* text : {"list@lists.example", "All", "box@mail.test, "})
        CHECK(first_failing(with(&email_filter::recipient, text)) == filter_field::recipient);
}

TEST_CASE("subject is compared after full Unicode case folding", "[mailbox][filter]")
{
    for (const auto* text : {"GRÖSSE", "größe", "gro\xcc\x88\xc3\x9f", "Your code"})
        CHECK_FALSE(first_failing(with(&email_filter::subject, text)));
    CHECK(first_failing(with(&email_filter::subject, "grosse")) == filter_field::subject);
}

TEST_CASE("a condition with two values takes what has it, or what has not", "[mailbox][filter]")
{
    auto plain = some_columns();
    plain.has_code = false;
    plain.link_kinds.clear();
    plain.attachment_count = 0;
    auto full = some_columns();
    full.is_read = true;
    using condition = std::pair<std::optional<bool> email_filter::*, filter_field>;
    for (const auto& [field, name] :
         {condition(&email_filter::has_code, filter_field::has_code),
          condition(&email_filter::has_link, filter_field::has_link),
          condition(&email_filter::has_attachment, filter_field::has_attachment),
          condition(&email_filter::is_read, filter_field::is_read)}) {
        INFO(to_string(name));
        CHECK_FALSE(first_failing(only(field, true), full));
        CHECK(first_failing(only(field, true), plain) == name);
        CHECK_FALSE(first_failing(only(field, false), plain));
        CHECK(first_failing(only(field, false), full) == name);
    }
}

TEST_CASE("linkKind asks for a link of this kind", "[mailbox][filter]")
{
    CHECK_FALSE(first_failing(with(&email_filter::link_kind, "verify")));
    CHECK(first_failing(with(&email_filter::link_kind, "reset")) == filter_field::link_kind);
}

TEST_CASE("since takes its own moment and until does not, as the API shows the time",
          "[mailbox][filter]")
{
    CHECK_FALSE(first_failing(only(&email_filter::since, noon + 123ms)));
    CHECK(first_failing(only(&email_filter::since, noon + 123'001us)) == filter_field::since);
    CHECK(first_failing(only(&email_filter::until, noon + 123ms)) == filter_field::until);
    CHECK_FALSE(first_failing(only(&email_filter::until, noon + 123'001us)));
}

TEST_CASE("every condition must hold, and the first that fails is named", "[mailbox][filter]")
{
    email_filter requested;
    requested.from = "zoë";
    requested.to = "list@";
    requested.recipient = "+shop";
    requested.subject = "code";
    requested.has_code = true;
    requested.has_link = true;
    requested.link_kind = "verify";
    requested.has_attachment = true;
    requested.is_read = false;
    requested.since = noon;
    requested.until = noon + 1s;
    CHECK_FALSE(first_failing(requested));

    // From the last to the first: each one hides those behind it.
    auto columns = some_columns();
    const auto fails = [&] { return first_failing(requested, columns); };
    columns.received_at = noon + 1s;
    CHECK(fails() == filter_field::until);
    columns.received_at = noon - 1s;
    CHECK(fails() == filter_field::since);
    columns.is_read = true;
    CHECK(fails() == filter_field::is_read);
    columns.attachment_count = 0;
    CHECK(fails() == filter_field::has_attachment);
    columns.link_kinds = {"reset"};
    CHECK(fails() == filter_field::link_kind);
    columns.link_kinds.clear();
    CHECK(fails() == filter_field::has_link);
    columns.has_code = false;
    CHECK(fails() == filter_field::has_code);
    columns.subject = "c";
    CHECK(fails() == filter_field::subject);
    columns.rcpt_to = {"box@mail.test"};
    CHECK(fails() == filter_field::recipient);
    columns.to.clear();
    CHECK(fails() == filter_field::to);
    columns.from_name.clear();
    CHECK(fails() == filter_field::from);
}

TEST_CASE("what an email has in a field reads as a person would see it", "[mailbox][filter]")
{
    const filtered_email email(some_columns());
    const filtered_email empty{email_columns()};

    CHECK(email.text(filter_field::from) == "Zoë the Robot <Robot@Sender.Example>");
    auto unnamed = some_columns();
    unnamed.from_name.clear();
    CHECK(filtered_email(unnamed).text(filter_field::from) == "Robot@Sender.Example");
    CHECK(email.text(filter_field::to) == "box+Shop@mail.test, box@mail.test, List@lists.example");
    CHECK(email.text(filter_field::recipient) == "box+Shop@mail.test, box@mail.test");
    CHECK(email.text(filter_field::subject) == "Größe: your CODE");
    CHECK(email.text(filter_field::has_code) == "true");
    CHECK(email.text(filter_field::has_link) == "verify 1, other 3");
    CHECK(empty.text(filter_field::link_kind) == "none");
    CHECK(email.text(filter_field::has_attachment) == "2");
    CHECK(email.text(filter_field::is_read) == "false");
    CHECK(email.text(filter_field::since) == "2026-11-21T12:00:00.123Z");
    CHECK(to_string(filter_field::has_attachment) == "hasAttachment");
}

TEST_CASE("no two filters have one key, and spelling is no difference", "[mailbox][filter]")
{
    std::vector<email_filter> filters{
        {},
        with(&email_filter::from, "a"),
        with(&email_filter::to, "a"),
        with(&email_filter::recipient, "a"),
        with(&email_filter::subject, "a"),
        with(&email_filter::from, "a to 1:b"),
        with(&email_filter::link_kind, "verify"),
        with(&email_filter::link_kind, "reset"),
        with(&email_filter::text, "a"),
        with_header("a", "b"),
        with_header("a", "b text 1:a"),
        with_header("b", "a"),
        only(&email_filter::since, noon),
        only(&email_filter::until, noon),
        only(&email_filter::until, noon + 1us),
    };
    for (const auto field : {&email_filter::has_code, &email_filter::has_link,
                             &email_filter::has_attachment, &email_filter::is_read})
        for (const bool value : {true, false})
            filters.push_back(only(field, value));
    auto both = with(&email_filter::from, "a");
    both.to = "b";
    filters.push_back(both);

    for (std::size_t i = 0; i < filters.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            CHECK(filters[i].key() != filters[j].key());
    CHECK(with(&email_filter::recipient, "A").key() == with(&email_filter::recipient, "a").key());
    CHECK(email_filter().key().empty());
}

TEST_CASE("text is found across lines and whatever cannot be seen", "[mailbox][filter]")
{
    mime::view view;
    view.text = "Dein Code ist\r\n\t482\u00ad913 Stra\u00dfe\u00a0\u200c7";
    const auto email = opened(view);

    for (const auto* text : {"code ist 482913", "STRASSE 7", "stra\u00dfe\u3000 7", " 913 "})
        CHECK(compiled_filter(with(&email_filter::text, text)).matches(email));
    for (const auto* text : {"e7", "482%13", ".*", "ist482913"})
        CHECK(compiled_filter(with(&email_filter::text, text)).first_failing(email) ==
              filter_field::text);
    CHECK_FALSE(compiled_filter(with(&email_filter::text, "a")).matches(opened(mime::view())));
}

TEST_CASE("a header is found by its name in any case, in each of its values", "[mailbox][filter]")
{
    mime::view view;
    view.headers = {{"X-Run", "R-7"}, {"x-run", "Gr\u00fc\u00dfe"}, {"X-Run-Two", "R-8"}};
    const auto email = opened(view);

    CHECK(compiled_filter(with_header("x-RUN", "r-7")).matches(email));
    CHECK(compiled_filter(with_header("X-Run", "GR\u00dcSSE")).matches(email));
    CHECK_FALSE(compiled_filter(with_header("X-Run", "R-8")).matches(email));
    const auto missed = compiled_filter(with_header("X-Run", "r-8")).first_failing(email);
    REQUIRE(missed);
    CHECK(to_string(*missed) == "header.x-run");
    CHECK(email.text(*missed) == "R-7, Gr\u00fc\u00dfe");
    const auto absent = compiled_filter(with_header("X-Other", "a")).first_failing(email);
    REQUIRE(absent);
    CHECK(email.text(*absent).empty());
}

TEST_CASE("a message is opened only where columns and the preview do not decide",
          "[mailbox][filter]")
{
    auto columns = some_columns();
    columns.preview = "Hello  WORLD";
    const filtered_email email(columns);
    auto elsewhere = with(&email_filter::text, "elsewhere");

    CHECK(compiled_filter(elsewhere).is_undecided(email));
    CHECK_FALSE(compiled_filter(with(&email_filter::text, "hello world")).is_undecided(email));
    CHECK(compiled_filter(with(&email_filter::text, "hello world")).matches(email));
    CHECK(compiled_filter(with_header("a", "b")).is_undecided(email));
    elsewhere.subject = "other";
    CHECK_FALSE(compiled_filter(elsewhere).is_undecided(email));
    CHECK(compiled_filter(elsewhere).first_failing(email) == filter_field::subject);
}

TEST_CASE("the last word of a cut preview decides nothing", "[mailbox][filter]")
{
    auto columns = some_columns();
    columns.preview = "seen " + std::string(194, 'x') + "e"; // an accent may follow
    const filtered_email cut(columns);

    CHECK_FALSE(compiled_filter(with(&email_filter::text, "seen")).is_undecided(cut));
    CHECK(compiled_filter(with(&email_filter::text, "xe")).is_undecided(cut));
}

TEST_CASE("what was not read to its end says so in place of its text", "[mailbox][filter]")
{
    mime::view view;
    view.text = "the beginning";
    view.headers = {{"X-Run", "R-7"}};
    view.defects = {"deadline"};
    const auto email = opened(view, "the beginning");

    CHECK(email.text(filter_field::text) == "(not read to its end)");
    CHECK(email.text(failed_condition(filter_field::header, "x-run")) == "R-7");
    CHECK(compiled_filter(with(&email_filter::text, "beginning")).matches(email));
}
