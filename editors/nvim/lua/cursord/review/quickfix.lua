--- The quickfix list of all hunks, with keys to decide them.
local author = require('cursord.review.author')
local counts = require('cursord.review.counts')
local decide = require('cursord.review.decide')
local docs = require('cursord.docs')
local marks = require('cursord.review.marks')
local nav = require('cursord.review.nav')
local patch = require('cursord.review.patch')
local rpc = require('cursord.rpc')
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

local title = 'Cursord review: a accept · r reject · g? keys'

--- @param diff cursord.Diff
--- @param hunk cursord.Hunk
local function text_of(diff, hunk)
  local added, removed = patch.counts({ hunk })
  local first --- @type string?
  for _, line in ipairs(hunk.lines) do
    local sign = line:sub(1, 1)
    if sign ~= ' ' and (not first or sign == '+' and first:sub(1, 1) == '-') then
      first = line
    end
  end
  local by = author.made_by(hunk)
  local made = (by == '' and '' or ' by ' .. by)
    .. (author.maybe_yours(hunk) and ' (may be yours)' or '')
    .. (hunk.tied and (' (with %s)'):format(hunk.tied) or '')
  if hunk.kind == 'file' and diff.kind ~= 'modified' then
    return patch.became(diff)
      .. (added + removed > 0 and (' (+%d -%d)'):format(added, removed) or '')
      .. made
  end
  return ('+%d -%d%s  %s'):format(added, removed, made, (first or ''):gsub('\r$', ''))
end

--- @param ws cursord.Workspace
--- @param only? string the path of the only file to list
local function entries(ws, only)
  local items = {}
  for _, path in ipairs(nav.paths(ws)) do
    local diff = ws.diffs[path]
    for _, hunk in ipairs((not only or only == path) and diff.hunks or {}) do
      if not decide.is_deciding(hunk.id) then
        items[#items + 1] = {
          filename = docs.name(ws, path),
          lnum = marks.row(hunk) + 1,
          text = text_of(diff, hunk),
          user_data = { hunk = hunk.id, path = path },
        }
      end
    end
  end
  return items
end

local function list_of(what)
  local list = vim.fn.getqflist(vim.tbl_extend('force', { context = 0, id = 0 }, what))
  local context = type(list.context) == 'table' and list.context.cursord or nil
  return context and list or nil, context
end

--- Fills the list and goes to its window, where the keys are.
--- @param ws cursord.Workspace
--- @param only? string the path of the only file to list
function M.open(ws, only)
  local items = entries(ws, only)
  if #items == 0 then
    rpc.say('nothing to review')
    return
  end
  local list = list_of({ nr = 0 })
  vim.fn.setqflist({}, list and 'r' or ' ', {
    title = title,
    items = items,
    context = { cursord = { root = ws.root, path = only } },
  })
  vim.cmd('botright copen ' .. math.min(10, #items))
  M.map(api.nvim_get_current_buf())
end

--- Brings the list up to date. The cursor stays on its entry.
--- @param ws cursord.Workspace
function M.refresh(ws)
  local list, context = list_of({ nr = 0, idx = 0, winid = 0 })
  if not list or not context or context.root ~= ws.root then
    return
  end
  local win = list.winid
  local at = win ~= 0 and api.nvim_win_get_cursor(win) or nil
  local items = entries(ws, context.path)
  vim.fn.setqflist({}, 'r', {
    id = list.id,
    items = items,
    idx = math.max(1, math.min(list.idx, #items)),
  })
  if at and api.nvim_win_is_valid(win) then
    pcall(api.nvim_win_set_cursor, win, { math.min(at[1], math.max(#items, 1)), at[2] })
  end
end

local waiting = {}

--- Many changes at once cause one refresh.
local function refresh_soon(ws)
  if not waiting[ws.root] then
    waiting[ws.root] = true
    vim.schedule(function()
      waiting[ws.root] = nil
      M.refresh(ws)
    end)
  end
end

--- The hunk of the entry under the cursor.
local function current()
  local _, context = list_of({ nr = 0 })
  local ws = context and workspace.at(context.root)
  local entry = vim.fn.getqflist()[api.nvim_win_get_cursor(0)[1]]
  local data = entry and type(entry.user_data) == 'table' and entry.user_data or nil
  if not ws or not data then
    return ws -- with an empty list, decisions can still be undone
  end
  local hunk = counts.find(ws, data.hunk)
  return ws, hunk and { id = data.hunk, hunk = hunk } or nil, data.path
end

--- Moves the cursor of the list's window to the entry of a hunk, if there is one.
--- @param ws cursord.Workspace
--- @param hunk? string
local function go(ws, hunk)
  M.refresh(ws)
  local list, context = list_of({ nr = 0, items = 0, winid = 0 })
  if not list or not context or context.root ~= ws.root or list.winid == 0 then
    return
  end
  for i, entry in ipairs(list.items) do
    if hunk and type(entry.user_data) == 'table' and entry.user_data.hunk == hunk then
      api.nvim_win_set_cursor(list.winid, { i, 0 })
    end
  end
end

local keys = {
  a = {
    'accept',
    function(ws, part)
      decide.parts('accept', ws, { part })
    end,
  },
  r = {
    'reject',
    function(ws, part)
      decide.parts('reject', ws, { part })
    end,
  },
  u = {
    'undo',
    function(ws)
      decide.step('undo', ws, function(restored)
        go(ws, restored)
      end)
    end,
    true,
  },
  U = {
    'redo',
    function(ws)
      decide.step('redo', ws)
    end,
    true,
  },
  c = {
    'comment',
    function(ws, part)
      decide.comment(ws, part.id)
    end,
  },
  x = {
    'dismiss the file',
    function(ws, _, path)
      if docs.absolute(ws, path) == path then
        decide.dismiss(ws, path)
      else
        rpc.say(path .. ' is in the workspace: accept or reject it', vim.log.levels.WARN)
      end
    end,
  },
  ['g?'] = {
    'these keys',
    function()
      require('cursord.keys').help()
    end,
    true,
  },
  d = {
    'side by side',
    function(ws, part, path)
      require('cursord.review.beside').open(ws, path, part.hunk)
    end,
  },
}

--- Maps the keys in the list's window.
--- @param buf integer
function M.map(buf)
  for lhs, key in pairs(keys) do
    local _, act, always = unpack(key)
    vim.keymap.set('n', lhs, function()
      local ws, part, path = current()
      if ws and (part or always) then
        act(ws, part, path)
      elseif ws then
        rpc.say('there is no hunk here', vim.log.levels.WARN)
      else
        api.nvim_feedkeys(lhs, 'n', false)
      end
    end, { buffer = buf, nowait = true, desc = 'cursord: ' .. key[1] })
  end
end

workspace.on('diff', refresh_soon)
workspace.on('reset', refresh_soon)

api.nvim_create_autocmd('BufWinEnter', {
  group = api.nvim_create_augroup('cursord_quickfix', {}),
  pattern = 'quickfix',
  callback = function(args)
    if list_of({ nr = 0 }) then
      M.map(args.buf)
    end
  end,
})

return M
