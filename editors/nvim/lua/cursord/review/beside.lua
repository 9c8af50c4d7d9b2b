--- A file beside its other text, in a tab: what it was before the agent, or, for hunks in a copy, what it would be.
local decide = require('cursord.review.decide')
local docs = require('cursord.docs')
local marks = require('cursord.review.marks')
local rpc = require('cursord.rpc')
local view = require('cursord.review.view')
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

--- How long a write waits for the daemon, in milliseconds.
local patience = 10000

--- @class cursord.Side
--- @field ws cursord.Workspace
--- @field path string
--- @field isolated boolean the text is from a copy, and can be edited
--- @field hunks cursord.Hunk[] the hunks from which the text was made
--- @field text string the text before the person edited it
--- @field closed? boolean

local sides = {} --- @type table<integer, cursord.Side> by buffer

--- The other text: the present one with the hunks taken back, or with those in a copy made.
--- @param lines string[]
--- @param hunks cursord.Hunk[]
--- @return string[]
function M.other(lines, hunks)
  local groups = {} --- @type cursord.Group[]
  for _, hunk in ipairs(hunks) do
    vim.list_extend(groups, (marks.parse(hunk)))
  end
  table.sort(groups, function(a, b)
    return a.row < b.row
  end)
  local out, at = {}, 0
  for _, group in ipairs(groups) do
    vim.list_extend(out, lines, at + 1, group.row)
    for _, line in ipairs(group.away) do
      out[#out + 1] = (line:gsub('\r$', ''))
    end
    at = group.row + #group.here
  end
  return vim.list_extend(out, lines, at + 1, #lines)
end

--- @param diff? cursord.Diff
--- @param isolated boolean
--- @return cursord.Hunk[]
local function hunks_of(diff, isolated)
  return vim.tbl_filter(function(hunk)
    return (hunk.isolated or false) == isolated
  end, diff and diff.hunks or {})
end

--- The present lines of the file, from its buffer if there is one.
--- @param side cursord.Side
--- @param hunks cursord.Hunk[]
--- @return string[]
local function lines_of(side, hunks)
  local doc = docs.at(side.ws, side.path)
  local lines = {}
  if doc and api.nvim_buf_is_loaded(doc.buf) and require('cursord.lines').text(doc.buf) ~= '' then
    lines = api.nvim_buf_get_lines(doc.buf, 0, -1, false)
  end
  return M.other(lines, hunks)
end

--- @param buf integer
local function fill(buf)
  local side = sides[buf]
  side.hunks = hunks_of(side.ws.diffs[side.path], side.isolated)
  local lines = lines_of(side, side.hunks)
  side.text = table.concat(lines, '\n')
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable, vim.bo[buf].modified = side.isolated, false
end

--- Puts the person's edits into the file after its hunks were accepted.
--- @param side cursord.Side
--- @param was string
--- @param text string
--- @return boolean
local function edit_file(side, was, text)
  local buf = vim.fn.bufadd(docs.name(side.ws, side.path))
  vim.fn.bufload(buf)
  if require('cursord.lines').text(buf):gsub('\n$', '') ~= was then
    rpc.say(
      'the hunks are accepted, but the file changed; your edits are still here',
      vim.log.levels.WARN
    )
    return false
  end
  require('cursord.follow').become(buf, text)
  api.nvim_buf_call(buf, function()
    vim.cmd('silent write')
  end)
  return true
end

--- @param side cursord.Side
local function is_modified(side)
  local doc = docs.at(side.ws, side.path)
  return doc ~= nil and api.nvim_buf_is_loaded(doc.buf) and vim.bo[doc.buf].modified
end

--- Accepts the hunks of the other text, and the person's edits of it.
--- @param buf integer
local function accept(buf)
  local side = sides[buf]
  local text = table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
  if #side.hunks == 0 then
    return rpc.say('there is nothing left to accept', vim.log.levels.WARN)
  elseif table.concat(lines_of(side, side.hunks), '\n') ~= side.text then
    return rpc.say('the file has changed; ":edit!" shows its new state', vim.log.levels.ERROR)
  elseif text ~= side.text and is_modified(side) then
    -- Edits of an unsaved text would be mixed with those of the person here.
    return rpc.say('the file has unsaved changes; write it first', vim.log.levels.ERROR)
  end
  local parts = vim.tbl_map(function(hunk)
    return { id = hunk.id, hunk = hunk }
  end, side.hunks)
  local was, accepted = side.text, nil --- @type string, boolean?
  decide.parts('accept', side.ws, parts, {
    after = function(ok)
      accepted = ok
    end,
  })
  vim.wait(patience, function()
    return accepted ~= nil
  end, 5)
  if accepted and (text == was or edit_file(side, was, text)) then
    vim.bo[buf].modified = false
    vim.schedule(function()
      if sides[buf] then
        fill(buf)
      end
    end)
  end
end

local group = api.nvim_create_augroup('cursord_beside', {})
for event, act in pairs({ BufWriteCmd = accept, BufReadCmd = fill }) do
  api.nvim_create_autocmd(event, {
    group = group,
    pattern = { 'cursord://base/*', 'cursord://copy/*' },
    nested = true,
    callback = function(args)
      if sides[args.buf] then
        act(args.buf)
      end
    end,
  })
end

--- Hides the deleted lines in a file's buffer while they are shown beside it.
local function fit_overlays()
  local shown = {}
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    shown[api.nvim_win_get_buf(win)] = true
  end
  for buf, side in pairs(sides) do
    local doc = docs.at(side.ws, side.path)
    if doc then
      view.set_beside(doc.buf, shown[buf] and not side.closed or false)
    end
  end
end

api.nvim_create_autocmd('TabEnter', { group = group, callback = fit_overlays })

--- Opens the tab. Beside the old text, "do" takes lines of it into the file as ordinary edits. Beside a text from a copy,
--- ":write" accepts that text as it was edited.
--- @param ws cursord.Workspace
--- @param path string
--- @param hunk? cursord.Hunk the hunk to show first
function M.open(ws, path, hunk)
  local diff = ws.diffs[path]
  for _, other in ipairs(diff and (not hunk or #hunk.lines == 0) and diff.hunks or {}) do
    hunk = (not hunk or #hunk.lines == 0) and other or hunk -- a file with a new mode can have text as well
  end
  if not diff or not hunk then
    rpc.say('there is nothing to review in this file')
    return
  elseif #hunk.lines == 0 then
    local kind = diff.kind == 'mode' and 'has another mode' or 'is ' .. diff.kind
    rpc.say('there is no text to show: the file ' .. kind)
    return
  end
  vim.cmd('silent tabnew ' .. vim.fn.fnameescape(docs.name(ws, path)))
  docs.attach(api.nvim_get_current_buf())
  local filetype = vim.bo.filetype
  vim.cmd.diffthis()
  local isolated = hunk.isolated or false
  local name = ('cursord://%s/%s'):format(isolated and 'copy' or 'base', path)
  local side = vim.fn.bufnr('^' .. vim.fn.fnameescape(name) .. '$')
  if side == -1 then
    side = api.nvim_create_buf(false, true)
    api.nvim_buf_set_name(side, name)
    vim.bo[side].buftype = isolated and 'acwrite' or 'nofile'
    vim.bo[side].bufhidden, vim.bo[side].swapfile = 'wipe', false
    vim.b[side].cursord_root = ws.root
  end
  if not vim.bo[side].modified then
    sides[side] = { ws = ws, path = path, isolated = isolated, hunks = {}, text = '' }
    fill(side)
  end
  vim.bo[side].filetype = filetype
  local win = api.nvim_open_win(side, false, { split = isolated and 'right' or 'left', win = 0 })
  api.nvim_win_call(win, vim.cmd.diffthis)
  api.nvim_create_autocmd('BufWipeout', {
    buffer = side,
    once = true,
    callback = function()
      sides[side].closed = true
      fit_overlays()
      sides[side] = nil
    end,
  })
  fit_overlays()
end

workspace.on('diff', function(ws, diff)
  for buf, side in pairs(sides) do
    if side.ws == ws and side.path == diff.path and not vim.bo[buf].modified then
      fill(buf)
    end
  end
end)

return M
