-- KEYS   the keys of one request; each is a sorted set of the requests that passed, by their time
-- ARGV   a name for this request that no other has; the greatest limit; the greatest length in ms;
--        then for each window its limit and its length in microseconds
-- Returns {0, 0} when the request passes, else the number of the window that refuses it, from 1, and
-- the time until it would pass in microseconds.
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]

local window, wait = 0, 0
for _, key in ipairs(KEYS) do
  for i = 4, #ARGV, 2 do
    local limit, every = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
    local nth = redis.call('ZREVRANGE', key, limit - 1, limit - 1, 'WITHSCORES')[2]
    if nth and nth + every - now > wait then
      window, wait = i / 2 - 1, nth + every - now
    end
  end
end
if window > 0 then
  return {window, wait}
end

for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, now, ARGV[1])
  redis.call('ZREMRANGEBYRANK', key, 0, -ARGV[2] - 1)
  redis.call('PEXPIRE', key, ARGV[3] + 1000) -- later than needed: sooner would open the door
end
return {0, 0}
