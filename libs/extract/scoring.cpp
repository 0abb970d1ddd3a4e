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

// `[Parcel Shop] 482913`, `【みどり銀行】482913`: what a sender is called names no number. A
// closing bracket right in front of the value may close a word that does: `(Order) 482913`.
std::string_view without_sender(std::string_view line)
{
    for (const std::string_view close : {"]", "】", "』", "」", "〕"})
        if (const auto at = line.rfind(close); at != std::string_view::npos)
            return line.substr(at + close.size());
    return line;
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
    // Set once is_joined is ruled out: a mark or "is" leads to it from a noun, the words after it
    // say what it is, or the sentence that leads to it does.
    bool is_marked = false;
    bool is_explained = false;
    bool is_stated_in_line = false;

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
    // The sentence says that it is the code, which overrides the words beside it.
    bool is_self_described() const { return is_explained || is_stated_in_line; }
    bool is_quoted() const { return trim(line_before).starts_with('>'); }
};

// What announces a candidate, and how it stands to it.
struct code_scorer::evidence
{
    standing how = standing::none;
    double weight = 0;
    std::size_t noun = 0;   // where it begins
    std::size_t words = 0;  // letters between it and the candidate
    bool is_clear = false;  // by a noun that means only a code, in its sentence
    bool is_behind = false; // the noun comes after the candidate
    bool is_typed = false;  // a verb of typing stands beside it
    bool is_direct = false; // nothing stands between noun and value but a mark or "is"

    bool is_beside() const { return how >= standing::beside; }
    bool is_given() const { return how == standing::stated || (is_direct && !is_behind); }
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

candidate_score code_scorer::score(const candidate_code& one)
{
    candidate_context at(text_, one);
    if (is_joined(at) || is_masked(one.value))
        return {};
    at.is_marked = is_marked(at);
    at.is_explained = explains(at);
    at.is_stated_in_line = is_stated_in_line(at);
    const auto near = find_evidence(at, one);
    if (near.weight == 0 || !is_plausible(at, one, near) || is_something_else(at, one, near))
        return {};
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
        found.how = near.how;
        found.noun = near.noun;
        found.is_given = near.is_given();
        earlier_.push_back(found);
    }
    candidate_score scored;
    scored.score = std::clamp(total, 0.0, 1.0);
    scored.how = near.how;
    scored.noun = near.noun;
    scored.is_given = near.is_given();
    return scored;
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
        is_one_of("/@_=&~%#\\\x01", next) || (next == '*' && is_digit(at.next(2))) ||
        (previous == '*' && is_digit(at.previous(2))))
        return true;
    if (!stands_at_noun(at) &&
        (is_one_of("+/@_=&%#~\\$\x01", previous) ||
         (is_one_of(".,-:'", previous) &&
          (is_digit(at.previous(2)) || (previous == '-' && is_letter_or_digit(at.previous(2)))))))
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

// `OTP=482913`, `OTP #482913`: only a sign stands between the noun and the value. Not so in the
// query of a URL, `?code=482913`.
bool code_scorer::stands_at_noun(const candidate_context& at) const
{
    const auto* noun = label_before(at);
    if (!noun || noun->says == label::meaning::something_else)
        return false;
    const auto sign = trim(text_.substr(noun->end, at.begin - noun->end));
    const char in_front = noun->begin == 0 ? ' ' : text_[noun->begin - 1];
    return (sign == "=" || sign == "#" || sign == "-" || sign == ":" || sign == ":#" ||
            sign == "/") &&
           std::string_view("?&/._").find(in_front) == std::string_view::npos;
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
    const bool is_named = near.is_beside() && !near.is_behind;
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
    if (!says(at.tail(), vocabulary::get().other_number) ||
        !says(without_sender(at.tail()), vocabulary::get().other_number))
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
    return !is_own && (says(at.tail(), has_own_mark) || !at.is_self_described());
}

// True for `Call us: 4711`, false for `Enter this code to verify your phone: 4711`.
bool code_scorer::names_phone(const candidate_context& at) const
{
    if (!says(at.tail(), vocabulary::get().phone) || at.is_self_described())
        return false;
    // Words before a label belong to its name: `Your mobile verification code`.
    const auto tail_begin = at.begin - without_sender(at.tail()).size();
    auto begin = tail_begin;
    any_label_before(at, tail_begin, [&](const label& one) {
        const bool is_name = one.says != label::meaning::something_else;
        begin = is_name ? one.end : begin;
        return is_name;
    });
    return says(text_.substr(begin, at.begin - begin), vocabulary::get().phone);
}

// `T-Mobile: 4711 is your Acme, Inc. code`
bool code_scorer::explains(const candidate_context& at) const
{
    const auto* noun = label_after(at);
    return noun && noun->says != label::meaning::something_else &&
           noun->begin - at.end <= max_name_bytes &&
           says(text_.substr(at.end, noun->begin - at.end), vocabulary::get().explanation) &&
           !ends_sentence(text_, at.end, noun->begin);
}

const label* code_scorer::label_after(const candidate_context& at) const
{
    const auto next =
        std::lower_bound(labels_.begin(), labels_.end(), at.end,
                         [](const label& noun, std::size_t end) { return noun.begin < end; });
    return next == labels_.end() ? nullptr : &*next;
}

// The last one that ends before the candidate.
const label* code_scorer::label_before(const candidate_context& at) const
{
    const auto next =
        std::upper_bound(labels_.begin(), labels_.end(), at.begin,
                         [](std::size_t begin, const label& noun) { return begin < noun.end; });
    return next == labels_.begin() ? nullptr : &*std::prev(next);
}

bool code_scorer::is_marked(const candidate_context& at) const
{
    const auto* noun = label_before(at);
    return noun && at.begin - noun->end <= context_bytes &&
           says(text_.substr(noun->begin, at.begin - noun->begin), vocabulary::get().stating_mark);
}

// The sentence names the code, may say what it is for, and ends in a mark: `The code to confirm
// your order is 4711`.
bool code_scorer::is_stated_in_line(const candidate_context& at) const
{
    constexpr std::size_t max_purpose_bytes = 90;
    const auto line_begin = at.begin - at.line_before.size();
    const auto* last = label_before(at);
    if (!at.is_marked || !last || last->end < line_begin)
        return false;
    return any_label_before(at, line_begin, [&](const label& one) {
        if (one.says == label::meaning::something_else || one.begin < line_begin)
            return false;
        const auto gap = text_.substr(one.end, at.begin - one.end);
        return !is_given_already(one) && !ends_sentence(text_, one.end, at.begin) &&
               gap.find(':') == gap.rfind(':') &&
               (one.says == label::meaning::a_code || gap.size() <= max_purpose_bytes);
    });
}

bool code_scorer::is_given_already(const label& noun) const
{
    for (auto other = earlier_.rbegin(); other != earlier_.rend() && other->begin >= noun.begin;
         ++other)
        if (other->noun == noun.begin && other->is_given)
            return true;
    return false;
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
                               const evidence& near)
{
    const bool is_shown = near.is_beside() || at.is_alone || at.is_explained;
    const bool is_alone_below = at.is_alone && trim(at.before).ends_with(':');
    // Behind a noun that means a code: stated, right beside it, or alone below it.
    const bool is_given =
        at.is_explained || (near.is_clear && !near.is_behind &&
                            (near.how == standing::stated || near.is_direct || is_alone_below));
    const auto& words = vocabulary::get();
    switch (one.form) {
    case code_form::digits:
        if ((is_year(one.value) || is_date(one.value)) && !is_shown)
            return false;
        if (one.is_loose && !(near.is_direct || at.is_alone || at.is_explained))
            return false;
        // `codes 1000 - 2000`
        if (one.is_loose && !near.is_clear && near.how != standing::stated && !at.is_alone)
            return false;
        if (is_short_date(one.text) && !((near.is_direct && near.words <= 6) || at.is_alone))
            return false;
        return near.is_beside() || at.is_self_described() || near.is_typed ||
               (!says(at.line_before, words.imprint) && !says(at.line_after, words.imprint));
    case code_form::prefixed:
        return true;
    case code_form::letters:
        if (says(one.value, words.capital_word) || says(at.after, words.person_after) ||
            (one.value.size() < 5 && !is_alone_below))
            return false;
        return is_given &&
               (at.is_explained || near.how == standing::stated || is_alone_below || !goes_on(at));
    case code_form::letter_groups:
        return is_given || (near.is_clear && !near.is_behind && is_shown);
    case code_form::words:
        return is_given || (near.is_direct && near.how == standing::stated);
    case code_form::capital_groups:
    case code_form::small_groups:
        return is_shown || near.is_clear || near.is_typed;
    case code_form::mixed:
        if (one.text.starts_with("0x") || at.line_before.find('%') != std::string_view::npos)
            return false;
        if (is_quantity(one.value) ||
            (one.value.size() < 5 &&
             !(near.is_direct || at.is_alone || at.is_explained || near.how == standing::stated ||
               (near.is_typed && near.is_beside()))))
            return false;
        // `share code SAVE10 with friends`
        if (is_numbered_word(one.value) &&
            (!is_shown || is_of_offer() ||
             !(near.is_clear || near.how == standing::stated || at.is_alone)))
            return false;
        if (is_numbered_name(one.value) && !at.is_alone)
            return false;
        return is_shown || near.is_typed || (near.is_clear && near.weight >= 0.5);
    }
    return false;
}

// The mail offers a discount, so `SPRING20` is its code.
bool code_scorer::is_of_offer()
{
    if (!is_offer_)
        is_offer_ = hints_.is_offer || says(hints_.text, vocabulary::get().offer);
    return *is_offer_;
}

code_scorer::evidence code_scorer::find_evidence(const candidate_context& at,
                                                 const candidate_code& one) const
{
    auto best = before(at, one);
    best.take_better(after(at));
    if (best.is_beside() && best.weight >= 0.5)
        return best;
    const auto typed = by_verb(at);
    // `We sent you an OTP. To approve, use 482913`
    if (typed.is_typed && best.weight >= 0.1 && best.weight < 0.5)
        best.weight = 0.5;
    best.is_typed = typed.is_typed;
    best.take_better(typed);
    if (best.weight == 0 && !is_subject_) {
        const bool is_usual = one.form == code_form::digits && one.value.size() == 6;
        if (hints_.subject_has_label)
            best.weight = at.is_alone ? 0.32 : 0.2;
        else if (hints_.subject_is_access && at.is_alone && is_usual)
            best.weight = 0.2;
    }
    return best;
}

// The order of evidence: decision 0029.
double weight_of(standing how, bool is_sure)
{
    switch (how) {
    case standing::stated:
    case standing::beside:
        return is_sure ? 0.62 : 0.52;
    case standing::alone:
        return is_sure ? 0.5 : 0.42;
    case standing::in_sentence:
        return is_sure ? 0.55 : 0.4;
    case standing::near_by:
        return is_sure ? 0.36 : 0.26;
    case standing::none:
        break;
    }
    return is_sure ? 0.2 : 0.1;
}

code_scorer::evidence code_scorer::before(const candidate_context& at,
                                          const candidate_code& one) const
{
    evidence found;
    const auto* last = label_before(at);
    if (!last || last->says == label::meaning::something_else)
        return found;
    const auto gap = text_.substr(last->end, at.begin - last->end);
    if (gap.size() > context_bytes)
        return found;
    const bool is_sure = last->says == label::meaning::a_code;
    const bool is_other_paragraph =
        gap.find("\n\n") != std::string_view::npos || gap.find("\n \n") != std::string_view::npos;
    const bool is_sentence = !is_other_paragraph && !ends_sentence(text_, last->end, at.begin);
    const bool is_on_line = gap.find('\n') == std::string_view::npos;
    const bool is_close = is_sentence && words_in(gap) <= 10 && gap.size() <= 60;
    found.noun = last->begin;
    found.words = words_in(gap);
    found.is_direct =
        is_sentence && (words_in(gap) == 0 || (at.is_marked && is_close && words_in(gap) <= 12));
    if (at.is_stated_in_line || (is_close && at.is_marked))
        found.how = standing::stated;
    else if (is_close)
        found.how = standing::beside;
    else if (is_sentence && gap.size() <= 90)
        found.how = standing::in_sentence;
    else if (at.is_alone)
        found.how = standing::alone;
    else if (!is_other_paragraph && gap.size() <= 180)
        found.how = standing::near_by;
    found.is_clear = is_sure && (is_sentence || at.is_alone);
    found.weight =
        found.how == standing::none && gap.size() > 200 ? 0 : weight_of(found.how, is_sure);
    found.weight = std::max(0.0, found.weight - rivals(at, one, found.how, last->end));
    if (!is_on_line && is_named(at.line_before))
        found.weight = std::max(0.0, found.weight - 0.3);
    return found;
}

// The penalty for candidates between the label and this one, which the label more likely means:
// those that stand no weaker. A list of codes, each on its own line, has one label for all.
double code_scorer::rivals(const candidate_context& at, const candidate_code& one, standing how,
                           std::size_t label_end) const
{
    double against = 0;
    for (auto rival = earlier_.rbegin(); rival != earlier_.rend() && rival->begin >= label_end;
         ++rival) {
        const bool is_weaker = how == standing::stated && rival->how < how;
        const bool is_of_list = rival->is_alone && at.is_alone && rival->size == one.value.size();
        against += is_weaker || is_of_list ? 0 : 0.25;
    }
    return std::min(against, 0.5);
}

// `123456 is your code`
code_scorer::evidence code_scorer::after(const candidate_context& at) const
{
    evidence found;
    const auto* next = label_after(at);
    if (!next || next->says == label::meaning::something_else)
        return found;
    const auto gap = text_.substr(at.end, next->begin - at.end);
    const bool is_sure = next->says == label::meaning::a_code;
    const bool is_on_line = gap.find('\n') == std::string_view::npos;
    if (gap.size() > 90 || ends_sentence(text_, at.end, next->begin) ||
        (!is_on_line && !at.is_alone && gap.find("\n\n") != std::string_view::npos))
        return found;
    found.is_behind = true;
    found.noun = next->begin;
    found.is_clear = is_sure && is_on_line;
    found.is_direct = words_in(gap) == 0;
    if (at.is_explained) {
        found.how = standing::stated;
        found.weight = is_sure ? 0.56 : 0.5;
    } else if (gap.size() <= 24 && is_on_line) {
        found.how = words_in(gap) <= 10 ? standing::beside : standing::in_sentence;
        found.weight = is_sure ? 0.56 : 0.44;
    } else if (is_on_line) {
        found.how = standing::in_sentence;
        found.weight = is_sure ? 0.4 : 0.26;
    } else {
        found.how = at.is_alone ? standing::alone : standing::near_by;
        found.weight = is_sure && gap.size() <= 60 ? 0.34 : 0.15;
    }
    // `deleted 4829 temporary passwords`: how many there are.
    static const RE2 many(R"((?:codes|passwords|pins|tokens|otps)$)", case_blind());
    if (gap == " " && says(text_.substr(next->begin, next->end - next->begin), many))
        return {};
    // `12345. Code: 67890`: the label after it has a number of its own.
    const auto past = text_.substr(next->end, 24);
    static const RE2 has_number(R"(^[^\n0-9]{0,14}[0-9]{3}[ -]?[0-9])");
    if (says(past, has_number))
        found.weight -= 0.2;
    return found;
}

// `enter 123456 in the app`, `um sich anzumelden, 123456 eingeben`
code_scorer::evidence code_scorer::by_verb(const candidate_context& at) const
{
    const auto& words = vocabulary::get();
    evidence found;
    const auto front = take_bytes(at.line_after, 64);
    const bool is_before = says(at.tail(), words.typing_verb);
    const bool is_after = says(front, words.typed_after);
    if (!is_before && !is_after)
        return found;
    // `geben Sie 482913 ein`: a verb around it needs no aim. `use 4829 points to continue` types
    // something else.
    const bool ends_clause = is_after || !goes_on(at);
    const bool has_aim = (is_before && is_after) || says(front, words.aim_after) ||
                         (ends_clause && (says(at.tail(), words.aim) || says(front, words.aim)));
    found.is_typed = true;
    found.weight = has_aim ? 0.55 : 0.3;
    if (has_aim)
        found.how = standing::beside;
    return found;
}

// More words of the same sentence stand behind it.
bool code_scorer::goes_on(const candidate_context& at)
{
    const auto next = at.line_after.substr(0, at.line_after.find_first_not_of(' ') + 1);
    return !next.empty() && words_in(next) > 0;
}

} // namespace tempinbox::extract
