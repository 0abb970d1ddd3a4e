#include "common/async/fair_queue.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using tempinbox::async::fair_queue;

namespace {

using queue = fair_queue<char, std::string>;

std::vector<std::string> take(queue& from, std::size_t count)
{
    std::vector<std::string> taken;
    for (; count > 0 && !from.empty(); --count) {
        taken.push_back(from.front());
        from.pop();
    }
    return taken;
}

} // namespace

TEST_CASE("keys take turns, and the items of one keep their order", "[async]")
{
    queue line;
    for (const auto* item : {"a1", "a2", "a3", "b1", "c1", "b2"})
        line.push(item[0], item);

    CHECK(line.size() == 6);
    CHECK(take(line, 10) == std::vector<std::string>{"a1", "b1", "c1", "a2", "b2", "a3"});
    CHECK(line.empty());
}

TEST_CASE("whoever comes waits for one turn of each key before it", "[async]")
{
    queue line;
    for (const auto* item : {"a1", "a2", "a3"})
        line.push('a', item);
    CHECK(take(line, 1) == std::vector<std::string>{"a1"});
    line.push('b', "b1");
    line.push('a', "a4");

    CHECK(take(line, 10) == std::vector<std::string>{"a2", "b1", "a3", "a4"});
}

TEST_CASE("a key that is passed over keeps its items, and the next has its turn", "[async]")
{
    queue line;
    for (const auto* item : {"a1", "a2", "b1"})
        line.push(item[0], item);

    line.pass();

    CHECK(line.keys() == 2);
    CHECK(take(line, 10) == std::vector<std::string>{"b1", "a1", "a2"});
    CHECK(line.keys() == 0);
}
