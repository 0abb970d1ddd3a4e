#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <utility>

namespace tempinbox::async {

// Items in a line for each key. The keys take turns, and items of one key keep their order: whoever
// adds thousands delays another key's item by one. A key without items costs nothing.
template <class Key, class Item>
class fair_queue
{
public:
    void push(Key key, Item item)
    {
        const auto [line, is_new] = lines_.try_emplace(std::move(key));
        line->second.push_back(std::move(item));
        if (is_new)
            turns_.push_back(line);
        ++size_;
    }

    // Of the key whose turn it is. There is one.
    Item& front() { return turns_.front()->second.front(); }

    // Then it is the next key's turn.
    void pop()
    {
        const auto line = turns_.front();
        turns_.pop_front();
        line->second.pop_front();
        if (line->second.empty())
            lines_.erase(line);
        else
            turns_.push_back(line);
        --size_;
    }

    // The item stays, and it is the next key's turn.
    void pass()
    {
        turns_.push_back(turns_.front());
        turns_.pop_front();
    }

    bool contains(const Key& key) const { return lines_.contains(key); }
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    // Those that have items.
    std::size_t keys() const { return turns_.size(); }

private:
    using lines = std::map<Key, std::deque<Item>>;

    lines lines_; // none is empty
    std::deque<typename lines::iterator> turns_;
    std::size_t size_ = 0;
};

} // namespace tempinbox::async
