"""The link between app and head unit, which can be narrow: a relay that passes on so many bytes a second."""

import select
import socket
import threading
import time

# As of Ethernet; loopback's own segments are larger than what waits here.
SEGMENT_BYTES = 1400
# Small, so that what has not been passed on soon waits at the app, as it does in front of a real link.
BUFFER_BYTES = 4 << 10
LONGEST_BURST_SECONDS = 0.05


class Link:
    def __init__(self, head_unit_port):
        self.head_unit_port = head_unit_port
        self.bits_per_second = None
        self.port = 0
        self.listener = self._bound()
        self.port = self.listener.getsockname()[1]
        self.sent_until = 0
        self.refuse(False)

    def narrow(self, bits_per_second):
        """From the app to the head unit; None is as wide as it gets."""
        self.bits_per_second = bits_per_second

    def refuse(self, refuses):
        """Does what the head unit does when it takes no connections."""
        if refuses:
            # close() alone would leave the thread in accept().
            self.listener.shutdown(socket.SHUT_RDWR)
            self.listener.close()
            # Does not listen, but keeps the port from other programs.
            self.listener = self._bound()
            return
        self.listener.listen()
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def _bound(self):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Connections inherit these.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SEGMENT_BYTES)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
        listener.bind(("127.0.0.1", self.port))
        return listener

    def _accept(self, listener):
        while True:
            try:
                app, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._relay, args=(app,), daemon=True).start()

    def _relay(self, app):
        with app:
            try:
                head_unit = socket.create_connection(("127.0.0.1", self.head_unit_port))
            except OSError:
                return
            with head_unit:
                for one in (app, head_unit):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                head_unit.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
                try:
                    while self._pass_on(app, head_unit):
                        pass
                except OSError:
                    # Either end has broken the connection, and now both have.
                    return

    def _pass_on(self, app, head_unit):
        for source in select.select([app, head_unit], [], [])[0]:
            data = source.recv(SEGMENT_BYTES)
            if not data:
                return False
            (head_unit if source is app else app).sendall(data)
            if source is app and self.bits_per_second:
                now = time.monotonic()
                # What a sleep took too long is made up for.
                self.sent_until = max(self.sent_until, now - LONGEST_BURST_SECONDS) + len(data) * 8 / self.bits_per_second
                time.sleep(max(self.sent_until - now, 0))
        return True
