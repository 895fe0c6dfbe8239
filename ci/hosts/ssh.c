// ssh [OPTIONS] TARGET COMMAND...      stands for the ssh of Windows: the board is ci/hosts/board.py at 127.0.0.1
//
// The port of the board is in the variable BOARD_PORT. Sends the command and its own input, prints the answer, and exits with
// the status of the command. With -N it only waits, as a connection that forwards a port: both ends are this machine.
#include <winsock2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static SOCKET board;

static void send_all(const char * bytes, int n) {
    while (n > 0) {
        const int sent = send(board, bytes, n, 0);
        if (sent <= 0) {
            exit(255);
        }
        bytes += sent, n -= sent;
    }
}

static int read_all(char * bytes, int n) {
    for (int got = 0; got < n;) {
        const int some = recv(board, bytes + got, n - got, 0);
        if (some <= 0) {
            return 0;
        }
        got += some;
    }
    return 1;
}

static DWORD WINAPI send_input(void * unused) {
    char buffer[1 << 16];
    DWORD n = 0;
    while (ReadFile(GetStdHandle(STD_INPUT_HANDLE), buffer, sizeof buffer, &n, NULL) && n > 0) {
        send_all(buffer, (int) n);
    }
    shutdown(board, SD_SEND);
    return unused != NULL;
}

int main(int argc, char ** argv) {
    int at = 1, forwards = 0;
    for (; at < argc && argv[at][0] == '-'; at++) {
        forwards |= !strcmp(argv[at], "-N");
        // These have a value, unless it is in the same word.
        at += strchr("opiLSO", argv[at][1]) && !argv[at][2];
    }
    if (forwards) {
        Sleep(INFINITE);
    }
    char command[1 << 15] = "";
    for (at++; at < argc; at++) {
        strncat(command, argv[at], sizeof command - strlen(command) - 2);
        strcat(command, " ");
    }
    WSADATA data;
    WSAStartup(MAKEWORD(2, 2), &data);
    board = socket(AF_INET, SOCK_STREAM, 0);
    const char * port = getenv("BOARD_PORT");
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port ? (u_short) atoi(port) : 0), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (connect(board, (struct sockaddr *) &address, sizeof address)) {
        fprintf(stderr, "ssh: connect to host port %s: refused\n", port ? port : "?");
        return 255;
    }
    const uint32_t length = (uint32_t) strlen(command);
    send_all((const char *) &length, 4);
    send_all(command, (int) length);
    CreateThread(NULL, 0, send_input, NULL, 0, NULL);
    // Pieces: 1 is output, 2 is errors, both with their length; 0 is the end with the exit status.
    for (uint32_t head[2]; read_all((char *) head, sizeof head);) {
        if (!head[0]) {
            ExitProcess(head[1]);
        }
        static char bytes[1 << 16];
        DWORD written = 0;
        if (head[1] > sizeof bytes || !read_all(bytes, (int) head[1])) {
            break;
        }
        WriteFile(GetStdHandle(head[0] == 1 ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE), bytes, head[1], &written, NULL);
    }
    return 255;
}
