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

} // namespace

std::vector<expected_mail> read_all()
{
    const std::filesystem::path top = TEMPINBOX_CORPUS_FOLDER;
    json::limits large;
    large.bytes = 4 * 1024 * 1024;
    const auto parsed = json::value::parse(read_file(top / "expected.json"), large);
    if (!parsed)
        throw std::runtime_error("expected.json: " + parsed.error().message);

    std::vector<expected_mail> mails;
    for (const auto& [file, entry] : parsed->members())
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

} // namespace tempinbox::corpus
