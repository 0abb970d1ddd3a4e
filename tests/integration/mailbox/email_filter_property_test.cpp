#include "common/rules/rules.hpp"
#include "integration/mailbox/seeds.hpp"
#include "mailbox/columns.hpp"
#include "mailbox/email_repository.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace tempinbox;
using namespace tempinbox::mailbox;

namespace {

using numbers = std::vector<std::int64_t>;

constexpr int email_count = 120;
constexpr int filter_count = 100;

class random_source
{
public:
    int below(int count) { return static_cast<int>(engine_() % static_cast<unsigned>(count)); }
    bool one_in(int count) { return below(count) == 0; }
    template <class T>
    T any_of(const std::vector<T>& all)
    {
        return all.at(static_cast<std::size_t>(below(static_cast<int>(all.size()))));
    }

    // Few letters, so that parts of them are found.
    std::string text(int max_letters)
    {
        static const std::vector<std::string> letters{
            "a", "A", "b",      "ß",      "SS", "é", "e\xcc\x81", "Ω", "ω",  "ς",
            "σ", "ж", "\u3000", "\u00a0", " ",  "%", "_",         "*", "中", "İ"};
        std::string made;
        for (int i = below(max_letters + 1); i > 0; --i)
            made += any_of(letters);
        return made;
    }

private:
    std::mt19937 engine_{20261129};
};

struct random_email
{
    email_columns columns;
    std::int64_t sequence = 0;
};

// Slow and plain: what docs/api.md says of each filter.
std::optional<filter_field> first_failing(const email_filter& filter, const random_email& email)
{
    const auto& seen = email.columns;
    const auto has = [](const std::string& text, const std::string& part) {
        return rules::fold(text).find(rules::fold(part)) != std::string::npos;
    };
    const auto any_has = [&](const std::vector<std::string>& texts, const std::string& part) {
        return std::any_of(texts.begin(), texts.end(),
                           [&](const auto& text) { return has(text, part); });
    };
    std::vector<std::string> to;
    for (const auto& one : seen.to)
        to.push_back(one.address);
    const auto micros = seen.received_at.time_since_epoch().count();
    const time_point shown(std::chrono::microseconds(micros - micros % 1'000));
    const auto kinds =
        std::count(seen.link_kinds.begin(), seen.link_kinds.end(), filter.link_kind.value_or(""));
    const std::vector<std::pair<filter_field, bool>> fails{
        {filter_field::from,
         filter.from && !has(seen.from, *filter.from) && !has(seen.from_name, *filter.from)},
        {filter_field::to,
         filter.to && !any_has(seen.rcpt_to, *filter.to) && !any_has(to, *filter.to)},
        {filter_field::recipient, filter.recipient && !any_has(seen.rcpt_to, *filter.recipient)},
        {filter_field::subject, filter.subject && !has(seen.subject, *filter.subject)},
        {filter_field::has_code, filter.has_code && *filter.has_code != seen.has_code},
        {filter_field::has_link, filter.has_link && *filter.has_link != !seen.link_kinds.empty()},
        {filter_field::link_kind, filter.link_kind && kinds == 0},
        {filter_field::has_attachment,
         filter.has_attachment && *filter.has_attachment != (seen.attachment_count > 0)},
        {filter_field::is_read, filter.is_read && *filter.is_read != seen.is_read},
        {filter_field::since, filter.since && !(shown >= *filter.since)},
        {filter_field::until, filter.until && !(shown < *filter.until)},
    };
    for (const auto& [field, has_failed] : fails)
        if (has_failed)
            return field;
    return std::nullopt;
}

std::string quote_sql(const std::string& text)
{
    return "$q$" + text + "$q$";
}

// An inbox with random emails.
struct filled_inbox : seeds::world
{
    email_repository emails{scratch.db()};
    plans::account_state account = seeds::account();
    mailbox::inbox box = create(account, "ann");
    random_source random;
    std::vector<random_email> contents;

    filled_inbox()
    {
        add_emails(box, email_count);
        std::string update;
        for (int i = 1; i <= email_count; ++i) {
            contents.push_back(make_email(i));
            update += update_of(contents.back());
        }
        scratch.execute(update);
    }

    random_email make_email(std::int64_t sequence)
    {
        random_email made;
        made.sequence = sequence;
        auto& columns = made.columns;
        columns.from = random.text(6);
        columns.from_name = random.text(4);
        columns.rcpt_to.push_back(random.text(6));
        if (random.one_in(3))
            columns.rcpt_to.push_back(random.text(3));
        for (int i = random.below(3); i > 0; --i)
            columns.to.push_back({random.text(3), random.text(5)});
        columns.subject = random.text(12);
        columns.has_code = random.one_in(2);
        for (int i = random.below(4); i > 0; --i)
            columns.link_kinds.push_back(random_kind());
        columns.attachment_count = random.one_in(3) ? random.below(4) : 0;
        columns.is_read = random.one_in(2);
        columns.received_at = box.created_at + std::chrono::microseconds(random.below(2'000'000));
        return made;
    }

    std::string random_kind()
    {
        return random.any_of<std::string>({"verify", "reset", "unsubscribe", "other"});
    }

    std::string update_of(const random_email& email) const
    {
        const auto& columns = email.columns;
        std::vector<extract::link> links;
        for (const auto& kind : columns.link_kinds)
            links.push_back({"https://x.test/", "[\"verify\"]", kind});
        header_addresses addresses;
        addresses.to = columns.to;
        std::string recipients;
        for (const auto& one : columns.rcpt_to)
            recipients += (recipients.empty() ? "" : ", ") + quote_sql(one);
        return "UPDATE mailbox.emails SET from_address = " + quote_sql(columns.from) +
               ", from_name = " + quote_sql(columns.from_name) + ", rcpt_to = ARRAY[" + recipients +
               "]::text[], header_addresses = " + quote_sql(to_json(addresses)) +
               ", subject = " + quote_sql(columns.subject) + ", codes = " +
               (columns.has_code ? R"('[{"value":"1","score":1,"part":"text","offset":0}]')"
                                 : "'[]'") +
               ", links = " + quote_sql(to_json(links)) +
               ", attachment_count = " + std::to_string(columns.attachment_count) +
               ", is_read = " + (columns.is_read ? "true" : "false") +
               ", received_at = mailbox.from_micros(" +
               std::to_string(to_unix_micros(columns.received_at)) +
               ") WHERE sequence = " + std::to_string(email.sequence) + ";";
    }

    email_filter make_filter()
    {
        email_filter made;
        const auto maybe_text = [&](std::optional<std::string>& field) {
            if (random.one_in(4))
                field = random.text(2) + random.any_of<std::string>({"a", "SS", "Σ", "é", " "});
        };
        const auto maybe_flag = [&](std::optional<bool>& field) {
            if (random.one_in(5))
                field = random.one_in(2);
        };
        const auto maybe_time = [&](std::optional<time_point>& field) {
            if (random.one_in(5))
                field = std::chrono::floor<std::chrono::milliseconds>(
                            random.any_of(contents).columns.received_at) +
                        std::chrono::microseconds(random.below(3) - 1);
        };
        maybe_text(made.from);
        maybe_text(made.to);
        maybe_text(made.recipient);
        maybe_text(made.subject);
        maybe_flag(made.has_code);
        maybe_flag(made.has_link);
        if (random.one_in(6))
            made.link_kind = random_kind();
        maybe_flag(made.has_attachment);
        maybe_flag(made.is_read);
        maybe_time(made.since);
        maybe_time(made.until);
        return made;
    }

    numbers expected(const email_filter& filter) const
    {
        numbers matching;
        for (const auto& email : contents)
            if (!first_failing(filter, email))
                matching.push_back(email.sequence);
        return matching;
    }

    // The sequences on all pages.
    numbers list(const email_filter& filter, std::optional<inbox_id> of, list_order order)
    {
        email_query query;
        query.account = account.account;
        query.inbox = of;
        query.limit = 1 + random.below(9);
        query.order = order;
        query.filter = filter;
        query.with_codes = random.one_in(2);
        numbers listed;
        do {
            const auto page = testing::await(emails.list(query)).value();
            for (const auto& email : page.items)
                listed.push_back(email.sequence);
            query.cursor = page.next_cursor;
        } while (!query.cursor.empty());
        return listed;
    }

    // The sequences that searches find, each above the one before; checks their near misses.
    numbers search(const email_filter& filter)
    {
        numbers found;
        email_search next;
        next.filter = filter;
        while (true) {
            const auto searched = testing::await(emails.find_first(account.account, box.id, {next}))
                                      .value()
                                      .results.at(0);
            for (const auto& miss : searched.near_misses)
                CHECK(first_failing(filter, contents.at(static_cast<std::size_t>(
                                                miss.sequence - 1))) == miss.field);
            const auto misses = searched.searched_to - next.after -
                                static_cast<std::int64_t>(searched.emails.size());
            CHECK(static_cast<std::int64_t>(searched.near_misses.size()) ==
                  std::min<std::int64_t>(10, misses));
            if (searched.emails.empty())
                return found;
            found.push_back(searched.searched_to);
            next.after = searched.searched_to;
        }
    }
};

} // namespace

TEST_CASE("lists, in both orders, and searches find what a plain reading of the filter finds",
          "[mailbox][filter][property][postgres]")
{
    filled_inbox world;
    for (int i = 0; i < filter_count; ++i) {
        const auto filter = world.make_filter();
        INFO("filter " << i << ":" << filter.key());
        const auto expected = world.expected(filter);
        const numbers reversed(expected.rbegin(), expected.rend());

        CHECK(world.list(filter, world.box.id, list_order::oldest_first) == expected);
        CHECK(world.list(filter, world.box.id, list_order::newest_first) == reversed);
        CHECK(world.list(filter, std::nullopt, list_order::oldest_first) == expected);
        CHECK(world.list(filter, std::nullopt, list_order::newest_first) == reversed);
        CHECK(world.search(filter) == expected);
    }
}
