#include "tally.hpp"

#include <algorithm>

namespace tempinbox::bench {
namespace {

void count(share& into, bool is_right)
{
    into.right += is_right ? 1 : 0;
    ++into.of;
}

void sum(share& into, const share& more)
{
    into.right += more.right;
    into.of += more.of;
}

void sum(accuracy& into, const accuracy& more)
{
    sum(into.precision, more.precision);
    sum(into.recall, more.recall);
}

void sum(language_tally& into, const language_tally& more)
{
    into.mails += more.mails;
    sum(into.first_code, more.first_code);
    sum(into.any_code, more.any_code);
    sum(into.links, more.links);
    sum(into.kinds, more.kinds);
}

std::string describe(const extract::code& one)
{
    return one.value + " (" + std::to_string(one.score).substr(0, 4) + ", " + one.part + " at " +
           std::to_string(one.offset) + ")";
}

} // namespace

void tally::add(const corpus::expected_mail& mail, const corpus::findings& found)
{
    language_tally one;
    one.mails = 1;
    add_codes(mail, found, one);
    add_links(mail, found, one);
    sum(languages_[mail.language], one);
    sum(total_, one);
    add_codes(mail.codes.empty() ? "mail without a code" : "mail with a code", mail.language,
              one.any_code);
}

void tally::add(const corpus::expected_line& line, const std::vector<extract::code>& found)
{
    accuracy codes;
    for (const auto& one : found) {
        const bool is_right =
            std::find(line.codes.begin(), line.codes.end(), one.value) != line.codes.end();
        count(codes.precision, is_right);
        if (!is_right)
            misses_.push_back(line.kind + ", \"" + line.text + "\": no code, but found " +
                              describe(one));
    }
    for (const auto& code : line.codes) {
        const bool is_found =
            std::any_of(found.begin(), found.end(),
                        [&](const extract::code& one) { return one.value == code; });
        count(codes.recall, is_found);
        if (!is_found)
            misses_.push_back(line.kind + ", \"" + line.text + "\": code " + code + " not found");
    }
    add_codes(line.kind, line.language, codes);
}

void tally::add_codes(const std::string& kind, const std::string& language, const accuracy& codes)
{
    for (auto* row : {&codes_by_kind_[kind], &codes_by_language_[language]}) {
        ++row->texts;
        sum(row->codes, codes);
    }
}

void tally::add_codes(const corpus::expected_mail& mail, const corpus::findings& found,
                      language_tally& into)
{
    const auto first = found.codes.empty() ? std::string() : found.codes.front().value;
    const auto wanted = mail.codes.empty() ? std::string() : mail.codes.front();
    if (!first.empty())
        count(into.first_code.precision, first == wanted);
    if (!wanted.empty())
        count(into.first_code.recall, first == wanted);
    if (first != wanted)
        misses_.push_back(mail.file + ": first code " + (wanted.empty() ? "none" : wanted) +
                          ", found " + (first.empty() ? "none" : describe(found.codes.front())));

    for (const auto& one : found.codes) {
        const bool is_right =
            std::find(mail.codes.begin(), mail.codes.end(), one.value) != mail.codes.end();
        count(into.any_code.precision, is_right);
        if (!is_right && one.value != first)
            misses_.push_back(mail.file + ": no code, but found " + describe(one));
    }
    for (const auto& code : mail.codes) {
        const bool is_found =
            std::any_of(found.codes.begin(), found.codes.end(),
                        [&](const extract::code& one) { return one.value == code; });
        count(into.any_code.recall, is_found);
        if (!is_found && code != wanted)
            misses_.push_back(mail.file + ": further code " + code + " not found");
    }
}

void tally::add_links(const corpus::expected_mail& mail, const corpus::findings& found,
                      language_tally& into)
{
    for (const auto& wanted : mail.links) {
        const auto match =
            std::find_if(found.links.begin(), found.links.end(),
                         [&](const extract::link& one) { return one.url == wanted.url; });
        const bool is_found = match != found.links.end();
        count(into.links.recall, is_found);
        if (!is_found) {
            misses_.push_back(mail.file + ": link " + wanted.url + " not found");
            continue;
        }
        count(into.kinds, match->kind == wanted.kind);
        if (match->kind != wanted.kind)
            misses_.push_back(mail.file + ": " + wanted.kind + " link taken for " + match->kind +
                              ": " + wanted.url + " \"" + match->text + "\"");
    }
    for (const auto& one : found.links) {
        const bool is_right =
            std::any_of(mail.links.begin(), mail.links.end(),
                        [&](const corpus::expected_link& wanted) { return wanted.url == one.url; });
        count(into.links.precision, is_right);
        if (!is_right)
            misses_.push_back(mail.file + ": no link of this mail, but found: " + one.url);
    }
}

} // namespace tempinbox::bench
