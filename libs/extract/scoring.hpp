#pragma once

#include "extract/candidates.hpp"
#include "extract/label.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tempinbox::extract {

// Whether a value stands beside a verb of typing.
bool has_typed_value(std::string_view text);

// The labels of a text in order. Of overlapping labels `something_else` wins, then the surer one.
std::vector<label> find_labels(std::string_view text);

// What the whole mail says about its numbers.
struct mail_hints
{
    bool is_meeting = false;        // PINs and passcodes are shared by all who are invited
    bool is_receipt = false;        // authorization codes are the bank's
    bool is_offer = false;          // the subject offers a discount
    std::string_view text;          // the part with the body, which may offer one too
    bool subject_has_label = false; // a label of a code
    bool subject_is_access = false; // "Sign in to …", "Confirm your …"
};

mail_hints hints_of_subject(std::string_view subject, const std::vector<label>& labels);
void add_hints_of_text(std::string_view text, const std::vector<label>& labels, mail_hints& hints);

// Whether any label may mean a code.
bool has_code_label(const std::vector<label>& labels);

// How a candidate stands to the noun that announces it, weakest first: decision 0029.
enum class standing { none, near_by, in_sentence, alone, beside, stated };

// From 0 to 1; 0.5 and more is a code.
struct candidate_score
{
    double score = 0;
    standing how = standing::none;
    std::size_t noun = 0;  // where it begins
    bool is_given = false; // stated, or right behind the noun: the noun means it
};

// Scores the candidates of one part. README.md says how the score is computed.
class code_scorer
{
public:
    code_scorer(std::string_view text, std::vector<label> labels, const mail_hints& hints,
                bool is_subject);

    // Call this in order of the candidates: of two with one label the first is likelier.
    candidate_score score(const candidate_code& one);

private:
    struct candidate_context;
    struct evidence;
    struct earlier
    {
        std::size_t begin = 0;
        std::size_t size = 0;
        std::size_t noun = 0;
        bool is_alone = false;
        bool is_given = false;
        standing how = standing::none;
    };

    bool is_joined(const candidate_context& at) const;
    bool is_something_else(const candidate_context& at, const candidate_code& one,
                           const evidence& near) const;
    bool names_other_number(const candidate_context& at) const;
    bool names_phone(const candidate_context& at) const;
    bool is_marked(const candidate_context& at) const;
    bool is_stated_in_line(const candidate_context& at) const;
    bool explains(const candidate_context& at) const;
    static bool goes_on(const candidate_context& at);
    bool is_given_already(const label& noun) const;
    bool stands_at_noun(const candidate_context& at) const;
    const label* label_before(const candidate_context& at) const;
    const label* label_after(const candidate_context& at) const;
    template <class Test>
    bool any_label_before(const candidate_context& at, std::size_t from, Test test) const;
    bool is_plausible(const candidate_context& at, const candidate_code& one, const evidence& near);
    bool is_of_offer();
    evidence find_evidence(const candidate_context& at, const candidate_code& one) const;
    evidence before(const candidate_context& at, const candidate_code& one) const;
    evidence after(const candidate_context& at) const;
    evidence by_verb(const candidate_context& at) const;
    double rivals(const candidate_context& at, const candidate_code& one, standing how,
                  std::size_t label_end) const;

    std::string_view text_;
    mail_hints hints_;
    bool is_subject_;
    std::vector<label> labels_;
    std::vector<earlier> earlier_;
    std::optional<bool> is_offer_; // worked out when a word with a number is met
};

} // namespace tempinbox::extract
