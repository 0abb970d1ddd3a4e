#pragma once

#include "extract/codes.hpp"

#include <map>
#include <string>
#include <vector>

namespace tempinbox::corpus {

struct expected_link
{
    std::string url;
    std::string kind;
};

// A mail of tests/corpus/mails and what a reader would take from it, as tests/corpus/expected.json
// says.
struct expected_mail
{
    std::string file;
    std::string language; // the first part of the file's name
    std::string raw;
    std::vector<std::string> codes; // likeliest first
    std::vector<expected_link> links;
};

// Every mail, by file name. Throws where a file has no entry or an entry no file.
std::vector<expected_mail> read_all();

// A text of one or a few lines, of tests/corpus/lines.json, as a mail with the subject "Hello".
struct expected_line
{
    std::string kind; // "sender with a denied noun"
    std::string language;
    std::string text;
    std::vector<std::string>
        codes; // all of them, likeliest first; none for what only looks like one
};

// Every line, in the order of the file.
std::vector<expected_line> read_lines();

// A share that the findings of a kind or a language must not fall below: tests/corpus/floors.json.
struct accuracy_floor
{
    double precision = 0;
    double recall = 0;
};

// By name of the kind or language.
struct accuracy_floors
{
    std::map<std::string, accuracy_floor> kinds;
    std::map<std::string, accuracy_floor> languages;
};

accuracy_floors read_floors();

// A mail of tests/corpus/injection, which wants something of whoever reads it: in each, orders have
// the word INJECT in them, what a person does not see UNSEEN, what a person reads SEEN.
struct injection_mail
{
    std::string file;
    std::string raw;
};

// Every one, by file name.
std::vector<injection_mail> read_injections();

// What the service finds in a mail, the way mail-ingest asks.
struct findings
{
    std::vector<extract::code> codes;
    std::vector<extract::link> links;
};

findings examine(const std::string& raw);
std::vector<extract::code> examine_line(const expected_line& line);

} // namespace tempinbox::corpus
