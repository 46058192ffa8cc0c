"""Clients that ask and never read: PORT COUNT ADDRESS EVERY_MS PATH. Each of COUNT connections from this address of the machine asks for the
path every so many ms; one that was closed is opened again. Runs until it is ended.

Their windows and segments are as small as can be, so that the kernels hold little and what is not taken waits in the service.
"""
import socket
import sys
import time


def opened(port, address):
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1000)
    client.bind((address, 0))
    client.connect(('127.0.0.1', port))
    client.setblocking(False)
    return client


def main():
    port, count, address, every, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4]) / 1000, sys.argv[5]
    request = f'GET {path} HTTP/1.1\r\nHost: x\r\nUser-Agent: attack\r\n\r\n'.encode()
    clients = [None] * count
    while True:
        for i in range(count):
            try:
                clients[i] = clients[i] or opened(port, address)
                clients[i].send(request)
            except OSError:
                clients[i] = clients[i] and clients[i].close()
        time.sleep(every)


main()
