--- The marks of hunks in buffers. They move with the text while the person types; the next diff corrects them.
local author = require('cursord.review.author')
local config = require('cursord.config')
local marks = require('cursord.review.marks')
local notes = require('cursord.review.notes')
local room = require('cursord.review.room')

local api = vim.api
local M = {}

--- @class cursord.Shown
--- @field hunk cursord.Hunk
--- @field groups cursord.Group[]
--- @field start integer the hunk's place in the diff from which its groups were made
--- @field deciding? boolean a decision about it is on its way

--- @class cursord.View
--- @field buf integer
--- @field ws cursord.Workspace
--- @field diff cursord.Diff
--- @field shown table<string, cursord.Shown> by the hunk's id
--- @field tick? integer the 'changedtick' of the last update
--- @field undressed table<integer, cursord.Group> groups that are not drawn in full, by extmark
--- @field owners table<integer, cursord.Shown> by extmark

local views = {} --- @type table<integer, cursord.View>
local besides = {} --- @type table<integer, true> buffers beside which the lines that are away are shown

--- @param buf integer
--- @return cursord.View?
function M.get(buf)
  return views[buf]
end

--- @param view cursord.View
--- @param shown cursord.Shown
local function remove(view, shown)
  for _, group in ipairs(shown.groups) do
    view.undressed[group.mark], view.owners[group.mark] = nil, nil
    marks.remove(view.buf, group)
  end
  shown.groups = {}
end

--- Removes all marks from a buffer.
--- @param buf integer
function M.clear(buf)
  views[buf] = nil
  if api.nvim_buf_is_valid(buf) then
    api.nvim_buf_clear_namespace(buf, marks.ns, 0, -1)
    api.nvim_buf_clear_namespace(buf, marks.ns_words, 0, -1)
    vim.b[buf].cursord_status_dict = nil
    require('cursord.status').hunks_changed(buf)
  end
end

--- Whether two hunks look the same.
local function is_same(a, b)
  if #a.lines ~= #b.lines or author.note_of(a) ~= author.note_of(b) then
    return false
  end
  for i, line in ipairs(a.lines) do
    if line ~= b.lines[i] then
      return false
    end
  end
  return true
end

--- Whether a hunk's marks are at the place that the diff says.
--- @param view cursord.View
--- @param shown cursord.Shown
--- @param hunk cursord.Hunk
local function is_placed(view, shown, hunk)
  local by = marks.start(hunk) - shown.start
  if #shown.groups == 0 then
    return false
  elseif by == 0 and view.tick == api.nvim_buf_get_changedtick(view.buf) then
    return true
  end
  for _, group in ipairs(shown.groups) do
    local row, count = marks.rows(view.buf, group)
    if row ~= group.row + by or count ~= #group.here then
      return false
    end
  end
  return true
end

--- Draws all parts of the hunks in and near some rows, so that scrolling finds them drawn.
--- @param view cursord.View
--- @param top integer
--- @param bottom integer
--- @return boolean # whether lines were added to the screen
local function dress(view, top, bottom)
  local more, near = false, 2 * vim.o.lines
  local first, last = { math.max(top - near, 0), 0 }, { bottom + near, -1 }
  local found = next(view.undressed)
      and api.nvim_buf_get_extmarks(view.buf, marks.ns, first, last, { overlap = true })
    or {}
  for _, mark in ipairs(found) do
    local group = view.undressed[mark[1]]
    if group then
      view.undressed[mark[1]] = nil
      more = marks.dress(view.buf, group, besides[view.buf] or false) or more
    end
  end
  return more
end

--- @param view cursord.View
local function dress_windows(view)
  for _, win in ipairs(vim.fn.win_findbuf(view.buf)) do
    local info = vim.fn.getwininfo(win)[1]
    dress(view, info.topline - 1, info.botline - 1)
  end
end

--- Whether a hunk is the deletion of the file. A buffer that still has the text shows it above the first line.
--- @param diff cursord.Diff
--- @param hunk cursord.Hunk
--- @return boolean
function M.is_of_deleted(diff, hunk)
  return diff.kind == 'deleted' and not hunk.isolated
end

--- Shows a hunk. If the buffer does not have its lines, nothing is shown: another diff is on its way.
--- @param view cursord.View
--- @param hunk cursord.Hunk
--- @return cursord.Shown
local function show(view, hunk)
  local old = view.shown[hunk.id]
  if old and is_same(old.hunk, hunk) and (old.deciding or is_placed(view, old, hunk)) then
    old.hunk = hunk
    return old
  end
  if old then
    remove(view, old)
  end
  local groups, present = marks.parse(hunk)
  if M.is_of_deleted(view.diff, hunk) then
    local text = vim.bo[view.buf].modified and '; :w writes your text' or ''
    text = 'the agent has deleted this file: reject brings it back' .. text
    groups = { marks.whole(hunk, text) }
  elseif not marks.is_there(view.buf, present) then
    groups = {}
  end
  --- @type cursord.Shown
  local shown = { hunk = hunk, groups = groups, start = marks.start(hunk) }
  for _, group in ipairs(groups) do
    marks.place(view.buf, group)
    view.undressed[group.mark], view.owners[group.mark] = group, shown
  end
  return shown
end

--- Whether a diff is already shown. Answers and notifications bring the same diff twice.
local function is_shown(view, diff)
  local old, count = view.diff, #diff.hunks
  local function same(a, b)
    return a.id == b.id and marks.start(a) == marks.start(b) and #a.lines == #b.lines
  end
  return old ~= diff
    and old.rev == diff.rev
    and old.seq == diff.seq
    and #old.hunks == count
    and (
      count == 0
      or same(old.hunks[1], diff.hunks[1]) and same(old.hunks[count], diff.hunks[count])
    )
end

--- Whether the marks of a buffer are those of a diff, in the present text.
--- @param buf integer
--- @param diff cursord.Diff
--- @return boolean shown
--- @return boolean lacks the text lacks lines of a hunk
function M.shows(buf, diff)
  local view = views[buf]
  local fits = view and view.tick == api.nvim_buf_get_changedtick(buf)
  if not view or not fits or view.diff ~= diff and not is_shown(view, diff) then
    return false, false
  end
  for _, shown in pairs(view.shown) do
    if #shown.groups == 0 and not shown.deciding and #shown.hunk.lines > 0 then
      return true, true
    end
  end
  return true, false
end

--- Shows a diff in a buffer. Unchanged hunks keep their marks.
--- @param buf integer
--- @param ws cursord.Workspace
--- @param diff cursord.Diff
function M.update(buf, ws, diff)
  if diff.state == 'clean' then
    if views[buf] then
      M.clear(buf)
    end
    return
  end
  if
    views[buf]
    and views[buf].tick == api.nvim_buf_get_changedtick(buf)
    and is_shown(views[buf], diff)
  then
    return
  end
  local view = views[buf]
    or { buf = buf, ws = ws, diff = diff, shown = {}, undressed = {}, owners = {} }
  views[buf], view.diff = view, diff
  local shown = {}
  for _, hunk in ipairs(diff.hunks) do
    shown[hunk.id] = show(view, hunk)
  end
  for id, old in pairs(view.shown) do
    if not shown[id] then
      remove(view, old)
    end
  end
  view.shown, view.tick = shown, api.nvim_buf_get_changedtick(buf)
  dress_windows(view)
  room.make(buf)
  if api.nvim__redraw then
    api.nvim__redraw({ buf = buf, valid = false }) -- Neovim misplaces lines if text and lines above it go together
  end
  vim.b[buf].cursord_status_dict =
    { pending = #diff.hunks, added = diff.added, removed = diff.removed }
  require('cursord.status').hunks_changed(buf)
end

--- The hunks in some rows, in no particular order.
--- @param buf integer
--- @param first integer
--- @param last integer
--- @return cursord.Shown[]
function M.within(buf, first, last)
  local view, out, seen = views[buf], {}, {}
  local found = view
      and api.nvim_buf_get_extmarks(
        buf,
        marks.ns,
        { math.max(first, 0), 0 },
        { last, -1 },
        { overlap = true }
      )
    or {}
  for _, mark in ipairs(found) do
    local shown = view.owners[mark[1]]
    if shown and not seen[shown] then
      seen[shown] = true
      out[#out + 1] = shown
    end
  end
  return out
end

--- The first row at or after the given one at which a hunk begins.
--- @param buf integer
--- @param row integer
--- @return integer?
function M.next_row(buf, row)
  local mark = api.nvim_buf_get_extmarks(buf, marks.ns, { row, 0 }, -1, { limit = 1 })[1]
  return mark and mark[2]
end

--- Hides a hunk while a decision about it is on its way, or shows it again.
--- @param buf integer
--- @param id string
--- @param gone boolean
function M.deciding(buf, id, gone)
  local view = views[buf]
  local shown = view and view.shown[id]
  if shown and gone then
    remove(view, shown)
    shown.deciding = true
  elseif shown and shown.deciding then
    view.shown[id] = nil
    view.shown[id] = show(view, shown.hunk)
    dress_windows(view)
  end
end

--- Draws all hunks of a buffer again.
--- @param view cursord.View
local function redo(view)
  for id, shown in pairs(view.shown) do
    if #shown.groups > 0 then
      remove(view, shown)
      view.shown[id] = show(view, shown.hunk)
    end
  end
  dress_windows(view)
end

--- Sets whether hunks are shown in the text, or as signs alone.
--- @param overlay boolean
function M.set_overlay(overlay)
  config.get().review.overlay = overlay
  for _, view in pairs(views) do
    redo(view)
  end
end

--- Hides the away lines while another window shows them, or shows them again.
--- @param buf integer
--- @param beside boolean another window shows them
function M.set_beside(buf, beside)
  local view, was = views[buf], besides[buf] or false
  besides[buf] = beside or nil
  if view and was ~= beside then
    redo(view)
  end
end

--- Draws all parts of hunks near a row that is about to be shown.
--- @param buf integer
--- @param row integer
function M.expect(buf, row)
  if views[buf] then
    dress(views[buf], row, row)
  end
end

-- A jump can lead to rows that were never drawn in full. Neovim has then laid out the screen without their virtual lines,
-- and has to do so again.
api.nvim_set_decoration_provider(marks.ns_words, {
  on_win = function(_, win, buf, top, bottom)
    if views[buf] and dress(views[buf], top, bottom) then
      vim.schedule(function()
        if api.nvim_win_is_valid(win) and views[buf] then
          room.make(buf)
        end
        vim.cmd.redraw()
      end)
    end
    return false
  end,
})

notes.on_resize(function(buf)
  local view = views[buf]
  for _, shown in pairs(view and view.shown or {}) do
    if shown.groups[1] and shown.groups[1].note then
      redo(view)
      room.make(buf)
      break
    end
  end
end)

api.nvim_create_autocmd('BufUnload', {
  group = api.nvim_create_augroup('cursord_view', {}),
  callback = function(args)
    -- Extmarks survive when Neovim reads a buffer again.
    api.nvim_buf_clear_namespace(args.buf, marks.ns, 0, -1)
    api.nvim_buf_clear_namespace(args.buf, marks.ns_words, 0, -1)
    views[args.buf] = nil
  end,
})

return M
