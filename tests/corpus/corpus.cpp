#include "corpus/corpus.hpp"

#include "common/json/value.hpp"
#include "mime/view.hpp"

#include <filesystem>
#include <fstream>

namespace tempinbox::corpus {
namespace {

std::string read_file(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw std::runtime_error("cannot read " + path.string());
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

expected_mail read_entry(const std::filesystem::path& folder, const std::string& file,
                         const json::value& entry)
{
    expected_mail mail;
    mail.file = file;
    mail.language = file.substr(0, file.find('-'));
    mail.raw = read_file(folder / file);
    for (const auto& code : entry["codes"].items())
        mail.codes.push_back(code.text());
    for (const auto& link : entry["links"].items()) {
        expected_link wanted;
        wanted.url = link["url"].text();
        wanted.kind = link["kind"].text();
        mail.links.push_back(std::move(wanted));
    }
    return mail;
}

json::value read_json(const std::string& name)
{
    json::limits large;
    large.bytes = 4 * 1024 * 1024;
    const std::filesystem::path top = TEMPINBOX_CORPUS_FOLDER;
    const auto parsed = json::value::parse(read_file(top / name), large);
    if (!parsed)
        throw std::runtime_error(name + ": " + parsed.error().message);
    return *parsed;
}

std::map<std::string, accuracy_floor> read_floors_of(const json::value& rows)
{
    std::map<std::string, accuracy_floor> floors;
    for (const auto& [name, row] : rows.members()) {
        accuracy_floor floor;
        floor.precision = row["precision"].number();
        floor.recall = row["recall"].number();
        floors[name] = floor;
    }
    return floors;
}

} // namespace

std::vector<expected_mail> read_all()
{
    const std::filesystem::path top = TEMPINBOX_CORPUS_FOLDER;
    std::vector<expected_mail> mails;
    for (const auto& [file, entry] : read_json("expected.json").members())
        mails.push_back(read_entry(top / "mails", file, entry));
    std::sort(mails.begin(), mails.end(),
              [](const auto& a, const auto& b) { return a.file < b.file; });

    const auto files = std::distance(std::filesystem::directory_iterator(top / "mails"),
                                     std::filesystem::directory_iterator());
    if (static_cast<std::size_t>(files) != mails.size())
        throw std::runtime_error(
            "tests/corpus/mails and tests/corpus/expected.json do not name the same mails");
    return mails;
}

std::vector<expected_line> read_lines()
{
    std::vector<expected_line> lines;
    for (const auto& entry : read_json("lines.json").items()) {
        expected_line line;
        line.kind = entry["kind"].text();
        line.language = entry["language"].text();
        line.text = entry["text"].text();
        for (const auto& code : entry["codes"].items())
            line.codes.push_back(code.text());
        lines.push_back(std::move(line));
    }
    return lines;
}

accuracy_floors read_floors()
{
    const auto parsed = read_json("floors.json");
    accuracy_floors floors;
    floors.kinds = read_floors_of(parsed["kinds"]);
    floors.languages = read_floors_of(parsed["languages"]);
    return floors;
}

std::vector<injection_mail> read_injections()
{
    std::vector<injection_mail> mails;
    const std::filesystem::path folder =
        std::filesystem::path(TEMPINBOX_CORPUS_FOLDER) / "injection";
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        mails.push_back({entry.path().filename().string(), read_file(entry.path())});
    std::sort(mails.begin(), mails.end(),
              [](const auto& a, const auto& b) { return a.file < b.file; });
    return mails;
}

findings examine(const std::string& raw)
{
    mime::view_limits limits;
    limits.with_page = true;
    const auto view = mime::read_view(raw, limits);
    findings found;
    found.codes = extract::find_codes(view.summary.subject, view.text, view.page);
    found.links = extract::find_links(view.text, view.page);
    return found;
}

std::vector<extract::code> examine_line(const expected_line& line)
{
    return extract::find_codes("Hello", line.text, std::nullopt);
}

} // namespace tempinbox::corpus
