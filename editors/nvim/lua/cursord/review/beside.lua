--- A file beside what it was before the agent, or what it would be with what is in a copy, in a tab of its own.
local docs = require('cursord.docs')
local marks = require('cursord.review.marks')
local rpc = require('cursord.rpc')
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

local bases = {} --- @type table<integer, { ws: cursord.Workspace, path: string }> by buffer

--- A file's other text, with the hunks taken back, or, where they are in a copy, made.
--- @param lines string[]
--- @param diff cursord.Diff
--- @return string[]
function M.other(lines, diff)
  local groups = {} --- @type cursord.Group[]
  for _, hunk in ipairs(diff.hunks) do
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

--- @param base integer
local function fill(base)
  local of = bases[base]
  local diff = of.ws.diffs[of.path]
  local doc = docs.at(of.ws, of.path)
  local lines = doc
      and api.nvim_buf_is_loaded(doc.buf)
      and api.nvim_buf_get_lines(doc.buf, 0, -1, false)
    or {}
  if doc and docs.text(doc.buf) == '' then
    lines = {}
  end
  vim.bo[base].modifiable = true
  api.nvim_buf_set_lines(base, 0, -1, false, M.other(lines, diff or { hunks = {} }))
  vim.bo[base].modifiable, vim.bo[base].modified = false, false
end

--- Opens the tab. In it "do" takes a piece of the baseline into the file: an edit like any other.
--- @param ws cursord.Workspace
--- @param path string
function M.open(ws, path)
  local diff = ws.diffs[path]
  if not diff then
    rpc.say('there is nothing to review in this file')
    return
  elseif #diff.hunks > 0 and #diff.hunks[1].lines == 0 then
    rpc.say(('there is no text to show: the file is %s'):format(diff.kind))
    return
  end
  vim.cmd.tabnew(vim.fn.fnameescape(docs.absolute(ws, path)))
  docs.attach(api.nvim_get_current_buf())
  local filetype = vim.bo.filetype
  vim.cmd.diffthis()
  local isolated = diff.hunks[1] and diff.hunks[1].isolated
  local name = ('cursord://%s/%s'):format(isolated and 'copy' or 'base', path)
  local base = vim.fn.bufnr('^' .. vim.fn.fnameescape(name) .. '$')
  if base == -1 then
    base = api.nvim_create_buf(false, true)
    api.nvim_buf_set_name(base, name)
    vim.bo[base].buftype, vim.bo[base].bufhidden, vim.bo[base].swapfile = 'nofile', 'wipe', false
    vim.b[base].cursord_root = ws.root
  end
  bases[base] = { ws = ws, path = path }
  fill(base)
  vim.bo[base].filetype = filetype
  local win = api.nvim_open_win(base, false, { split = isolated and 'right' or 'left', win = 0 })
  api.nvim_win_call(win, vim.cmd.diffthis)
  api.nvim_create_autocmd('BufWipeout', {
    buffer = base,
    once = true,
    callback = function()
      bases[base] = nil
    end,
  })
end

workspace.on('diff', function(ws, diff)
  for base, of in pairs(bases) do
    if of.ws == ws and of.path == diff.path then
      fill(base)
    end
  end
end)

return M
