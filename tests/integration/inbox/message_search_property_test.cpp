#include "integration/inbox/running_service.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace tempinbox;
using namespace tempinbox::inbox;

namespace {

using numbers = std::vector<std::int64_t>;

constexpr int email_count = 60;
constexpr int filter_count = 120;

// A piece of a text as it is sent, and as filters compare it.
struct piece
{
    std::string sent;
    std::string compared;
};

const std::vector<piece> pieces{
    {"a", "a"},           {"B", "b"},           {"\u00df", "ss"},
    {"SS", "ss"},         {"\u00e9", "\u00e9"}, {"e\u0301", "\u00e9"},
    {"\u03a3", "\u03c3"}, {"\u03c2", "\u03c3"}, {"\u0416", "\u0436"},
    {"\u4e2d", "\u4e2d"}, {"\u00ad", ""},       {"\u200b", ""},
    {" ", " "},           {"\r\n", " "},        {"\u00a0", " "},
    {"\u3000", " "},      {"%", "%"},           {"_", "_"},
    {"*", "*"},
};

// One line without blanks at its ends.
std::string to_one_line(const std::string& text)
{
    std::string line;
    for (const char c : text)
        if (c != ' ' || (!line.empty() && line.back() != ' '))
            line.push_back(c);
    if (!line.empty() && line.back() == ' ')
        line.pop_back();
    return line;
}

class random_source
{
public:
    int below(int count) { return static_cast<int>(engine_() % static_cast<unsigned>(count)); }
    bool one_in(int count) { return below(count) == 0; }

    piece text(int max_pieces)
    {
        piece made;
        for (int i = below(max_pieces + 1); i > 0; --i) {
            const auto& each = pieces.at(static_cast<std::size_t>(below(int(pieces.size()))));
            made.sent += each.sent;
            made.compared += each.compared;
        }
        made.compared = to_one_line(made.compared);
        return made;
    }

private:
    std::mt19937 engine_{20261129};
};

struct sent_email
{
    std::int64_t sequence = 0;
    std::string subject;
    std::string run; // X-Run; empty: none
    std::string text;
};

struct random_filter
{
    v1::EmailFilter sent;
    std::string text; // as compared
};

// An inbox with random messages.
struct filled_service : running_service
{
    std::string account = account_id::make().text();
    v1::Inbox inbox;
    random_source random;
    std::vector<sent_email> emails;

    filled_service()
    {
        add_domain();
        inbox = create(account).value().inbox();
        for (int i = 1; i <= email_count; ++i)
            add(i);
    }

    void add(std::int64_t sequence)
    {
        sent_email made;
        made.sequence = sequence;
        made.subject = random.one_in(2) ? "one" : "two";
        made.run = random.one_in(3) ? "" : "R-" + std::to_string(random.below(4));
        // Some are longer than their previews.
        const auto text = random.text(random.one_in(2) ? 8 : 300);
        made.text = text.compared;
        add_email(account, inbox,
                  "Subject: " + made.subject + "\r\n" +
                      (made.run.empty() ? "" : "X-RUN: " + made.run + "\r\n") +
                      "Content-Type: text/plain; charset=utf-8\r\n"
                      "Content-Transfer-Encoding: 8bit\r\n\r\n" +
                      text.sent);
        emails.push_back(std::move(made));
    }

    random_filter make_filter()
    {
        random_filter made;
        if (random.one_in(3))
            made.sent.set_subject("One");
        if (random.one_in(3)) {
            auto& header = *made.sent.add_headers();
            header.set_name("x-run");
            header.set_value("r-" + std::to_string(random.below(5)));
        }
        const auto text = random.text(4);
        if (made.sent.headers().empty() || random.one_in(2))
            made.text = text.compared;
        if (!made.text.empty())
            made.sent.set_text(text.sent);
        return made;
    }

    // The first filter that fails, by what docs/api.md says; empty: none.
    static std::string first_failing(const random_filter& filter, const sent_email& email)
    {
        if (filter.sent.has_subject() && email.subject != "one")
            return "subject";
        for (const auto& header : filter.sent.headers())
            if (email.run.empty() || email.run.substr(2) != header.value().substr(2))
                return "header.x-run";
        return email.text.find(filter.text) == std::string::npos ? "text" : "";
    }

    numbers expected(const random_filter& filter) const
    {
        numbers matching;
        for (const auto& email : emails)
            if (first_failing(filter, email).empty())
                matching.push_back(email.sequence);
        return matching;
    }

    // The sequences on all pages.
    numbers list(const random_filter& filter, bool is_of_inbox, bool is_oldest_first)
    {
        v1::ListEmailsRequest request;
        request.set_account_id(account);
        if (is_of_inbox)
            request.set_inbox_id(inbox.inbox_id());
        request.set_limit(1 + random.below(9));
        request.set_oldest_first(is_oldest_first);
        *request.mutable_filter() = filter.sent;
        numbers listed;
        std::int64_t searched = 0;
        do {
            const auto page = call<v1::ListEmailsResponse>("ListEmails", request).value();
            for (const auto& email : page.emails())
                listed.push_back(email.sequence());
            searched += page.searched().emails();
            request.set_cursor(page.next_cursor());
        } while (!request.cursor().empty());
        if (filter.sent.ByteSizeLong() > 0)
            CHECK(searched == email_count);
        return listed;
    }

    // The sequences that searches find, each above the one before; checks their near misses.
    numbers search(const random_filter& filter)
    {
        numbers found;
        v1::FindFirstEmailsRequest request;
        request.set_account_id(account);
        request.set_inbox_id(inbox.inbox_id());
        auto& next = *request.add_searches();
        *next.mutable_filter() = filter.sent;
        while (true) {
            const auto response =
                call<v1::FindFirstEmailsResponse>("FindFirstEmails", request).value();
            const auto& result = response.results(0);
            for (const auto& miss : result.near_misses())
                CHECK(miss.field() == first_failing(filter, emails.at(static_cast<std::size_t>(
                                                                miss.sequence() - 1))));
            next.set_after(result.searched_to());
            if (result.email_ids_size() > 0)
                found.push_back(result.searched_to());
            else if (result.searched_to() >= response.last_sequence())
                return found;
        }
    }
};

} // namespace

TEST_CASE("lists, in both orders, and searches of messages find what a plain reading finds",
          "[inbox][filter][property][postgres][kafka]")
{
    filled_service running;
    for (int i = 0; i < filter_count; ++i) {
        const auto filter = running.make_filter();
        INFO("filter " << i << ": " << filter.sent.ShortDebugString());
        const auto expected = running.expected(filter);
        const numbers reversed(expected.rbegin(), expected.rend());

        for (const bool is_of_inbox : {true, false}) {
            CHECK(running.list(filter, is_of_inbox, true) == expected);
            CHECK(running.list(filter, is_of_inbox, false) == reversed);
        }
        CHECK(running.search(filter) == expected);
    }
}
