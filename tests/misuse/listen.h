/* For programs whose wait ends only when it has been reported. */
#ifndef LISTEN_H
#define LISTEN_H

#include <unistd.h>

#include <string>

/* Reads what is written to standard error, and passes it on, from its making until a text has come. */
struct Listener {
    int real = dup(2);
    int ends[2] = {-1, -1};
    Listener() {
        if (pipe(ends) != 0 || dup2(ends[1], 2) < 0) _exit(1);
    }
    void hear(const std::string &text) {
        std::string all;
        char part[4096];
        while (all.find(text) == std::string::npos) {
            const ssize_t got = read(ends[0], part, sizeof part);
            if (got <= 0 || write(real, part, static_cast<size_t>(got)) != got) _exit(1);
            all.append(part, static_cast<size_t>(got));
        }
        dup2(real, 2);
    }
};

#endif
