#pragma once

#include "common/core/ids.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::rules {

// What a condition compares, and how.
enum class field { subject, from, to };
enum class comparison { contains, equals, starts_with, ends_with };

std::string_view to_string(field what);
std::string_view to_string(comparison how);
result<field> parse_field(std::string_view text);
result<comparison> parse_comparison(std::string_view text);

struct condition
{
    field what = field::subject;
    comparison how = comparison::contains;
    std::string value; // 1–500 characters
};

struct rule
{
    rule_id id;
    std::string name; // 1–100 characters
    webhook_id webhook;
    std::vector<condition> conditions; // 0–5
    bool is_enabled = true;
};

// NFC, then Unicode case folding (utf8proc), and a space for blanks of any kind, which nobody can
// tell apart: both sides of every comparison.
std::string fold(std::string_view utf8);

// For running text: as `fold`, but what cannot be seen (default-ignorable code points, such as the
// soft hyphen) is dropped, each run of blanks and control characters is one space, and there is
// none at either end. So a phrase is found across a wrapped line.
std::string fold_text(std::string_view utf8);

// A mail as the rules see it, folded once.
class rule_input
{
public:
    rule_input(std::string_view from, const std::vector<std::string>& to, std::string_view subject);
    bool matches(field what, comparison how, std::string_view folded_value) const;
    // The index of the first recipient that matches.
    std::optional<std::size_t> find_recipient(comparison how, std::string_view folded_value) const;

private:
    std::string from_;
    std::vector<std::string> to_;
    std::string subject_;
};

// An account's enabled rules with their values folded once. Evaluating allocates only the result.
class compiled_rules
{
public:
    explicit compiled_rules(const std::vector<rule>& rules);

    struct outcome
    {
        std::vector<rule_id> matched;     // in the order of the rules
        std::vector<webhook_id> webhooks; // each once
    };
    outcome evaluate(const rule_input& mail) const;
    bool empty() const { return rules_.empty(); }
    // The rules it evaluates, in their order.
    const std::vector<rule>& rules() const { return rules_; }

private:
    std::vector<rule> rules_;
};

} // namespace tempinbox::rules
