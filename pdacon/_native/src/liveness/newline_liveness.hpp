// Whether a configuration is alive where the columns of the newline that has been begun matter: whether one
// of those that it can still get leads on.
//
// Futures know columns by their classes, and as if each of a class could be reached. Here they are followed
// as they are, from the reading on. What is found out about one reading is kept for others on the same stack:
// a vocabulary has tokens of many blanks.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "liveness/coaccessibility.hpp"

namespace pdacon {

class NewlineLiveness {
  public:
    // What is looked at is recorded where the stack records it.
    NewlineLiveness(const Pushdown& machine, Coaccessibility& coaccessibility, Budget& budget,
                    const Overlay& stack)
        : machine_(machine), coaccessibility_(coaccessibility), budget_(budget), stack_(stack) {}

    // Whether the configuration can reach acceptance.
    bool is_live(const Reading& reading, std::int32_t speller_state);

  private:
    struct Place {
        Reading reading;
        std::int32_t speller_state;
        std::int32_t id;
        std::int32_t from;  // the place of the search that led here, or -1
    };
    struct Ending {
        std::int32_t label;
        Column column;
        bool taken;
    };

    bool is_future_live(const Reading& reading, std::int32_t speller_state);
    bool lead_on(const Reading& reading, std::int32_t speller_state);
    void add(const Reading& reading, std::int32_t speller_state, std::int32_t from);
    bool ends_here(const Place& at);
    bool goes_on(std::int32_t at);
    bool takes(const Commit& commit, Column column);

    const Pushdown& machine_;
    Coaccessibility& coaccessibility_;
    Budget& budget_;
    Overlay stack_;
    std::vector<std::pair<std::int32_t, bool>> futures_;  // that were asked for, and whether they are alive
    std::int32_t equivalent_from_ = -1;                   // the column
    Interner ids_;                                        // of readings and speller states
    std::vector<Liveness> known_;                         // of each
    Interner searched_;                                   // ids of the places of this search
    std::vector<Place> search_;
    std::vector<Ending> endings_;  // what the parser makes of a place's labels and columns
};

}  // namespace pdacon
