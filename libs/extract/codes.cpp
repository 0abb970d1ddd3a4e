#include "extract/codes.hpp"

#include "common/core/text.hpp"
#include "extract/candidates.hpp"
#include "extract/html_mask.hpp"

#include <re2/re2.h>

#include <algorithm>

namespace tempinbox::extract {
namespace {

constexpr std::size_t longest_part = 256 * 1024;
constexpr std::size_t most_codes = 10;
constexpr std::size_t most_candidates = 2'000;
constexpr std::size_t context_bytes = 160;
constexpr double least_score = 0.5;

re2::StringPiece piece(std::string_view text)
{
    return re2::StringPiece(text.data(), text.size());
}

RE2::Options case_blind()
{
    RE2::Options options;
    options.set_case_sensitive(false);
    options.set_log_errors(false);
    return options;
}

// The patterns, compiled once a process; RE2 objects are safe to share between threads.
struct patterns
{
    RE2 keyword{
        R"((verification code|security code|one[- ]?time|passcode|pass code|otp\b|2fa|access code|login code|sign[- ]?in code|confirmation code|)"
        R"(activation code|auth(?:entication|orization)? code|\bcode\b|\bpin\b|\btoken\b|verify|verification|)"
        R"(c[oó]digo|\bcodice\b|best[aä]tigungscode|sicherheitscode|\bkode\b|\bkod\b|\bkodu\b|код|пароль|验证码|驗證碼|校验码|確認コード|認証コード|認証番号|인증번호|인증 코드|رمز))",
        case_blind()};
    RE2 strong_keyword{
        R"((verification code|security code|one[- ]?time (?:pass)?code|one[- ]?time pass|passcode|otp\b|confirmation code|login code|sign[- ]?in code|access code|)"
        R"(activation code|auth(?:entication|orization)? code|(?:your|the|this|following|this) (?:\w+ ){0,3}(?:code|pin)\b|code(?: is|:)|pin(?: is|:)|enter (?:the|this)|)"
        R"(c[oó]digo de (?:verificaci|seguridad|confirmaci)|best[aä]tigungscode|sicherheitscode|код подтверждения|验证码|驗證碼|確認コード|認証コード|認証番号|인증번호))",
        case_blind()};
    RE2 other_number{
        R"((order|invoice|tracking|track(?:ing)? (?:no|number)|parcel|shipment|receipt|ticket|case|ref(?:erence)?|customer|account(?: number)?|booking|reservation|)"
        R"(serial|model|version|zip|postal|p\.?o\.? box|suite|room|flight|iban|vat|tax|ending in|bestell\w*|rechnung\w*|sendung\w*|kunden\w*)[ .:#\-]*(?:no\.?|nr\.?|number|id|code)?[ .:#\-]*$)",
        case_blind()};
    RE2 phone{R"((tel|phone|fax|call|mobile|whatsapp|telefon|sms to|text us at|dial)[^\n]{0,20}$)", case_blind()};
    RE2 money_before{R"(([$€£¥₹₽]|\b(?:usd|eur|gbp|chf|cad|aud|jpy|inr|rs\.?|total|price|amount))[ :]*$)", case_blind()};
    RE2 money_after{R"(^(?:[.,][0-9]{2}\b|[ ]?(?:[$€£¥₹₽]|usd\b|eur\b|gbp\b|chf\b|euros?\b|dollars?\b|%)))",
                    case_blind()};
    RE2 unit_after{
        R"(^ ?(?:minutes?|mins?|hours?|days?|seconds?|years?|months?|times|people|users|items|points|mb|gb|kb|px|pm|am|kg|km|°)\b)",
        case_blind()};
    RE2 year{R"((?:19|20)[0-9]{2})"};
    RE2 date_near{
        R"((jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|©|copyright|\(c\)|[0-9]{1,2}[./-][0-9]{1,2}[./-])[^\n]{0,12}$)",
        case_blind()};
    RE2 state_before{R"(\b[A-Z]{2} $)"};
    RE2 subject_has_code{
        R"(\b(code|otp|pin|passcode|verif\w*|confirm\w*|2fa|one[- ]time|sign[- ]?in|log[- ]?in|c[oó]digo|best[aä]tigung\w*)\b|验证码|認証|인증|код)",
        case_blind()};
};

const patterns& known()
{
    static const patterns compiled;
    return compiled;
}

bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Letters and digits without the separators of groups.
std::string bare(std::string_view text)
{
    std::string kept;
    std::copy_if(text.begin(), text.end(), std::back_inserter(kept), is_word);
    return kept;
}

struct candidate
{
    std::string_view text;
    std::string_view before; // on its line and the ones before, bounded
    std::string_view after;
    std::string_view line_before;

    candidate(std::string_view whole, std::size_t at, std::string_view found) : text(found)
    {
        before = whole.substr(at - std::min(at, context_bytes), std::min(at, context_bytes));
        after = whole.substr(at + found.size(), context_bytes);
        const auto line_start = before.rfind('\n');
        line_before = line_start == std::string_view::npos ? before : before.substr(line_start + 1);
    }
};

class judge
{
public:
    judge(bool is_subject, bool subject_has_code) : is_subject_(is_subject), subject_has_code_(subject_has_code) {}

    // 0: no code at all.
    double score(const candidate& one) const
    {
        const auto value = bare(one.text);
        const bool is_numeric = std::all_of(value.begin(), value.end(), is_digit);
        if (!has_code_shape(one.text, value, is_numeric) || is_joined(one) || is_something_else(one, value, is_numeric))
            return 0;
        const double near = keyword_score(one);
        if (near == 0 && !subject_has_code_)
            return 0;
        double total = near > 0 ? near : 0.3;
        if (stands_alone(one))
            total += 0.25;
        if (is_numeric)
            total += value.size() == 6 ? 0.15 : value.size() == 4 || value.size() == 5 || value.size() == 8 ? 0.1 : 0.02;
        else
            total += 0.03;
        if (subject_has_code_)
            total += 0.1;
        if (is_subject_)
            total += 0.1;
        if (is_numeric && value.size() == 4 && RE2::FullMatch(piece(value), known().year) && near < 0.55)
            return 0;
        return std::min(total, 1.0);
    }

private:
    static bool has_code_shape(std::string_view text, const std::string& value, bool is_numeric)
    {
        if (is_numeric)
            return value.size() >= 4 && value.size() <= 10;
        if (value.size() < 5 || value.size() > 16)
            return false;
        const bool has_digit = std::any_of(value.begin(), value.end(), is_digit);
        const bool has_lower = std::any_of(value.begin(), value.end(), [](char c) { return c >= 'a' && c <= 'z'; });
        const bool has_upper = std::any_of(value.begin(), value.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
        const bool is_grouped = text.find('-') != std::string_view::npos;
        return has_digit && (has_upper || has_lower) && (!is_grouped || !has_lower) &&
               !(has_upper && has_lower && value.size() < 6);
    }

    // Part of a longer word, address, number or URL.
    static bool is_joined(const candidate& one)
    {
        const char previous = one.before.empty() ? ' ' : one.before.back();
        const char next = one.after.empty() ? ' ' : one.after.front();
        const char past_next = one.after.size() > 1 ? one.after[1] : ' ';
        if (is_word(previous) || is_word(next) || std::string_view("+/@_=&%#~").find(previous) != std::string_view::npos)
            return true;
        if (std::string_view("/@_=&~%").find(next) != std::string_view::npos)
            return true;
        if ((previous == '.' || previous == ',' || previous == '-' || previous == ':') && one.before.size() > 1 &&
            is_digit(one.before[one.before.size() - 2]))
            return true;
        if ((next == '.' || next == ',' || next == '-' || next == ':') && is_digit(past_next))
            return true;
        if (next == '.' && is_word(past_next))
            return true;
        // More digits of a longer number on either side of a blank: phone, card and account numbers.
        const bool digits_before = previous == ' ' && one.before.size() > 1 && is_digit(one.before[one.before.size() - 2]);
        const bool digits_after = next == ' ' && is_digit(past_next);
        return digits_before || digits_after ||
               (previous == ')' && one.before.size() > 1 && is_digit(one.before[one.before.size() - 2]));
    }

    static bool is_something_else(const candidate& one, const std::string& value, bool is_numeric)
    {
        const auto& all = known();
        const auto last = one.line_before.substr(one.line_before.size() - std::min<std::size_t>(one.line_before.size(), 48));
        if (RE2::PartialMatch(piece(last), all.other_number) || RE2::PartialMatch(piece(last), all.phone))
            return true;
        if (!is_numeric)
            return false;
        if (RE2::PartialMatch(piece(last), all.money_before) ||
            RE2::PartialMatch(piece(one.after.substr(0, 16)), all.money_after) ||
            RE2::PartialMatch(piece(one.after.substr(0, 16)), all.unit_after))
            return true;
        if (value.size() == 4 && RE2::FullMatch(piece(value), all.year) && RE2::PartialMatch(piece(last), all.date_near))
            return true;
        return value.size() == 5 && RE2::PartialMatch(piece(last), all.state_before);
    }

    // How near and how clear the words are that announce a code.
    double keyword_score(const candidate& one) const
    {
        const auto& all = known();
        double best = 0;
        const auto consider = [&](std::string_view context, bool is_before, double weight) {
            if (context.empty())
                return;
            if (RE2::PartialMatch(piece(context), all.strong_keyword))
                best = std::max(best, (is_before ? 0.6 : 0.5) * weight);
            else if (RE2::PartialMatch(piece(context), all.keyword))
                best = std::max(best, (is_before ? 0.45 : 0.4) * weight);
        };
        const auto end_of_line = std::min(one.after.find('\n'), one.after.size());
        consider(one.line_before, true, 1);
        consider(one.after.substr(0, std::min<std::size_t>(end_of_line, 80)), false, 1);
        consider(one.before, true, 0.85);
        consider(one.after, false, 0.7);
        return best;
    }

    static bool stands_alone(const candidate& one)
    {
        const auto rest = one.after.substr(0, std::min(one.after.find('\n'), one.after.size()));
        return trim(one.line_before).empty() && trim(rest).empty();
    }

    bool is_subject_;
    bool subject_has_code_;
};

bool is_number(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || c == ' ' || c == '-'; });
}

void find_in(std::string_view whole, const char* name, bool subject_has_code, std::vector<code>& found)
{
    const auto text = take_bytes(whole, longest_part);
    const bool is_subject = std::string_view(name) == "subject";
    const judge scores(is_subject, subject_has_code);
    candidate_scanner candidates(text);
    bool is_announced = subject_has_code;
    std::size_t counted_to = 0;
    std::size_t characters = 0;
    for (std::size_t looked_at = 0; looked_at < most_candidates; ++looked_at) {
        auto next = candidates.next();
        if (!next)
            return;
        // Most mails have numbers and no word for a code: one look at the whole saves many at the parts.
        if (!is_announced && !RE2::PartialMatch(piece(text), known().keyword))
            return;
        is_announced = true;
        // `G-123456`: what is typed in is the number.
        if (next->starts_with("G-") && is_number(next->substr(2)))
            next->remove_prefix(2);
        const auto at = static_cast<std::size_t>(next->data() - text.data());
        const double score = scores.score(candidate(text, at, *next));
        if (score < least_score)
            continue;
        code fresh;
        fresh.value = is_number(*next) ? bare(*next) : std::string(*next);
        fresh.score = score;
        fresh.part = name;
        characters += count_characters(text.substr(counted_to, at - counted_to));
        counted_to = at;
        fresh.offset = static_cast<int>(characters);
        found.push_back(std::move(fresh));
    }
}

} // namespace

std::vector<code> find_codes(std::string_view subject, const std::optional<std::string>& text,
                             const std::optional<std::string>& html)
{
    const bool subject_has_code = RE2::PartialMatch(piece(subject), known().subject_has_code);
    std::vector<code> found;
    find_in(subject, "subject", subject_has_code, found);
    if (text)
        find_in(*text, "text", subject_has_code, found);
    const bool is_in_text = std::any_of(found.begin(), found.end(), [](const code& one) { return one.part == "text"; });
    if (html && !is_in_text)
        find_in(mask_html(take_bytes(*html, longest_part)), "html", subject_has_code, found);

    std::stable_sort(found.begin(), found.end(), [](const code& a, const code& b) { return a.score > b.score; });
    std::vector<code> distinct;
    for (auto& one : found) {
        const bool is_repeat =
            std::any_of(distinct.begin(), distinct.end(), [&](const code& kept) { return kept.value == one.value; });
        if (!is_repeat && distinct.size() < most_codes)
            distinct.push_back(std::move(one));
    }
    return distinct;
}

} // namespace tempinbox::extract
