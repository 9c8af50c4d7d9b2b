--- Moves from hunk to hunk, in a file and across files.
local docs = require('cursord.docs')
local marks = require('cursord.review.marks')
local message = require('cursord.message')
local places = require('cursord.review.places')
local rpc = require('cursord.rpc')
local view = require('cursord.review.view')
local ways = require('cursord.ways')

local api = vim.api
local M = {}

--- @class cursord.Stop
--- @field path string
--- @field row integer
--- @field hunk cursord.Hunk

--- Whether a hunk has a place in a buffer. Hunks without text, and deleted files, are only in the quickfix list and the
--- review buffer.
--- @param diff cursord.Diff
--- @param hunk cursord.Hunk
--- @return boolean
local function has_place(diff, hunk)
  return #hunk.lines > 0
    and not vim.startswith(diff.path, '/')
    and (diff.kind ~= 'deleted' or hunk.isolated or false)
end

--- @param ws cursord.Workspace
--- @return string[]
function M.paths(ws)
  local paths = vim.tbl_keys(ws.diffs)
  table.sort(paths)
  return paths
end

--- @param ws cursord.Workspace
--- @return cursord.Stop[]
--- @return integer # how many hunks have no place in a text
local function stops(ws)
  local out, elsewhere = {}, 0 --- @type cursord.Stop[], integer
  for _, path in ipairs(M.paths(ws)) do
    local diff = ws.diffs[path]
    local doc = docs.at(ws, path)
    local here = doc and places.places(doc.buf) or {}
    for _, place in ipairs(here) do
      if doc and (has_place(diff, place.hunk) or view.is_of_deleted(diff, place.hunk)) then
        local row = places.cursor_row(doc.buf, place)
        out[#out + 1] = { path = path, row = row, hunk = place.hunk }
      end
    end
    for _, hunk in ipairs(#here == 0 and diff.hunks or {}) do
      if has_place(diff, hunk) then
        out[#out + 1] = { path = path, row = marks.row(hunk), hunk = hunk }
      end
    end
    for _, hunk in ipairs(diff.hunks) do
      local shown = #here > 0 and view.is_of_deleted(diff, hunk)
      elsewhere = elsewhere + ((shown or has_place(diff, hunk)) and 0 or 1)
    end
  end
  return out, elsewhere
end

--- Whether there is a hunk to go to.
--- @param ws cursord.Workspace
--- @return boolean
function M.has_stops(ws)
  return #stops(ws) > 0
end

--- A window for a file: the current one, unless it has another purpose.
local function file_window()
  local function fits(win)
    return api.nvim_win_get_config(win).relative == ''
      and vim.bo[api.nvim_win_get_buf(win)].buftype == ''
  end
  if fits(0) then
    return
  end
  local last = vim.fn.win_getid(vim.fn.winnr('#'))
  for _, win in ipairs(vim.list_extend({ last }, api.nvim_tabpage_list_wins(0))) do
    if win ~= 0 and fits(win) then
      api.nvim_set_current_win(win)
      return
    end
  end
  vim.cmd('aboveleft split')
end

--- Shows a row of a workspace's file.
--- @param ws cursord.Workspace
--- @param path string
--- @param row integer
function M.go(ws, path, row)
  vim.cmd("normal! m'")
  local doc = docs.at(ws, path)
  if not doc or doc.buf ~= api.nvim_get_current_buf() then
    file_window()
    if doc then
      api.nvim_win_set_buf(0, doc.buf)
    else
      vim.cmd('silent edit ' .. vim.fn.fnameescape(docs.name(ws, path)))
    end
  end
  view.expect(api.nvim_get_current_buf(), row)
  api.nvim_win_set_cursor(0, { math.min(row + 1, api.nvim_buf_line_count(0)), 0 })
  vim.cmd('normal! zv')
end

--- Goes to the next hunk of a buffer, if there is one.
--- @param buf integer
function M.next_in_buffer(buf)
  local row = view.next_row(buf, api.nvim_win_get_cursor(0)[1] - 1)
  if row then
    view.expect(buf, row)
    api.nvim_win_set_cursor(0, { row + 1, 0 })
  end
end

--- Whether there is a hunk in the text of a file, to which move() can go.
--- @param ws cursord.Workspace
--- @return boolean
function M.leads(ws)
  return #stops(ws) > 0
end

--- Goes forward by a number of hunks; back if it is negative.
--- @param ws cursord.Workspace
--- @param count integer
function M.move(ws, count)
  local all, elsewhere = stops(ws)
  if #all == 0 then
    local text = 'no text to review; the rest is in ' .. ways.to('review')
    rpc.say(ws:pending() == 0 and 'nothing to review' or text)
    return
  end
  local doc = docs.get(api.nvim_get_current_buf())
  local path = doc and doc.ws == ws and doc.rel or ''
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local at = count > 0 and #all + 1 or 0
  if count > 0 then
    for i, stop in ipairs(all) do
      if stop.path > path or stop.path == path and stop.row > row then
        at = i
        break
      end
    end
  else
    for i = #all, 1, -1 do
      if all[i].path < path or all[i].path == path and all[i].row < row then
        at = i
        break
      end
    end
  end
  at = at + (count > 0 and count - 1 or count + 1)
  if (at < 1 or at > #all) and not vim.o.wrapscan then
    rpc.say('no more hunks')
    return
  end
  at = (at - 1) % #all + 1
  M.go(ws, all[at].path, all[at].row)
  local text = ('hunk %d of %d'):format(at, #all)
  if elsewhere > 0 then
    text = ('%s; %d more only in %s'):format(text, elsewhere, ways.to('review'))
  end
  message.note(text)
end

return M
