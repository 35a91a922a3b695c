-- One request's demands of token buckets (GCRA), all granted or none. It decides exactly as limit.Take, on Redis's own clock.
--
-- KEYS: the buckets. ARGV, for each: the rule's interval and the time in which an empty bucket fills up, both as seconds and
-- nanoseconds; the most tokens wanted, or less than 0 to give so many back; 1 where a refusal refuses nothing, else 0.
-- Reply: Redis's time in seconds and microseconds, then for each bucket: the tokens it gives; how far it was from full before,
-- in seconds and nanoseconds; 1 if its key held something else.
--
-- A bucket is the time at which it is full, in nanoseconds as a decimal number. A double can't hold that, so times are two numbers here.
local G = 1000000000
local time = redis.call('TIME')
local now_s, now_n = tonumber(time[1]), tonumber(time[2]) * 1000

local reply, granted = {now_s, now_n / 1000}, true

for i, key in ipairs(KEYS) do
  local a = 6 * (i - 1)
  local interval_s, interval_n = tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  local full_s, full_n = tonumber(ARGV[a + 3]), tonumber(ARGV[a + 4])
  local most = tonumber(ARGV[a + 5])

  local value, foreign = redis.pcall('GET', key), 0
  if type(value) == 'table' and value.err and not string.find(value.err, 'WRONGTYPE', 1, true) then
    return value -- forbidden, for instance: nothing is known about the bucket
  end
  local missing_s, missing_n = 0, 0
  if type(value) == 'string' and #value >= 10 and not string.find(value, '%D') then
    missing_s = tonumber(string.sub(value, 1, -10)) - now_s
    missing_n = tonumber(string.sub(value, -9)) - now_n
    if missing_n < 0 then
      missing_s, missing_n = missing_s - 1, missing_n + G
    end
    if missing_s < 0 then
      missing_s, missing_n = 0, 0
    elseif missing_s > full_s or missing_s == full_s and missing_n > full_n then
      -- The clock went back, perhaps by a failover to a node whose clock is behind: the bucket counts as empty from now on.
      missing_s, missing_n = full_s, full_n
      if most > 0 then
        local s, n = now_s + full_s, now_n + full_n
        if n >= G then
          s, n = s + 1, n - G
        end
        redis.call('SET', key, string.format('%.0f%09.0f', s, n), 'PX', full_s * 1000 + math.ceil(full_n / 1000000))
      end
    end
  elseif value then -- not ours, and in the way
    foreign = 1
  end

  local room_s, room_n = full_s - missing_s, full_n - missing_n
  if room_n < 0 then
    room_s, room_n = room_s - 1, room_n + G
  end
  local taken = 0
  if most < 0 then
    taken = most
  elseif room_s > interval_s or room_s == interval_s and room_n >= interval_n then
    taken = 1
    if most > 1 then
      -- Rounded, so that it may be one too many.
      taken = math.max(1, math.min(most, math.floor((room_s * G + room_n) / (interval_s * G + interval_n))))
      local n = taken * interval_n
      local s = taken * interval_s + math.floor(n / G)
      n = n % G
      if s > room_s or s == room_s and n > room_n then
        taken = taken - 1
      end
    end
  elseif ARGV[a + 6] == '0' then
    granted = false
  end
  local r = 2 + 4 * (i - 1)
  reply[r + 1], reply[r + 2], reply[r + 3], reply[r + 4] = taken, missing_s, missing_n, foreign
end

if not granted then
  return reply
end

for i, key in ipairs(KEYS) do
  local a, r = 6 * (i - 1), 2 + 4 * (i - 1)
  local taken = reply[r + 1]
  if taken ~= 0 then
    local n = reply[r + 3] + taken * tonumber(ARGV[a + 2])
    local s = reply[r + 2] + taken * tonumber(ARGV[a + 1]) + math.floor(n / G)
    n = n % G
    if s < 0 or s == 0 and n == 0 then
      redis.call('DEL', key)
    else
      -- It lives no longer than until it is full: then it is as good as one that was never used.
      local ttl = s * 1000 + math.ceil(n / 1000000)
      s, n = now_s + s, now_n + n
      if n >= G then
        s, n = s + 1, n - G
      end
      redis.call('SET', key, string.format('%.0f%09.0f', s, n), 'PX', ttl)
    end
  end
end
return reply
