#include "common/runtime/memory_limit.hpp"

#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;

namespace {

constexpr std::uint64_t mib = 1024 * 1024;

// A /proc and /sys as a kernel shows them to a process.
class arranged_root
{
public:
    explicit arranged_root(const std::string& groups) { write("proc/self/cgroup", groups); }

    void write(const std::string& path, const std::string& content)
    {
        const std::filesystem::path file = folder_.file(path);
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << content;
    }
    std::optional<std::uint64_t> limit() const
    {
        return runtime::container_memory_limit(folder_.file(""));
    }

private:
    testing::scratch_folder folder_;
};

} // namespace

TEST_CASE("the memory limit of version 2 is the smallest of the group and those above", "[runtime]")
{
    arranged_root root("0::/kubepods/pod1/main\n");
    CHECK_FALSE(root.limit());
    root.write("sys/fs/cgroup/kubepods/memory.max", "max\n");
    root.write("sys/fs/cgroup/kubepods/pod1/main/memory.max", "536870912\n");
    CHECK(root.limit() == 512 * mib);
    root.write("sys/fs/cgroup/kubepods/pod1/memory.max", "268435456\n");
    CHECK(root.limit() == 256 * mib);
}

TEST_CASE("a container sees its own group as the top one", "[runtime]")
{
    arranged_root two("0::/\n");
    two.write("sys/fs/cgroup/memory.max", "268435456\n");
    CHECK(two.limit() == 256 * mib);

    arranged_root one("7:cpu,cpuacct:/docker/abc\n6:memory:/docker/abc\n0::/\n");
    one.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "134217728\n");
    CHECK(one.limit() == 128 * mib);
}

TEST_CASE("the limit of version 1 is read, and its number for none is none", "[runtime]")
{
    arranged_root root("6:memory:/docker/abc\n");
    root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    CHECK_FALSE(root.limit());
    root.write("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "67108864\n");
    CHECK(root.limit() == 64 * mib);
}

TEST_CASE("bounds that exceed the container's memory are reported", "[runtime]")
{
    config::reader reader;
    reader.add_memory("list-cache-mib", 64 * mib);
    reader.add_memory("answer-memory", 512 * mib);
    const auto& bounds = reader.memory_bounds();

    CHECK_FALSE(runtime::memory_warning(bounds, std::nullopt));
    CHECK_FALSE(runtime::memory_warning(bounds, 640 * mib));
    const auto warning = runtime::memory_warning(bounds, 639 * mib);
    REQUIRE(warning);
    CHECK_THAT(*warning, Contains("memory limit of 639 MiB") &&
                             Contains("640 MiB (list-cache-mib 64 MiB, answer-memory 512 MiB, "));

    reader.add_memory("memory-limit", std::nullopt);
    const auto unbounded = runtime::memory_warning(reader.memory_bounds(), 64'000 * mib);
    REQUIRE(unbounded);
    CHECK_THAT(*unbounded, Contains("memory-limit without a bound"));
}
