// The time from a mail's fields to the webhooks it goes to: folding the fields once, then every
// condition of every rule. In the worst case, 20 rules with 5 conditions each match except for the
// last condition, so that none is skipped.

#include "common/rules/rules.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace tempinbox;
using rules::comparison;
using rules::field;

namespace {

struct mail
{
    const char* name;
    std::string from;
    std::vector<std::string> to;
    std::string subject;
};

std::string repeated(const std::string& text, int times)
{
    std::string all;
    for (int i = 0; i < times; ++i)
        all += text;
    return all;
}

std::vector<mail> mails()
{
    const std::vector<std::string> to{"checkout-7f3a9c+order@inbox.example.com"};
    return {
        {"ASCII, 60 characters", "Receipts <robot@shop.example>", to,
         "Your order 4711 has been shipped and arrives on Monday, May 4"},
        {"Unicode, 60 characters", "robot@münchen.example", to,
         "Ihre Bestellung 4711 wurde versandt: Größe XL, Straße ΣΊΣΥΦΟΣ é"},
        {"Cyrillic, 60 characters", "robot@shop.example", to,
         "Ваш заказ 4711 отправлен и прибудет в понедельник, 4 мая, днём"},
        {"ASCII, 1,000 characters", "robot@shop.example", to, repeated("0123456789 shipped ", 53)},
        {"Unicode, 1,000 characters", "robot@shop.example", to,
         repeated("Größe XL, Straße Σ ", 53)}};
}

std::vector<rules::rule> worst_rules(int number)
{
    std::vector<rules::rule> all;
    for (int i = 0; i < number; ++i) {
        rules::rule rule;
        rule.id = rule_id::make();
        rule.webhook = webhook_id::make();
        rule.conditions = {
            {field::to, comparison::contains, "+ORDER@"},
            {field::to, comparison::ends_with, "@INBOX.example.com"},
            {field::from, comparison::contains, ".EXAMPLE"},
            {field::from, comparison::contains, "robot@"},
            {field::subject, comparison::contains, "Nirgends " + std::to_string(i) + " ß"}};
        all.push_back(std::move(rule));
    }
    return all;
}

struct timing
{
    double median_ns = 0;
    double worst_percent_ns = 0;
};

// Measures in rounds of 100 calls, so that reading the clock costs nothing; for at least a tenth of
// a second.
template <class Work>
timing measure(const Work& work)
{
    constexpr int calls_per_round = 100;
    std::vector<double> rounds;
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    while (std::chrono::steady_clock::now() < until) {
        const auto began = std::chrono::steady_clock::now();
        for (int i = 0; i < calls_per_round; ++i)
            work();
        rounds.push_back(
            std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - began)
                .count() /
            calls_per_round);
    }
    std::sort(rounds.begin(), rounds.end());
    timing found;
    found.median_ns = rounds[rounds.size() / 2];
    found.worst_percent_ns = rounds[rounds.size() * 99 / 100];
    return found;
}

std::size_t webhooks_found = 0; // read at the end, so that the compiler drops no work

void print(const char* what, const mail& given, const timing& found)
{
    std::printf("%-26s %-27s %9.2f us %9.2f us\n", what, given.name, found.median_ns / 1'000,
                found.worst_percent_ns / 1'000);
}

} // namespace

int main()
{
    std::puts("what                       mail                           median        p99");
    for (const int number : {0, 1, 20}) {
        const rules::compiled_rules compiled(worst_rules(number));
        const auto what = std::to_string(number) + " rules x 5 conditions";
        for (const auto& given : mails()) {
            const auto found = measure([&] {
                const rules::rule_input folded(given.from, given.to, given.subject);
                webhooks_found += compiled.evaluate(folded).webhooks.size();
            });
            print(what.c_str(), given, found);
        }
    }
    const auto twenty = worst_rules(20);
    const auto compiling =
        measure([&] { webhooks_found += rules::compiled_rules(twenty).empty() ? 1U : 0U; });
    std::printf("%-26s %-27s %9.2f us %9.2f us\n", "compiling 20 x 5", "-",
                compiling.median_ns / 1'000, compiling.worst_percent_ns / 1'000);
    if (webhooks_found != 0)
        std::puts("(a rule matched that should not have)");
    return webhooks_found == 0 ? 0 : 1;
}
