#pragma once

#include "common/rules/rules.hpp"

#include <string>
#include <vector>

namespace tempinbox::rules {

// A mail as given to the rule tester.
struct tested_mail
{
    std::string from;
    std::vector<std::string> to; // recipients as given
    std::string subject;
};

// Why a rule matches a mail or does not: what compiled_rules decides, condition by condition, for
// people to read. Ignores whether the rule is enabled.
struct explanation
{
    struct condition_outcome
    {
        // With several recipients the one that matches; if none does, all of them, cut to
        // max_list_characters characters.
        std::string actual;
        bool matched = false;
    };

    bool matched = false;
    std::vector<condition_outcome> conditions; // in the order of the rule's
};

inline constexpr std::size_t max_list_characters = 1'000;

// `folded` must be made from the same mail; make it once for any number of rules.
explanation explain(const rule& candidate, const tested_mail& mail, const rule_input& folded);

} // namespace tempinbox::rules
