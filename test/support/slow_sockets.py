"""Clients that subscribe and then do not read: PORT COUNT ADDRESS TIMES MESSAGE...; socket i, from this address of the machine, sends message
i modulo their number, as often as TIMES says.

Their windows and segments are as small as can be, so that the kernels hold little (40 KB a socket instead of 4 MB) and what a client does
not take soon waits in the service. Prints "stalled" when all have subscribed. Asked by a line on its input it reads what each socket still
has, to the end, and prints as JSON how many ended, how many frames came whole, and how many sockets had a gap between two of them.
"""
import json
import resource
import socket
import struct
import sys

UPGRADE = (b'GET /ws HTTP/1.1\r\nHost: test\r\nUser-Agent: test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
           b'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n')
SECONDS = 30


def text_frame(text):
    """Masked, with a mask of zeros."""
    payload = text.encode()
    return bytes([0x81, 0x80 | 126]) + struct.pack('>H', len(payload)) + bytes(4) + payload


def stall(port, address, times, message):
    """A socket that has upgraded and subscribed, and what came behind the answer to the upgrade."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1000)
    client.settimeout(SECONDS)
    client.bind((address, 0))
    client.connect(('127.0.0.1', port))
    client.sendall(UPGRADE)
    received = b''
    while b'\r\n\r\n' not in received:
        received += client.recv(512)
    if not received.startswith(b'HTTP/1.1 101'):
        raise SystemExit(f'no upgrade: {received!r}')
    client.sendall(text_frame(message) * times)
    return client, received[received.index(b'\r\n\r\n') + 4:]


def read_on(client, received):
    """Whether the socket ended, and everything it had."""
    chunks = [received]
    try:
        while True:
            chunk = client.recv(65536)
            if chunk == b'':
                return True, b''.join(chunks)
            chunks.append(chunk)
    except ConnectionResetError:
        return True, b''.join(chunks)
    except TimeoutError:
        return False, b''.join(chunks)


def whole_frames(received):
    """Texts of the frames that are all there; the server does not mask them."""
    at = 0
    while at + 2 <= len(received):
        length, start = received[at + 1], at + 2
        if length == 126:
            length, start = int.from_bytes(received[start:start + 2], 'big'), start + 2
        elif length == 127:
            length, start = int.from_bytes(received[start:start + 8], 'big'), start + 8
        if start + length > len(received):
            return
        if received[at] & 0x0f == 1:
            yield received[start:start + length]
        at = start + length


def has_gap(frames):
    """Whether some update of a book does not continue the frame before it."""
    sequence = None
    for frame in map(json.loads, frames):
        if frame.get('channel') != 'orderbook' or 'data' not in frame:
            continue
        if frame['type'] != 'snapshot' and frame['data']['previousSequence'] != sequence:
            return True
        sequence = frame['sequence']
    return False


def main():
    port, count, address, times, messages = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), sys.argv[5:]
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    stalled = [stall(port, address, times, messages[i % len(messages)]) for i in range(count)]
    print('stalled', flush=True)
    sys.stdin.readline()
    ended = frames = gaps = 0
    for client, received in stalled:
        over, everything = read_on(client, received)
        texts = list(whole_frames(everything))
        ended += over
        frames += len(texts)
        gaps += has_gap(texts)
    print(json.dumps({'ended': ended, 'frames': frames, 'gaps': gaps}), flush=True)


main()
