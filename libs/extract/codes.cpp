#include "extract/codes.hpp"

#include "common/core/text.hpp"
#include "extract/candidates.hpp"
#include "extract/scoring.hpp"
#include "extract/shown_text.hpp"

#include <algorithm>

namespace tempinbox::extract {
namespace {

constexpr std::size_t max_part_bytes = 256 * 1024;
constexpr std::size_t max_codes = 20;
constexpr std::size_t max_candidates = 2'000;
constexpr double min_score = 0.5;
// To the best score; a number further behind is incidental.
constexpr double max_score_gap = 0.25;

void find_in(const shown_text& shown, std::vector<label> labels, const char* part,
             const mail_hints& hints, std::vector<code>& found)
{
    code_scorer scorer(shown.text(), std::move(labels), hints, std::string_view(part) == "subject");
    candidate_scanner candidates(shown.text());
    for (std::size_t looked_at = 0; looked_at < max_candidates; ++looked_at) {
        const auto next = candidates.next();
        if (!next)
            return;
        const double score = scorer.score(*next);
        if (score < min_score)
            continue;
        code fresh;
        fresh.value = next->value;
        fresh.score = score;
        fresh.part = part;
        const std::size_t prefix = next->form == code_form::prefixed ? 2 : 0;
        const auto begin = static_cast<std::size_t>(next->text.data() - shown.text().data());
        fresh.offset = static_cast<int>(shown.offset_of(begin + prefix));
        found.push_back(std::move(fresh));
    }
}

// Keeps the best code of each value, likeliest first.
std::vector<code> choose(std::vector<code> found)
{
    std::stable_sort(found.begin(), found.end(),
                     [](const code& a, const code& b) { return a.score > b.score; });
    std::vector<code> chosen;
    for (auto& one : found) {
        if (one.score < found.front().score - max_score_gap && !chosen.empty())
            break;
        const bool is_repeat = std::any_of(chosen.begin(), chosen.end(), [&](const code& kept) {
            return kept.value == one.value;
        });
        if (!is_repeat && chosen.size() < max_codes)
            chosen.push_back(one);
    }
    return chosen;
}

} // namespace

std::vector<code> find_codes(std::string_view subject, const std::optional<std::string>& text,
                             const std::optional<html::visible_page>& page)
{
    const auto title = shown_text::of_plain(take_bytes(subject, max_part_bytes));
    const auto hints_of_title = hints_of_subject(title.text());
    const bool is_expected = hints_of_title.subject_has_label || hints_of_title.subject_is_access;
    std::vector<code> found;
    const auto search_part = [&](const shown_text& shown, const char* part) {
        auto labels = find_labels(shown.text());
        // Most mails have numbers but no word for a code: checking the words once saves scoring
        // numbers.
        if (!is_expected && !has_code_label(labels))
            return;
        auto hints = hints_of_title;
        add_hints_of_text(shown.text(), hints);
        find_in(title, find_labels(title.text()), "subject", hints, found);
        find_in(shown, std::move(labels), part, hints, found);
    };
    if (page && page->shows_text)
        search_part(shown_text::of_html(page->html, max_part_bytes), "html");
    else
        search_part(shown_text::of_plain(take_bytes(text.value_or(""), max_part_bytes)), "text");
    return choose(std::move(found));
}

} // namespace tempinbox::extract
