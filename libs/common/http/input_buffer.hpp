#pragma once

#include <boost/asio/buffer.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

namespace tempinbox::http {

// Bytes read and not yet used. Holds no memory until first filled; `shrink` frees memory once all
// is used.
class input_buffer
{
public:
    static constexpr std::size_t small = 2 * 1024;

    bool empty() const { return begin_ == end_; }
    std::size_t size() const { return end_ - begin_; }
    std::string_view view() const { return {bytes_.get() + begin_, size()}; }

    void consume(std::size_t count)
    {
        begin_ += count;
        if (begin_ == end_)
            begin_ = end_ = 0;
    }

    // Space for at least one byte; the buffer grows to at least `min_capacity` bytes.
    boost::asio::mutable_buffer prepare(std::size_t min_capacity)
    {
        if (capacity_ < min_capacity || end_ == capacity_) {
            const auto grown =
                std::max(min_capacity, size() < capacity_ ? capacity_ : capacity_ * 2);
            if (grown > capacity_) {
                std::unique_ptr<char[]> larger(new char[grown]);
                if (!empty())
                    std::memcpy(larger.get(), bytes_.get() + begin_, size());
                bytes_ = std::move(larger);
                capacity_ = grown;
            } else {
                std::memmove(bytes_.get(), bytes_.get() + begin_, size());
            }
            end_ = size();
            begin_ = 0;
        }
        return {bytes_.get() + end_, capacity_ - end_};
    }

    void commit(std::size_t count) { end_ += count; }

    void shrink()
    {
        if (empty() && capacity_ > small)
            release();
    }

    void release()
    {
        bytes_.reset();
        begin_ = end_ = capacity_ = 0;
    }

private:
    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

} // namespace tempinbox::http
