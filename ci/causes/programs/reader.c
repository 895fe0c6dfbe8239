// reader FILE      reads FILE again and again, from its disk: its pages leave the cache after each turn
#include "own.h"
#include <fcntl.h>

int main(int argc, char ** argv) {
    static char buffer[1 << 20];
    end_with_parent();
    const int file = argc > 1 ? open(argv[1], O_RDONLY) : -1;
    while (file >= 0) {
        while (read(file, buffer, sizeof buffer) > 0) {
        }
        lseek(file, 0, SEEK_SET);
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    }
    return 1;
}
