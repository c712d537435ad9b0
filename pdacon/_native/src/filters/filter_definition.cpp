#include "filters/filter_definition.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <utility>

#include "filters/characters.hpp"
#include "filters/greedy_words.hpp"
#include "filters/text_automaton.hpp"
#include "filters/unigram_paths.hpp"

namespace pdacon {

namespace {

void require(bool condition) {
    if (!condition) throw std::invalid_argument("canonical filter: the arrays do not fit together");
}

// Calls `visit` with each array of a definition, in the order in which they lie in a file.
template <class Definition, class Visit>
void for_each_array(Definition& of, Visit visit) {
    visit(of.left), visit(of.right), visit(of.rank), visit(of.made), visit(of.ranks), visit(of.roles);
    visit(of.classes), visit(of.next), visit(of.ends), visit(of.free), visit(of.bytewise);
    visit(of.text_classes), visit(of.text_next), visit(of.settled);
    visit(of.star_offset), visit(of.star_low), visit(of.star_high), visit(of.star_target),
        visit(of.star_accepting);
    visit(of.added), visit(of.words), visit(of.scores), visit(of.unknown);
    visit(of.most), visit(of.restarts), visit(of.prefixed), visit(of.spaced);
}

// Values as words of 32 bits, and back.
template <class T>
std::vector<std::uint32_t> encode(const std::vector<T>& values) {
    return {values.begin(), values.end()};
}

std::vector<std::uint32_t> encode(const std::vector<double>& values) {
    std::vector<std::uint32_t> words;
    words.reserve(2 * values.size());
    for (const auto value : values) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        words.push_back(static_cast<std::uint32_t>(bits >> 32));
        words.push_back(static_cast<std::uint32_t>(bits));
    }
    return words;
}

void decode(std::span<const std::uint32_t> words, std::vector<std::uint8_t>& values) {
    values.reserve(words.size());
    for (const auto word : words) {
        require(word < 256);
        values.push_back(static_cast<std::uint8_t>(word));
    }
}

void decode(std::span<const std::uint32_t> words, std::vector<std::int32_t>& values) {
    values.assign(words.begin(), words.end());
}

void decode(std::span<const std::uint32_t> words, std::vector<double>& values) {
    require(words.size() % 2 == 0);
    for (std::size_t at = 0; at < words.size(); at += 2)
        values.push_back(std::bit_cast<double>(std::uint64_t{words[at]} << 32 | words[at + 1]));
}

// How an array lies in a file: its values, or pairs of a difference to the value before and how often that
// comes.
enum Form : std::int32_t { kValues, kRuns };

void add_array(const std::vector<std::uint32_t>& words, std::vector<std::int32_t>& numbers) {
    std::vector<std::uint32_t> runs;
    std::uint32_t before = 0;
    for (const auto word : words) {
        const auto difference = word - before;
        before = word;
        if (runs.empty() || runs[runs.size() - 2] != difference)
            runs.insert(runs.end(), {difference, 1});
        else
            ++runs.back();
        if (runs.size() > words.size()) break;
    }
    const bool is_shorter = runs.size() < words.size();
    const auto& written = is_shorter ? runs : words;
    numbers.push_back(is_shorter ? kRuns : kValues);
    numbers.push_back(static_cast<std::int32_t>(written.size()));
    numbers.insert(numbers.end(), written.begin(), written.end());
}

// More values than a definition has: runs in a file that somebody has made could ask for any number.
constexpr std::size_t kMostValues = std::size_t{1} << 25;

class ArrayReader {
  public:
    explicit ArrayReader(std::span<const std::int32_t> numbers) : rest_(numbers) {}
    std::vector<std::uint32_t> array() {
        const auto form = next();
        const auto size = next();
        require(size >= 0 && static_cast<std::size_t>(size) <= rest_.size());
        const auto written = rest_.first(static_cast<std::size_t>(size));
        rest_ = rest_.subspan(written.size());
        if (form == kValues) {
            take(written.size());
            return {written.begin(), written.end()};
        }
        require(form == kRuns && size % 2 == 0);
        std::vector<std::uint32_t> words;
        std::uint32_t value = 0;
        for (std::size_t at = 0; at < written.size(); at += 2) {
            require(written[at + 1] > 0);
            take(static_cast<std::size_t>(written[at + 1]));
            for (std::int32_t count = 0; count < written[at + 1]; ++count)
                words.push_back(value += static_cast<std::uint32_t>(written[at]));
        }
        return words;
    }
    bool is_empty() const { return rest_.empty(); }

  private:
    std::int32_t next() {
        require(!rest_.empty());
        const auto number = rest_.front();
        rest_ = rest_.subspan(1);
        return number;
    }
    void take(std::size_t values) {
        taken_ += values;
        require(taken_ <= kMostValues);
    }
    std::span<const std::int32_t> rest_;
    std::size_t taken_ = 0;
};

VocabularyStar star_of(const FilterDefinition& from) {
    VocabularyStar star;
    if (from.star_offset.empty()) return star;
    const auto states = from.star_offset.size() - 1, edges = from.star_target.size();
    require(from.star_low.size() == edges && from.star_high.size() == edges &&
            from.star_accepting.size() == states && from.star_offset.front() == 0 &&
            static_cast<std::size_t>(from.star_offset.back()) == edges &&
            std::ranges::is_sorted(from.star_offset));
    star.edges.resize(states);
    star.boundary = from.star_accepting;
    for (std::size_t state = 0; state < states; ++state) {
        int least = 0;  // so that each byte comes once, in order
        for (auto edge = static_cast<std::size_t>(from.star_offset[state]);
             edge < static_cast<std::size_t>(from.star_offset[state + 1]); ++edge) {
            const auto target = from.star_target[edge];
            require(from.star_low[edge] >= least && target >= 0 && static_cast<std::size_t>(target) < states);
            for (int byte = from.star_low[edge]; byte <= from.star_high[edge]; ++byte)
                star.edges[state].push_back({static_cast<std::uint8_t>(byte), target});
            least = from.star_high[edge] + 1;
        }
    }
    return star;
}

std::unique_ptr<TextStates> texts_of(const FilterDefinition& from,
                                     const std::shared_ptr<const Tokens>& tokens) {
    if (!from.words.empty()) {
        if (from.scores.empty())
            return std::make_unique<GreedyWords>(tokens, from.words, from.most.front(), star_of(from));
        const auto margin = from.unknown.size() > 1 ? std::optional(from.unknown[1]) : std::nullopt;
        require(!margin || *margin >= 0.0);
        return std::make_unique<UnigramPaths>(tokens, from.words, from.scores, from.unknown.front(), margin,
                                              star_of(from));
    }
    if (from.text_classes.empty()) return nullptr;
    const auto most = *std::ranges::max_element(from.text_classes);
    require(most >= 0 && static_cast<std::size_t>(most) < kCodePoints);
    for (const auto token : from.added)
        require(token >= 0 && static_cast<std::size_t>(token) < tokens->size());
    return std::make_unique<TextAutomaton>(tokens, from.text_classes, from.text_next, most + 1, star_of(from),
                                           from.added, from.restarts.front() != 0);
}

}  // namespace

std::vector<std::int32_t> FilterDefinition::numbers() const {
    std::vector<std::int32_t> written;
    for_each_array(*this, [&](const auto& array) { add_array(encode(array), written); });
    return written;
}

FilterDefinition FilterDefinition::of(std::span<const std::int32_t> numbers) {
    FilterDefinition found;
    ArrayReader reader(numbers);
    for_each_array(found, [&](auto& array) { decode(reader.array(), array); });
    require(reader.is_empty());
    return found;
}

std::shared_ptr<CanonicalFilter> FilterDefinition::filter(std::shared_ptr<const Tokens> tokens) const {
    require(right.size() == left.size() && rank.size() == left.size() && made.size() == left.size() &&
            !ends.empty() && (unknown.size() == 1 || unknown.size() == 2) && most.size() == 1 &&
            restarts.size() == 1 && prefixed.size() == 1 && spaced.size() == 1);
    std::vector<MergeTable::Pair> pairs;
    pairs.reserve(left.size());
    for (std::size_t at = 0; at < left.size(); ++at)
        pairs.push_back({left[at], right[at], rank[at], made[at]});
    if (!ranks.empty()) pairs = MergeTable::by_rank(*tokens, ranks);
    const auto num_classes = static_cast<std::int32_t>(next.size() / ends.size() / 2);
    auto texts = texts_of(*this, tokens);
    return std::make_shared<CanonicalFilter>(
        MergeTable(tokens, std::move(pairs), roles, !bytewise.empty()),
        Pretokens(tokens, classes, next, num_classes, ends, free, bytewise, settled), std::move(texts),
        prefixed.front() != 0, spaced.front() != 0, numbers());
}

std::shared_ptr<CanonicalFilter> Filters::of(const std::shared_ptr<const Tokens>& tokens,
                                             std::span<const std::int32_t> numbers) {
    const std::lock_guard hold(lock_);
    std::erase_if(known_, [](const auto& known) { return known.expired(); });
    for (const auto& known : known_)
        if (auto filter = known.lock(); filter && std::ranges::equal(filter->definition(), numbers) &&
                                        (&filter->tokens() == tokens.get() || filter->tokens() == *tokens))
            return filter;
    auto made = FilterDefinition::of(numbers).filter(tokens);
    known_.push_back(made);
    return made;
}

}  // namespace pdacon
