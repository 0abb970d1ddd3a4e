#pragma once

#include "common/rules/rules.hpp"

#include <string>
#include <vector>

namespace tempinbox::rules {

// A mail as it is given to the tester.
struct tested_mail
{
    std::string from;
    std::vector<std::string> to; // recipients as given
    std::string subject;
};

// Why a rule matches a mail or does not: what compiled_rules decides, condition by condition, for
// people to read. Whether the rule is enabled plays no part.
struct explanation
{
    struct condition_outcome
    {
        // Of several recipients the one that matches; when none does all of them, cut to
        // max_list_characters characters.
        std::string actual;
        bool matched = false;
    };

    bool matched = false;
    std::vector<condition_outcome> conditions; // in the order of the rule's
};

inline constexpr std::size_t max_list_characters = 1'000;

// `folded` is made of the same mail: once, for as many rules as are asked about.
explanation explain(const rule& candidate, const tested_mail& mail, const rule_input& folded);

} // namespace tempinbox::rules
