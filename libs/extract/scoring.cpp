#include "extract/scoring.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "extract/sentence.hpp"
#include "extract/vocabulary.hpp"

#include <algorithm>

namespace tempinbox::extract {
namespace {

constexpr std::size_t context_bytes = 400;
constexpr std::size_t max_name_bytes = 48; // of the purpose named between a code and its noun

std::string_view last_bytes(std::string_view text, std::size_t count)
{
    return text.substr(text.size() - std::min(text.size(), count));
}

} // namespace

// A candidate and the text around it.
struct code_scorer::candidate_context
{
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string_view before; // the last `context_bytes`
    std::string_view after;
    std::string_view line_before;
    std::string_view line_after;
    // Nothing else on its line but marks.
    bool is_alone = false;
    // The words after it say what it is; set once is_joined is ruled out.
    bool is_explained = false;

    candidate_context(std::string_view text, const candidate_code& one)
        : begin(static_cast<std::size_t>(one.text.data() - text.data())),
          end(begin + one.text.size()),
          before(last_bytes(text.substr(0, begin), context_bytes)),
          after(text.substr(end, context_bytes)),
          line_before(before.substr(before.find_last_of('\n') + 1)),
          line_after(after.substr(0, after.find('\n'))),
          is_alone(words_in(line_before) == 0 && words_in(line_after) == 0)
    {}

    char previous(std::size_t back = 1) const
    {
        return before.size() < back ? ' ' : before[before.size() - back];
    }
    char next(std::size_t ahead = 1) const { return after.size() < ahead ? ' ' : after[ahead - 1]; }
    std::string_view tail() const { return last_bytes(line_before, 64); }
    bool is_quoted() const { return trim(line_before).starts_with('>'); }
};

// How strongly the words around a candidate announce a code.
struct code_scorer::evidence
{
    double weight = 0;
    bool is_tight = false; // `code: 123456`
    bool is_clear = false; // by a noun that means only a code, in its sentence
    bool is_on_line = true;
    bool is_behind = false; // the noun comes after the candidate

    void take_better(const evidence& other)
    {
        if (other.weight > weight)
            *this = other;
    }
};

code_scorer::code_scorer(std::string_view text, std::vector<label> labels, const mail_hints& hints,
                         bool is_subject)
    : text_(text),
      hints_(hints),
      is_subject_(is_subject),
      labels_(std::move(labels))
{
    std::erase_if(labels_, [&](const label& one) {
        const bool is_sure = one.says == label::meaning::a_code;
        if (one.says == label::meaning::something_else)
            return false;
        const auto noun = to_lower_ascii(text_.substr(one.begin, one.end - one.begin));
        if (hints_.is_meeting && (!is_sure || noun.find("pass") != std::string::npos ||
                                  noun.find("pin") != std::string::npos))
            return true;
        return hints_.is_receipt && noun.starts_with("auth");
    });
}

double code_scorer::score(const candidate_code& one)
{
    candidate_context at(text_, one);
    if (is_joined(at))
        return 0;
    at.is_explained = explains(at);
    const auto near = find_evidence(at, one);
    if (near.weight == 0 || !is_plausible(at, one, near) || is_something_else(at, one, near))
        return 0;
    double total = near.weight + form_weight(one);
    total += at.is_alone ? 0.22 : 0;
    total += hints_.subject_has_label ? 0.12 : hints_.subject_is_access ? 0.06 : 0;
    total += is_subject_ ? 0.1 : 0;
    total -= at.is_quoted() ? 0.25 : 0;
    if (total >= 0.4) {
        earlier found;
        found.begin = at.begin;
        found.size = one.value.size();
        found.is_alone = at.is_alone;
        earlier_.push_back(found);
    }
    return std::clamp(total, 0.0, 1.0);
}

// Part of a longer word, number, address or URL.
bool code_scorer::is_joined(const candidate_context& at) const
{
    const char previous = at.previous();
    const char next = at.next();
    // `***123456***`, `__123456__`
    for (const std::string_view marks : {"***", "__"})
        if (at.before.ends_with(marks) && at.after.starts_with(marks))
            return false;
    const auto is_one_of = [](std::string_view marks, char c) {
        return marks.find(c) != std::string_view::npos;
    };
    if (is_letter_or_digit(previous) || is_letter_or_digit(next) ||
        is_one_of("+/@_=&%#~\\$\x01", previous) || is_one_of("/@_=&~%#\\\x01", next))
        return true;
    if (is_one_of(".,-:'", previous) &&
        (is_digit(at.previous(2)) || (previous == '-' && is_letter_or_digit(at.previous(2)))))
        return true;
    if (is_one_of(".,-:'", next) && is_digit(at.next(2)))
        return true;
    // `123456.txt`, but not `123456.Do not share it`
    if (next == '.' && is_letter_or_digit(at.next(2)) &&
        !(is_upper(at.next(2)) && (is_lower(at.next(3)) || at.next(3) == ' ')))
        return true;
    if (at.before.ends_with("***") || at.before.ends_with("xxx") ||
        at.before.ends_with("\xe2\x80\xa2"))
        return true; // a masked number
    // The number continues across a blank: phones, cards, accounts.
    const bool digits_before = is_one_of(" )", previous) && is_digit(at.previous(2));
    const bool digits_after = next == ' ' && is_digit(at.next(2));
    return digits_before || digits_after;
}

bool code_scorer::is_something_else(const candidate_context& at, const candidate_code& one,
                                    const evidence& near) const
{
    const auto& words = vocabulary::get();
    if (names_other_number(at) || names_phone(at))
        return true;
    if (one.form != code_form::digits)
        return false;
    const auto front = take_bytes(at.after, 24);
    if (says(at.tail(), words.money_before) || says(front, words.money_after) ||
        says(front, words.unit_after))
        return true;
    const bool is_named = near.is_tight && !near.is_behind;
    if (is_year(one.value) &&
        (says(at.tail(), words.date_before) || says(at.tail(), words.right_before_year) ||
         (!is_named && says(at.tail(), words.year_before))))
        return true;
    if (one.text.size() == 9 && one.text[4] == '-' && is_year(one.value.substr(0, 4)) &&
        is_year(one.value.substr(4)))
        return true;
    // `Springfield, IL 62704`, `Paris, 75019`, `, 1017 DR Amsterdam`
    static const RE2 state_before(R"(,? [A-Z]{2} $)");
    static const RE2 town_after(R"(^ (?:[A-Z]{2} )?\p{Lu}\p{Ll}+)");
    if (one.value.size() == 5 && says(at.tail(), state_before))
        return true;
    return one.value.size() <= 6 &&
           (at.line_before.ends_with(", ") || at.line_before.ends_with(" - ")) &&
           says(at.after, town_after);
}

// True for `Order no. 4711`, false for `Login code for your account: 4711`.
bool code_scorer::names_other_number(const candidate_context& at) const
{
    if (!says(at.tail(), vocabulary::get().other_number))
        return false;
    // `ログイン番号 4711`: here the noun for a number is a code's.
    constexpr std::size_t nearest = 8;
    const bool is_own =
        any_label_before(at, at.begin - std::min(at.begin, nearest), [&](const label& noun) {
            return noun.says == label::meaning::a_code &&
                   words_in(text_.substr(noun.end, at.begin - noun.end)) == 0;
        });
    static const RE2 has_own_mark(
        R"((?i)(?:\bno\b\.?|\bnr\b\.?|num(?:ber|mer|ero|éro|er)|n[uú]mero|номер|n[°º]|№|#|\bid\b|番号|号码|號碼)[ .:]*(?:is|ist|est|es)?[ :]*$)");
    return !is_own && (says(at.tail(), has_own_mark) || !is_self_described(at));
}

// True for `Call us: 4711`, false for `Enter this code to verify your phone: 4711`.
bool code_scorer::names_phone(const candidate_context& at) const
{
    // Words before a label belong to its name: `Your mobile verification code`.
    const auto tail_begin = at.begin - at.tail().size();
    auto begin = tail_begin;
    any_label_before(at, tail_begin, [&](const label& one) {
        const bool is_name = one.says != label::meaning::something_else;
        begin = is_name ? one.end : begin;
        return is_name;
    });
    return says(text_.substr(begin, at.begin - begin), vocabulary::get().phone) &&
           !is_self_described(at);
}

// The sentence says that it is the code, which overrides the words beside it.
bool code_scorer::is_self_described(const candidate_context& at) const
{
    return at.is_explained || is_introduced(at);
}

// `T-Mobile: 4711 is your Acme, Inc. code`
bool code_scorer::explains(const candidate_context& at) const
{
    static const RE2 says_what_it_is(
        R"(^["'”)\]*]* (?:is|ist|est|es|è|é|er|är|je|to|jest)(?: (?:your|the|an?|ihr|dein|votre|ton|tu|o seu|a sua|il tuo|din|twój|uw|je))?(?: \p{Lu}[\pL\w&.,'!-]*)* ?$)");
    const auto* noun = label_after(at);
    return noun && noun->says != label::meaning::something_else &&
           noun->begin - at.end <= max_name_bytes &&
           says(text_.substr(at.end, noun->begin - at.end), says_what_it_is) &&
           !ends_sentence(text_, at.end, noun->begin);
}

const label* code_scorer::label_after(const candidate_context& at) const
{
    const auto next =
        std::lower_bound(labels_.begin(), labels_.end(), at.end,
                         [](const label& noun, std::size_t end) { return noun.begin < end; });
    return next == labels_.end() ? nullptr : &*next;
}

// The sentence began with the label and says what the code is for: `The code to confirm your order
// is 4711`.
bool code_scorer::is_introduced(const candidate_context& at) const
{
    static const RE2 ends_in_mark(
        R"((?i)(?:[:：は是为為]|คือ|(?:^|\s)(?:is|ist|lautet|est|este|es|è|é|er|är|je|to|jest|е|είναι|هو|הוא|là|adalah))[ *"'(\[]*$)");
    static const RE2 says_what_for(
        R"((?i)^ (?:for|to|that|which|at|on|with|pour|para|per|de|d'|sur|su|zum|zur|für|bei|um|om|voor|bij|för|till|på|hos|til|för att|dla|do|na|w|en|em|in|для|за|в|на) |^ (?-i:\p{Lu}).* (?:is|ist|lautet|est|es|è|é|är|er) ?:?[ *"'(\[]*$)");
    if (!says(at.line_before, ends_in_mark))
        return false;
    const auto line_begin = at.begin - at.line_before.size();
    return any_label_before(at, line_begin, [&](const label& one) {
        if (one.says == label::meaning::something_else || one.begin < line_begin)
            return false;
        const auto gap = text_.substr(one.end, at.begin - one.end);
        static const RE2 another_code(R"([0-9]{4})");
        const bool is_one_sentence = !ends_sentence(text_, one.end, at.begin) &&
                                     gap.find(':') == gap.rfind(':') && !says(gap, another_code);
        return is_one_sentence && (one.says == label::meaning::a_code || says(gap, says_what_for));
    });
}

// Tests the labels that end between `from` and the candidate, last one first, so that not every
// label of the mail is tested for each number.
template <class Test>
bool code_scorer::any_label_before(const candidate_context& at, std::size_t from, Test test) const
{
    auto next =
        std::upper_bound(labels_.begin(), labels_.end(), at.begin,
                         [](std::size_t begin, const label& noun) { return begin < noun.end; });
    while (next != labels_.begin() && (--next)->end >= from)
        if (test(*next))
            return true;
    return false;
}

// What each form needs beyond a label somewhere near.
bool code_scorer::is_plausible(const candidate_context& at, const candidate_code& one,
                               const evidence& near) const
{
    const bool is_shown = near.is_tight || at.is_alone || at.is_explained;
    switch (one.form) {
    case code_form::digits:
        if ((is_year(one.value) || is_date(one.value)) && !is_shown)
            return false;
        if (std::count(one.text.begin(), one.text.end(), '-') == 2 && one.value.size() == 6 &&
            !is_shown)
            return false; // 12-03-26
        return near.is_tight || is_self_described(at) ||
               says(at.tail(), vocabulary::get().typing_verb) ||
               (!says(at.line_before, vocabulary::get().imprint) &&
                !says(at.line_after, vocabulary::get().imprint));
    case code_form::prefixed:
        return true;
    case code_form::letters:
        if (says(one.value, vocabulary::get().capital_word))
            return false;
        return at.is_explained || (near.is_clear && !near.is_behind &&
                                   (near.is_tight || is_introduced(at) ||
                                    (at.is_alone && trim(at.before).ends_with(':'))));
    case code_form::letter_groups:
        return at.is_explained ||
               (near.is_clear && !near.is_behind && (is_shown || is_introduced(at)));
    case code_form::capital_groups:
    case code_form::small_groups:
        return is_shown || near.is_clear;
    case code_form::mixed:
        if (one.text.starts_with("0x") || at.line_before.find('%') != std::string_view::npos)
            return false;
        if (is_numbered_word(one.value) && (hints_.is_offer || !is_shown))
            return false;
        if (is_numbered_name(one.value) && !at.is_alone)
            return false;
        return is_shown || (near.is_clear && near.weight >= 0.5);
    }
    return false;
}

code_scorer::evidence code_scorer::find_evidence(const candidate_context& at,
                                                 const candidate_code& one) const
{
    auto best = before(at, one);
    best.take_better(after(at));
    best.take_better(by_verb(at));
    if (best.weight == 0 && !is_subject_) {
        const bool is_usual = one.form == code_form::digits && one.value.size() == 6;
        if (hints_.subject_has_label)
            best.weight = at.is_alone ? 0.32 : 0.2;
        else if (hints_.subject_is_access && at.is_alone && is_usual)
            best.weight = 0.2;
    }
    return best;
}

code_scorer::evidence code_scorer::before(const candidate_context& at,
                                          const candidate_code& one) const
{
    evidence found;
    const auto next =
        std::upper_bound(labels_.begin(), labels_.end(), at.begin,
                         [](std::size_t begin, const label& noun) { return begin < noun.end; });
    if (next == labels_.begin())
        return found;
    const auto& last = *std::prev(next);
    const auto gap = text_.substr(last.end, at.begin - last.end);
    if (last.says == label::meaning::something_else || gap.size() > context_bytes)
        return found;
    const bool is_sure = last.says == label::meaning::a_code;
    const bool is_other_paragraph =
        gap.find("\n\n") != std::string_view::npos || gap.find("\n \n") != std::string_view::npos;
    const bool is_sentence = !is_other_paragraph && !ends_sentence(text_, last.end, at.begin);
    found.is_on_line = gap.find('\n') == std::string_view::npos;
    found.is_tight = is_sentence && words_in(gap) <= 10 && gap.size() <= 60;
    found.is_clear = is_sure && (is_sentence || found.is_tight || at.is_alone);
    if (found.is_tight)
        found.weight = is_sure ? 0.62 : 0.52;
    else if (is_sentence && gap.size() <= 90)
        found.weight = is_sure ? 0.55 : 0.4;
    else if (at.is_alone)
        found.weight = is_sure ? 0.5 : 0.42;
    else if (!is_other_paragraph && gap.size() <= 180)
        found.weight = is_sure ? 0.36 : 0.26;
    else
        found.weight = gap.size() <= 200 ? (is_sure ? 0.2 : 0.1) : 0;
    found.weight = std::max(0.0, found.weight - rivals(at, one, last.end));

    if (!found.is_on_line && is_named(at.line_before))
        found.weight = std::max(0.0, found.weight - 0.3);
    return found;
}

// The penalty for candidates between the label and this one, which the label more likely means. A
// list of codes, each on its own line, has one label for all.
double code_scorer::rivals(const candidate_context& at, const candidate_code& one,
                           std::size_t label_end) const
{
    double against = 0;
    for (auto rival = earlier_.rbegin(); rival != earlier_.rend() && rival->begin >= label_end;
         ++rival)
        if (!(rival->is_alone && at.is_alone && rival->size == one.value.size()))
            against += 0.25;
    return std::min(against, 0.5);
}

// `123456 is your code`
code_scorer::evidence code_scorer::after(const candidate_context& at) const
{
    evidence found;
    const auto* next = label_after(at);
    if (!next || next->says == label::meaning::something_else)
        return found;
    found.is_behind = true;
    const auto gap = text_.substr(at.end, next->begin - at.end);
    const bool is_sure = next->says == label::meaning::a_code;
    const bool is_on_line = gap.find('\n') == std::string_view::npos;
    if (gap.size() > 90 || ends_sentence(text_, at.end, next->begin) ||
        (!is_on_line && !at.is_alone && gap.find("\n\n") != std::string_view::npos))
        return found;
    if (at.is_explained)
        found.weight = is_sure ? 0.56 : 0.5;
    else if (gap.size() <= 24 && is_on_line)
        found.weight = is_sure ? 0.56 : 0.44;
    else if (is_on_line)
        found.weight = is_sure ? 0.4 : 0.26;
    else
        found.weight = is_sure && gap.size() <= 60 ? 0.34 : 0.15;
    found.is_tight = words_in(gap) <= 10 && gap.size() <= 24;
    found.is_clear = is_sure && is_on_line;
    // `12345. Code: 67890`: the label after it has a number of its own.
    const auto past = text_.substr(next->end, 24);
    static const RE2 has_number(R"(^[^\n0-9]{0,14}[0-9]{3}[ -]?[0-9])");
    if (says(past, has_number))
        found.weight -= 0.2;
    return found;
}

// `enter 123456 in the app`
code_scorer::evidence code_scorer::by_verb(const candidate_context& at) const
{
    const auto& words = vocabulary::get();
    evidence found;
    const bool has_verb = says(at.tail(), words.typing_verb);
    const bool has_aim = says(take_bytes(at.after, 64), words.typed_to);
    found.weight = has_verb && has_aim ? 0.55 : has_verb ? 0.3 : has_aim ? 0.3 : 0;
    found.is_tight = has_verb && has_aim;
    return found;
}

} // namespace tempinbox::extract
