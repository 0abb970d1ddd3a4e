#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace tempinbox::testing {

// A new folder, deleted with the object.
class scratch_folder
{
public:
    scratch_folder()
    {
        std::string name =
            (std::filesystem::temp_directory_path() / "tempinbox-test-XXXXXX").string();
        if (!::mkdtemp(name.data()))
            throw std::runtime_error("cannot make a folder for the test");
        path_ = name;
    }
    ~scratch_folder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    scratch_folder(const scratch_folder&) = delete;

    std::string file(const std::string& name) const { return path_ / name; }
    // Written completely and then renamed, as tools that rotate files do.
    std::string write(const std::string& name, const std::string& content) const
    {
        std::ofstream(file(name + ".new"), std::ios::binary) << content;
        std::filesystem::rename(file(name + ".new"), file(name));
        return file(name);
    }

private:
    std::filesystem::path path_;
};

} // namespace tempinbox::testing
