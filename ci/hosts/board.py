#!/usr/bin/env python3
"""board.py PORT_FILE      this machine as the board behind ci/hosts/ssh.c: runs each command by a shell

A connection: the length of the command (32 bits, little-endian) and the command; then its input. Back come pieces: kind (1 output,
2 errors), length, bytes; at the end kind 0 and the exit status.
"""
import socket
import socketserver
import struct
import subprocess
import sys
import threading


class Command(socketserver.BaseRequestHandler):
    def handle(self):
        (length,) = struct.unpack("<I", self.request.recv(4, socket.MSG_WAITALL))
        command = self.request.recv(length, socket.MSG_WAITALL).decode()
        self.lock = threading.Lock()
        child = subprocess.Popen(["sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        threading.Thread(target=self.feed, args=[child.stdin], daemon=True).start()
        readers = [threading.Thread(target=self.answer, args=[kind, file], daemon=True) for kind, file in ((1, child.stdout), (2, child.stderr))]
        for reader in readers:
            reader.start()
        status = child.wait()
        for reader in readers:
            # What the command left in the background may keep these open.
            reader.join(1)
        self.piece(0, status & 255)

    def feed(self, file):
        try:
            while data := self.request.recv(1 << 16):
                file.write(data)
                file.flush()
            file.close()
        except OSError:
            pass

    def answer(self, kind, file):
        while data := file.read1(1 << 15):
            self.piece(kind, len(data), data)

    def piece(self, kind, number, data=b""):
        with self.lock:
            try:
                self.request.sendall(struct.pack("<II", kind, number) + data)
            except OSError:
                pass


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


with Server(("127.0.0.1", 0), Command) as server:
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write(str(server.server_address[1]))
    server.serve_forever()
