"""Lua scripts that change a queue in one atomic step in Redis.

All of them use the clock of Redis, in milliseconds, because the clocks of hosts and asking processes may
differ.
"""

_NOW = "local time = redis.call('TIME')\nlocal now = time[1] * 1000 + math.floor(time[2] / 1000)\n"
# A stream expires some time after the last host and the last work.
_KEEP = """
local function keep(stream, milliseconds)
    if redis.call('PTTL', stream) < milliseconds then redis.call('PEXPIRE', stream, milliseconds) end
end
"""

# KEYS: stream, hosts. ARGV: ask, its time limit, key of the answers, most asks for each host, lease, time to
# keep the stream.
ADD = f"""{_NOW}{_KEEP}
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[5])
local hosts = redis.call('ZCARD', KEYS[2])
if hosts == 0 then return {{'nobody', 0}} end
local waiting = redis.call('XLEN', KEYS[1])
if waiting >= hosts * ARGV[4] then return {{'full', waiting}} end
local fields = {{'ask', ARGV[1], 'until', string.format('%.0f', now + ARGV[2]), 'answers', ARGV[3]}}
local id = redis.call('XADD', KEYS[1], '*', unpack(fields))
keep(KEYS[1], ARGV[2] + ARGV[6])
return {{'added', id}}
"""

# KEYS: stream, hosts. ARGV: group, consumer, whether it takes work, lease, time to keep the stream, most work
# to claim, cursor of claiming, most attempts at an ask, and the ids under way.
# Returns: now, ids that are gone, claimed work, cursor of claiming.
BEAT = f"""{_NOW}{_KEEP}
redis.pcall('XGROUP', 'CREATE', KEYS[1], ARGV[1], '0', 'MKSTREAM')
if ARGV[3] == '1' then
    redis.call('ZADD', KEYS[2], now, ARGV[2])
else
    redis.call('ZREM', KEYS[2], ARGV[2])
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
keep(KEYS[1], tonumber(ARGV[5]))
local lost = {{}}
for at = 9, #ARGV do
    if #redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[at], ARGV[at], 1, ARGV[2]) == 1 then
        redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[at], 'JUSTID')
    else
        lost[#lost + 1] = ARGV[at]
    end
end
local claimed, cursor = {{}}, '0-0'
if tonumber(ARGV[6]) > 0 then
    local found = redis.call(
        'XAUTOCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[4], ARGV[7], 'COUNT', ARGV[6])
    cursor = found[1]
    for _, work in ipairs(found[2]) do
        local pending = redis.call('XPENDING', KEYS[1], ARGV[1], work[1], work[1], 1)
        if pending[1][4] > tonumber(ARGV[8]) then
            redis.call('XACK', KEYS[1], ARGV[1], work[1])
            redis.call('XDEL', KEYS[1], work[1])
        else
            claimed[#claimed + 1] = work
        end
    end
end
for _, each in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
    if each[4] == 0 and each[6] > 10 * ARGV[4] then
        redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], each[2])
    end
end
return {{string.format('%.0f', now), lost, claimed, cursor}}
"""

# KEYS: stream, answers. ARGV: group, id, answer or nothing, time to keep the answer.
# Work that is gone is not answered: it was answered by another host, or cancelled.
FINISH = """
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
if redis.call('XDEL', KEYS[1], ARGV[2]) == 1 and ARGV[3] ~= '' then
    redis.call('RPUSH', KEYS[2], ARGV[3])
    redis.call('PEXPIRE', KEYS[2], ARGV[4])
end
"""

# KEYS: stream, hosts. ARGV: group, consumer. Others can claim its unfinished work at once.
LEAVE = """
redis.call('ZREM', KEYS[2], ARGV[2])
if redis.call('EXISTS', KEYS[1]) == 0 then return end
local begun = redis.pcall('XPENDING', KEYS[1], ARGV[1], '-', '+', 10000, ARGV[2])
if begun.err then return end
for _, each in ipairs(begun) do
    redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, each[1], 'IDLE', 86400000, 'JUSTID')
end
if #begun == 0 then redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2]) end
if redis.call('ZCARD', KEYS[2]) == 0 and redis.call('XLEN', KEYS[1]) == 0 then redis.call('DEL', KEYS[1]) end
"""

# KEYS: streams. ARGV: an id for each. Returns the numbers, from 1, of the ids that are missing.
MISSING = """
local missing = {}
for at, id in ipairs(ARGV) do
    if #redis.call('XRANGE', KEYS[at], id, id) == 0 then missing[#missing + 1] = at end
end
return missing
"""

# KEYS: stream, hosts. ARGV: lease. Returns the number of hosts, and of asks.
COUNT = f"""{_NOW}
return {{redis.call('ZCOUNT', KEYS[2], now - ARGV[1], '+inf'), redis.call('XLEN', KEYS[1])}}
"""
