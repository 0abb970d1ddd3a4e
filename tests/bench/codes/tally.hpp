#pragma once

#include "corpus/corpus.hpp"

#include <map>
#include <string>
#include <vector>

namespace tempinbox::bench {

struct share
{
    int right = 0;
    int of = 0;

    double value() const { return of == 0 ? 1.0 : static_cast<double>(right) / of; }
};

// Precision: how much of what was found is right; recall: how much of what there is was found.
struct accuracy
{
    share precision;
    share recall;
};

struct language_tally
{
    int mails = 0;
    accuracy first_code; // one a mail
    accuracy any_code;
    accuracy links;
    share kinds; // of the links found rightly
};

// Codes of mails and of lines together.
struct code_tally
{
    int texts = 0;
    accuracy codes;
};

// Compares findings with what is expected: by language, by kind, in total, and miss by miss in
// words.
class tally
{
public:
    void add(const corpus::expected_mail& mail, const corpus::findings& found);
    void add(const corpus::expected_line& line, const std::vector<extract::code>& found);

    const std::map<std::string, code_tally>& codes_by_kind() const { return codes_by_kind_; }
    const std::map<std::string, code_tally>& codes_by_language() const
    {
        return codes_by_language_;
    }
    const std::map<std::string, language_tally>& languages() const { return languages_; }
    const language_tally& total() const { return total_; }
    const std::vector<std::string>& misses() const { return misses_; }

private:
    void add_codes(const corpus::expected_mail& mail, const corpus::findings& found,
                   language_tally& into);
    void add_links(const corpus::expected_mail& mail, const corpus::findings& found,
                   language_tally& into);

    void add_codes(const std::string& kind, const std::string& language, const accuracy& codes);

    std::map<std::string, code_tally> codes_by_kind_;
    std::map<std::string, code_tally> codes_by_language_;
    std::map<std::string, language_tally> languages_;
    language_tally total_;
    std::vector<std::string> misses_;
};

} // namespace tempinbox::bench
