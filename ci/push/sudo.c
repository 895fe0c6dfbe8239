// sudo for the emulated board: setuid root, without a password for everyone. It takes what analyze push
// uses, `sudo -n COMMAND...`, and what a reader types, `sudo COMMAND...`, and nothing else.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char ** argv) {
    int command = argc > 1 && strcmp(argv[1], "-n") == 0 ? 2 : 1;
    if (argc <= command || argv[command][0] == '-') {
        fputs("sudo: only `sudo [-n] COMMAND...` is known here\n", stderr);
        return 64;
    }
    if (setgid(0) != 0 || setuid(0) != 0) {
        perror("sudo");
        return 1;
    }
    execvp(argv[command], argv + command);
    perror(argv[command]);
    return 127;
}
