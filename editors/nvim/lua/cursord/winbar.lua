--- The bar above the transcript: the session's title, its settings, and the activity.
local message = require('cursord.message')
local times = require('cursord.times')
local turns = require('cursord.turns')

local M = {}

--- @param ws cursord.Workspace
--- @return table # the settings of the next session
local function next_session(ws)
  return {
    title = 'new session',
    mode = ws.next_mode or 'agent',
    model = ws.next_model,
    isolation = turns.isolation(ws),
    sandbox = ws.next_permits.sandbox,
    autoReview = ws.next_permits.autoReview,
    addDirs = ws.next_permits.addDirs,
  }
end

local function plain(text)
  return (text:gsub('[\n%%]', { ['\n'] = ' ', ['%'] = '%%' }))
end

--- How long the session's turn has been running, or the tokens of the last one.
--- @param ws cursord.Workspace
--- @param id? string a session
--- @return string # "1:20", or "12.3k → 1.2k tokens"
local function taken(ws, id)
  for _, turn in pairs(ws.turns) do
    if turn.sessionId == id and turn.status == 'running' and turn.startedAt then
      return times.elapsed(turn.startedAt)
    end
  end
  for _, turn in pairs(ws.turns) do
    local usage = turn.sessionId == id and turn.usage
    if usage then
      local out = times.thousands(usage.outputTokens or 0)
      return ('%s → %s tokens'):format(times.thousands(usage.inputTokens or 0), out)
    end
  end
  return ''
end

--- The activity in fewer words, for narrow windows.
--- @param text string
--- @return string
function M.short(text)
  text = text:gsub('waiting for (%d+) background commands?', '%1 in background')
  text = text:gsub('no output for ', 'silent ')
  text = text:gsub('[^·"]*, (".-" asks you)', '%1') -- what the shown session does is in the transcript
  return (
    text:gsub('"(.-)" asks you', function(title)
      return ('"%s" asks you'):format(message.cut(title, 10))
    end)
  )
end

--- @param ws cursord.Workspace
--- @param id? string a session
--- @param width? integer
--- @return string # for 'winbar'
function M.text(ws, id, width)
  local of = id and ws.sessions[id] or next_session(ws)
  local about = {}
  for _, text in ipairs({
    of.isolation == 'copy' and 'in a copy' or '',
    of.mode ~= 'agent' and of.mode or '',
    of.sandbox == 'enabled' and 'sandbox' or of.sandbox == 'disabled' and 'no sandbox' or '',
    of.autoReview and 'auto-review' or '',
    of.addDirs and #of.addDirs > 0 and ('+%d dir'):format(#of.addDirs) or '',
    of.model or '',
    require('cursord.status').text(ws, id or ''),
    id and taken(ws, id) or '',
  }) do
    about[#about + 1] = text ~= '' and text or nil
  end
  -- If the bar is too narrow, the activity is said shortly, then the title is cut, and then the end of the activity.
  local state = table.concat(about, ' · ')
  if width and vim.api.nvim_strwidth(state .. of.title) + 4 > width then
    state = M.short(state)
  end
  local room = width and width - vim.api.nvim_strwidth(state) - 4 or #of.title
  local title = room > 2 and message.cut(of.title:gsub('%c', ' '), room) .. '  ' or ''
  return (' %s%%=%s %%<'):format(plain(title), plain(state))
end

--- The bar of a list: what it has, and as many of its keys as there is room for. The last key stays; it shows the others.
--- @param text string
--- @param keys string[]
--- @param width integer
--- @return string # for 'winbar'
function M.keys(text, keys, width)
  local room = width - vim.api.nvim_strwidth(text) - 4
  keys = vim.list_slice(keys)
  while #keys > 1 and vim.api.nvim_strwidth(table.concat(keys, ' · ')) > room do
    table.remove(keys, #keys - 1)
  end
  return (' %s%%=%s %%<'):format(plain(text), plain(table.concat(keys, ' · ')))
end

--- The title for the status line, which ends with the place of the cursor.
--- @param ws cursord.Workspace
--- @param id? string a session
--- @param width integer of the window
--- @return string # "Cursor: TITLE", for 'statusline'
function M.title(ws, id, width)
  local at = vim.api.nvim_win_get_cursor(vim.g.statusline_winid or 0)
  local ruler = (' %d,%d '):format(at[1], at[2] + 1)
  local room = (vim.o.laststatus == 3 and vim.o.columns or width) - #ruler - 1
  local title = (id and ws.sessions[id] or next_session(ws)).title:gsub('%c', ' ')
  return plain(message.cut('Cursor: ' .. title, math.max(room, 1)))
end

return M
