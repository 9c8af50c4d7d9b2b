--- Times of the protocol, for people.
local M = {}

--- Seconds since a time of the protocol.
--- @param time string
--- @return number?
function M.since(time)
  local y, mo, d, h, mi, s = time:match('(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)')
  if not y then
    return nil
  end
  local utc = os.time({ year = y, month = mo, day = d, hour = h, min = mi, sec = s, isdst = false })
  local now = os.date('!*t') --[[@as osdateparam]]
  now.isdst = false
  return os.difftime(os.time(now), utc)
end

--- @param time string
--- @return string # "5 min ago"
function M.age(time)
  local seconds = M.since(time)
  for _, unit in ipairs({ { 86400, 'd' }, { 3600, 'h' }, { 60, 'min' } }) do
    if seconds and seconds >= unit[1] then
      return ('%d %s ago'):format(seconds / unit[1], unit[2])
    end
  end
  return seconds and 'now' or ''
end

--- @param time string
--- @return string # "1:20"
function M.elapsed(time)
  local s = math.max(math.floor(M.since(time) or 0), 0)
  if s < 3600 then
    return ('%d:%02d'):format(s / 60, s % 60)
  end
  return ('%d:%02d:%02d'):format(s / 3600, s % 3600 / 60, s % 60)
end

--- @param n integer
--- @return string # "12.3k"
function M.thousands(n)
  if n < 1000 then
    return tostring(n)
  end
  return n < 1e6 and ('%.1fk'):format(n / 1e3) or ('%.1fM'):format(n / 1e6)
end

return M
