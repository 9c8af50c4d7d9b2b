--- The state of workspaces for status lines, other plugins and people.
local config = require('cursord.config')
local message = require('cursord.message')
local notify = require('cursord.notify')
local quiet = require('cursord.quiet')
local rpc = require('cursord.rpc')
local ways = require('cursord.ways')
local wording = require('cursord.wording')
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

--- @alias cursord.State 'off'|'idle'|'queued'|'working'|'review'|'error'

local title_most = 20 -- cells of another session's title

local failed = {} --- @type table<cursord.Workspace, true> its last turn failed
local told = {} --- @type table<cursord.Workspace, { state: string, hunks: integer, files: integer }>
local words = {} --- @type table<cursord.Workspace, string> the same, as people read it

--- @param ws? cursord.Workspace
--- @return cursord.State
function M.state(ws)
  if not ws or not rpc.connected() then
    return 'off'
  end
  local busy = ws:busy()
  for _, turn in ipairs(busy) do
    if turn.status == 'running' then
      return 'working'
    end
  end
  if #busy > 0 then
    return 'queued'
  end
  return failed[ws] and 'error' or ws:pending() > 0 and 'review' or 'idle'
end

local function plural(n, word)
  return ('%d %s%s'):format(n, word, n == 1 and '' or 's')
end

--- Who asks, in words. For a session that is shown, another one has its title there: its question is not the shown one's.
--- @param ws cursord.Workspace
--- @param turn cursord.Turn
--- @param shown? string a session
--- @return string # "asks you", or "\"TITLE\" asks you"
local function asks(ws, turn, shown)
  if not shown or turn.sessionId == shown then
    return 'asks you'
  end
  local session = ws.sessions[turn.sessionId]
  local title = (session and session.title or turn.prompt):gsub('%c', ' ')
  return ('"%s" asks you'):format(message.cut(title, title_most))
end

--- The activity of the running turns in words, that of a working one first, and the number of those that wait.
--- @param ws cursord.Workspace
--- @param shown? string the session that is shown, if it is about one
--- @return string # "working, 1 queued"
local function work(ws, shown)
  local text, asking, own, waiting = nil, nil, nil, 0 --- @type string?, cursord.Turn?, string?, integer
  for _, turn in ipairs(ws:busy()) do
    if turn.status ~= 'running' then
      waiting = waiting + 1
    elseif turn.waiting then
      if not asking or turn.sessionId == shown then
        asking = turn
      end
    else
      local note = quiet.note(turn)
      own = turn.sessionId == shown and note or own
      text = text == 'working' and text or note
    end
  end
  if asking then
    text = asks(ws, asking, shown)
    text = own and asking.sessionId ~= shown and own .. ', ' .. text or text
  end
  return waiting > 0 and ('%s, %d queued'):format(text, waiting) or text --[[@as string]]
end

--- A state in words: "working, 3 hunks".
--- @param ws cursord.Workspace
--- @param shown? string the session that is shown, if it is about one: questions of other ones are said to be theirs
--- @return string
function M.text(ws, shown)
  local state, hunks = M.state(ws), ws:pending() --- @type string, integer
  if state == 'working' then
    state = work(ws, shown)
  end
  if hunks == 0 then
    return state == 'idle' and '' or state
  end
  return (state == 'review' and '' or state .. ', ') .. plural(hunks, 'hunk')
end

--- The text for 'statusline'; empty if there is nothing to say.
--- @return string
function M.statusline()
  local ws = workspace.find(api.nvim_win_get_buf(vim.g.statusline_winid or 0))
  local text = ws and M.text(ws) or ''
  return text == '' and '' or 'cursord: ' .. text
end

local function fire(name, data)
  api.nvim_exec_autocmds('User', { pattern = name, modeline = false, data = data })
end

--- @param buf integer
function M.hunks_changed(buf)
  fire('CursordHunks', { buf = buf })
end

local waiting = {}

--- Publishes a changed state, once for many changes.
--- @param ws cursord.Workspace
local function changed(ws)
  if waiting[ws] then
    return
  end
  waiting[ws] = true
  vim.schedule(function()
    waiting[ws] = nil
    local hunks, files = ws:pending()
    local now, text = { state = M.state(ws), hunks = hunks, files = files }, M.text(ws)
    local same = vim.deep_equal(now, told[ws])
    if same and text == words[ws] then
      return
    end
    told[ws], words[ws] = now, text
    vim.g.cursord_status = text
    if not same then
      fire('CursordState', vim.tbl_extend('error', { workspace = ws.root }, now))
    end
    vim.cmd.redrawstatus({ bang = true })
  end)
end

local has_progress = vim.fn.has('nvim-0.12') == 1

local progress_status =
  { completed = 'success', failed = 'failed', cancelled = 'success', interrupted = 'failed' }

--- @param ws cursord.Workspace
--- @param turn cursord.Turn
local function progress(ws, turn)
  if not has_progress or not config.get().notify.progress then
    return
  end
  local status = progress_status[turn.status] or 'running'
  local about = {
    id = 'cursord.' .. turn.id,
    kind = 'progress',
    source = 'cursord',
    status = status,
    title = 'cursord',
  }
  message.show_first(function()
    vim.cmd.redraw()
    local text = turn.status == 'queued' and M.state(ws) == 'working' and work(ws) or turn.status
    api.nvim_echo({ { text } }, false, about)
  end)
end

--- @param ws cursord.Workspace
--- @param turn cursord.Turn
local function turn_ended(ws, turn)
  local hunks, files = ws:pending()
  fire('CursordTurnEnd', { workspace = ws.root, turn = turn, hunks = hunks, files = files })
  if not config.get().notify.turn_end or not (ws.mine[turn.id] or ws.current == turn.sessionId) then
    return
  end
  local error, level = turn.error, vim.log.levels.INFO
  local text = 'done'
  if error then
    text, level = wording.error(error.message, error.hint), vim.log.levels.ERROR
  elseif turn.status ~= 'completed' then
    text, level = 'the turn was ' .. turn.status, vim.log.levels.WARN
  end
  if hunks > 0 then
    local way = ways.to(require('cursord.review.nav').leads(ws) and 'next' or 'review')
    local own = vim.iter(ws.diffs):any(function(_, diff)
      return vim.list_contains(diff.turns or {}, turn.id)
    end)
    local left = ('%s in %s%s'):format(
      plural(hunks, 'hunk'),
      plural(files, 'file'),
      own and '' or ' from before'
    )
    local whole = ('%s; %s goes there'):format(left, way)
    -- The end is cut where it does not fit.
    local short = api.nvim_strwidth(whole) > vim.v.echospace and ('%s: %s'):format(way, left)
      or whole
    local line, hint = text:match('^([^\n]*)(.*)$')
    text = text == 'done' and short or ('%s; %s%s'):format(line, whole, hint)
  end
  rpc.say(text, level)
  local session = ws.sessions[turn.sessionId]
  notify.away((session and session.title .. ': ' or '') .. text)
end

--- @param turn cursord.Turn
--- @param before? cursord.Turn
workspace.on('turn', function(ws, turn, before)
  local ended = workspace.ended(turn)
  if not ended then
    failed[ws] = nil
  elseif before and not workspace.ended(before) then
    failed[ws] = turn.status == 'failed' or nil
    progress(ws, turn)
    turn_ended(ws, turn)
  end
  if not ended and not (before and before.status == turn.status) then
    progress(ws, turn)
  end
  changed(ws)
end)

for _, event in ipairs({ 'session', 'diff', 'reset', 'ready', 'down' }) do
  workspace.on(event, changed)
end

quiet.on(changed)

return M
