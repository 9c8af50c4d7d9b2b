--- Turns that are silent. The daemon does not report silence, so this module measures the time since a turn's last
--- notification.
local workspace = require('cursord.workspace')

--- @class cursord.Quiet
--- @field after number seconds of silence before the words mention it
local M = { after = 60 }

--- @type table<string, { ws: cursord.Workspace, turn?: cursord.Turn, at: number, note?: string }> turns that run, by id
local running = {}
local listeners = {} --- @type fun(ws: cursord.Workspace, turn: cursord.Turn)[]
local timer --- @type uv.uv_timer_t?

local function now()
  return vim.uv.hrtime() / 1e9
end

--- @param seconds number
--- @return string? nil for a short silence
local function silence(seconds)
  if seconds < M.after then
    return nil
  end
  local s = math.floor(seconds)
  if s >= 3600 then
    return ('no output for %dh %dm'):format(s / 3600, s % 3600 / 60)
  end
  return ('no output for %dm %ds'):format(s / 60, s % 60)
end

--- The activity of a running turn in words: "working", "waiting for 2 background commands, no output for 1m 20s".
--- @param turn cursord.Turn
--- @return string
function M.note(turn)
  local commands = #(turn.background or {})
  local text = 'working'
  if commands > 0 then
    text = ('waiting for %d background command%s'):format(commands, commands == 1 and '' or 's')
  end
  local known = running[turn.id]
  local quiet = known and silence(now() - known.at)
  return quiet and text .. ', ' .. quiet or text
end

--- Calls listener when the words for a turn change by the passing of time alone.
--- @param listener fun(ws: cursord.Workspace, turn: cursord.Turn)
function M.on(listener)
  table.insert(listeners, listener)
end

local every = {} --- @type fun()[]

--- Calls listener each second while turns run.
--- @param listener fun()
function M.every(listener)
  table.insert(every, listener)
end

--- Updates the words. Runs every second while turns run.
function M.tick()
  if timer and next(running) == nil then
    timer:stop()
    timer:close()
    timer = nil
  end
  for _, known in pairs(running) do
    local note = known.turn and M.note(known.turn)
    if note ~= known.note then
      known.note = note
      for _, listener in ipairs(listeners) do
        listener(known.ws, known.turn)
      end
    end
  end
  for _, listener in ipairs(every) do
    listener()
  end
end

--- @param ws cursord.Workspace
--- @param id string
--- @param turn? cursord.Turn
local function heard(ws, id, turn)
  local known = running[id] or { ws = ws }
  known.at, known.turn = now(), turn or known.turn
  running[id] = known
end

--- @param turn cursord.Turn
workspace.on('turn', function(ws, turn)
  if turn.status ~= 'running' then
    running[turn.id] = nil
    return
  end
  heard(ws, turn.id, turn)
  running[turn.id].note = M.note(turn)
  if not timer then
    timer = assert(vim.uv.new_timer())
    timer:start(1000, 1000, vim.schedule_wrap(M.tick))
  end
end)

for _, event in ipairs({ 'item', 'delta' }) do
  workspace.on(event, function(ws, object)
    if running[object.turnId] then
      heard(ws, object.turnId)
    end
  end)
end

for _, event in ipairs({ 'reset', 'down' }) do
  workspace.on(event, function(ws)
    for id, known in pairs(running) do
      if known.ws == ws then
        running[id] = nil
      end
    end
  end)
end

return M
