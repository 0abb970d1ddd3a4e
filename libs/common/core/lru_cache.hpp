#pragma once

#include <cstddef>
#include <unordered_map>
#include <utility>

namespace tempinbox {

struct unit_weight
{
    template <class Key, class Value>
    std::size_t operator()(const Key&, const Value&) const
    {
        return 1;
    }
};

// Entries with a bounded total weight: each weighs one, or what `Weight` returns, which must not
// change while the entry is cached. Evicts the least recently used entry. Every call costs the same
// whatever the size.
template <class Key, class Value, class Weight = unit_weight>
class lru_cache
{
public:
    explicit lru_cache(std::size_t max_weight) : max_weight_(max_weight) {}
    lru_cache(const lru_cache&) = delete;

    // The pointer is valid until the next change.
    Value* find(const Key& key)
    {
        const auto found = entries_.find(key);
        if (found == entries_.end())
            return nullptr;
        unlink(*found);
        link_first(*found);
        return &found->second.value;
    }

    // Do not put a value that alone weighs more than the bound: it would stay as the only entry.
    Value& put(const Key& key, Value value)
    {
        const auto [position, is_new] = entries_.try_emplace(key);
        if (!is_new)
            unlink(*position);
        position->second.value = std::move(value);
        link_first(*position);
        while (weight_ > max_weight_ && last_ != first_)
            evict_last();
        return position->second.value;
    }

    void erase(const Key& key)
    {
        const auto found = entries_.find(key);
        if (found == entries_.end())
            return;
        unlink(*found);
        entries_.erase(found);
    }

    std::size_t size() const { return entries_.size(); }
    std::size_t weight() const { return weight_; }

private:
    struct entry;
    using node = std::pair<const Key, entry>;

    struct entry
    {
        Value value{};
        node* newer = nullptr;
        node* older = nullptr;
    };

    static std::size_t weight_of(const node& one) { return Weight()(one.first, one.second.value); }

    void unlink(node& one)
    {
        weight_ -= weight_of(one);
        (one.second.newer ? one.second.newer->second.older : first_) = one.second.older;
        (one.second.older ? one.second.older->second.newer : last_) = one.second.newer;
    }

    void link_first(node& one)
    {
        one.second.newer = nullptr;
        one.second.older = first_;
        (first_ ? first_->second.newer : last_) = &one;
        first_ = &one;
        weight_ += weight_of(one);
    }

    void evict_last()
    {
        auto& last = *last_;
        unlink(last);
        entries_.erase(entries_.find(last.first));
    }

    std::size_t max_weight_;
    std::size_t weight_ = 0;
    std::unordered_map<Key, entry> entries_; // its nodes do not move
    node* first_ = nullptr;
    node* last_ = nullptr;
};

} // namespace tempinbox
