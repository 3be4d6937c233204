"""Work for bots over Redis Streams: processes that ask, and hosts anywhere that answer.

`redis_pool` has the connections, `queue` is the work of one bot as Redis has it; `asker` the end that asks,
`consumer` the end that answers.
What Redis has of it may be lost at any moment: who asks learns of that, and asks again.
"""

from bots.streams.asker import StreamAsker, StreamReplica
from bots.streams.consumer import StreamConsumer
from bots.streams.queue import WorkCount
from bots.streams.redis_pool import redis_pool

__all__ = ["StreamAsker", "StreamConsumer", "StreamReplica", "WorkCount", "redis_pool"]
