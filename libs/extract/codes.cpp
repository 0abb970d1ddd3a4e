#include "extract/codes.hpp"

#include "common/core/text.hpp"
#include "extract/candidates.hpp"
#include "extract/scoring.hpp"
#include "extract/shown_text.hpp"

#include <algorithm>
#include <map>

namespace tempinbox::extract {
namespace {

constexpr std::size_t max_part_bytes = 256 * 1024;
constexpr std::size_t max_codes = 20;
constexpr std::size_t max_candidates = 2'000;
constexpr double min_score = 0.5;
// To the best score; a number further behind is incidental.
constexpr double max_score_gap = 0.25;

struct scored_code
{
    code found;
    candidate_score scored;
    std::size_t begin = 0;
};

// `OTP for 55123 is 811739`: where a noun is given its value, what stands beside it before that is
// no code.
void drop_beside_given(std::vector<scored_code>& codes)
{
    std::map<std::size_t, std::size_t> given_at; // by noun, the last one
    for (const auto& one : codes)
        if (one.scored.is_given)
            given_at[one.scored.noun] = one.begin;
    std::erase_if(codes, [&](const scored_code& one) {
        const auto given = given_at.find(one.scored.noun);
        return one.scored.how < standing::stated && !one.scored.is_given &&
               given != given_at.end() && given->second > one.begin;
    });
}

void find_in(const shown_text& shown, std::vector<label> labels, const char* part,
             const mail_hints& hints, std::vector<scored_code>& found)
{
    candidate_scanner candidates(shown.text(), labels);
    code_scorer scorer(shown.text(), labels, hints, std::string_view(part) == "subject");
    std::vector<scored_code> of_part;
    for (std::size_t looked_at = 0; looked_at < max_candidates; ++looked_at) {
        const auto next = candidates.next();
        if (!next)
            break;
        const auto scored = scorer.score(*next);
        if (scored.score < min_score)
            continue;
        scored_code fresh;
        fresh.found.value = next->value;
        fresh.found.score = scored.score;
        fresh.found.part = part;
        const std::size_t prefix = next->form == code_form::prefixed ? 2 : 0;
        fresh.begin = static_cast<std::size_t>(next->text.data() - shown.text().data());
        fresh.found.offset = static_cast<int>(shown.offset_of(fresh.begin + prefix));
        fresh.scored = scored;
        of_part.push_back(std::move(fresh));
    }
    drop_beside_given(of_part);
    std::move(of_part.begin(), of_part.end(), std::back_inserter(found));
}

// Keeps the best code of each value, likeliest first.
std::vector<code> choose(std::vector<scored_code> found)
{
    std::stable_sort(found.begin(), found.end(), [](const scored_code& a, const scored_code& b) {
        return a.found.score > b.found.score;
    });
    std::vector<code> chosen;
    for (auto& [one, scored, begin] : found) {
        if (!chosen.empty() && one.score < chosen.front().score - max_score_gap)
            break;
        const bool is_repeat = std::any_of(chosen.begin(), chosen.end(), [&](const code& kept) {
            return kept.value == one.value;
        });
        if (!is_repeat && chosen.size() < max_codes)
            chosen.push_back(std::move(one));
    }
    return chosen;
}

} // namespace

std::vector<code> find_codes(std::string_view subject, const std::optional<std::string>& text,
                             const std::optional<html::visible_page>& page)
{
    const auto title = shown_text::of_plain(take_bytes(subject, max_part_bytes));
    const auto labels_of_title = find_labels(title.text());
    const auto hints_of_title = hints_of_subject(title.text(), labels_of_title);
    const bool is_expected = hints_of_title.subject_has_label || hints_of_title.subject_is_access;
    const bool is_page = page && page->shows_text;
    const auto shown =
        is_page
            ? shown_text::of_html(page->html, max_part_bytes)
            : shown_text::of_plain(take_bytes(text ? *text : std::string_view(), max_part_bytes));
    // Most mails have numbers but no word for a code: checking the words once saves scoring
    // numbers.
    auto labels = find_labels(shown.text());
    if (!is_expected && !has_code_label(labels) && !has_typed_value(shown.text()))
        return {};
    auto hints = hints_of_title;
    add_hints_of_text(shown.text(), labels, hints);
    std::vector<scored_code> found;
    find_in(title, labels_of_title, "subject", hints, found);
    find_in(shown, std::move(labels), is_page ? "html" : "text", hints, found);
    return choose(std::move(found));
}

} // namespace tempinbox::extract
