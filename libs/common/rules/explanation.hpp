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

// Why a rule matches a mail or does not: what compiled_rules decides, condition by condition, for people to read. Whether the
// rule is enabled plays no part.
struct explanation
{
    struct condition_outcome
    {
        std::string actual; // of several recipients the one that matches, or all of them when none does
        bool matched = false;
    };

    bool matched = false;
    std::vector<condition_outcome> conditions; // in the order of the rule's
};

explanation explain(const rule& asked, const tested_mail& mail);

} // namespace tempinbox::rules
