"""Work for bots over Redis Streams: processes that ask, and hosts anywhere that answer.

`queue` is the work of one bot in Redis, `asker` the asking side, `consumer` the answering side. Data in Redis
may be lost at any moment; the asking side then gets an error, and asks again.
"""

from bots.streams.asker import StreamAsker, StreamReplica
from bots.streams.consumer import StreamConsumer
from bots.streams.queue import WorkCount

__all__ = ["StreamAsker", "StreamConsumer", "StreamReplica", "WorkCount"]
