--- Decides hunks at places of buffers.
local author = require('cursord.review.author')
local config = require('cursord.config')
local counts = require('cursord.review.counts')
local decide = require('cursord.review.decide')
local docs = require('cursord.docs')
local places = require('cursord.review.places')
local report = require('cursord.report')
local rpc = require('cursord.rpc')

local api = vim.api
local M = {}

local ns = api.nvim_create_namespace('cursord_decide')

--- If the daemon does not know a buffer's text yet, has it know the text, and then calls act with the rows, wherever they
--- are then: the person has typed just now, and the hunks that they see are older.
--- @param buf integer
--- @param rows integer[]
--- @param act fun(rows: integer[])
--- @return boolean # false if the daemon knows the text
local function when_told(buf, rows, act)
  local doc = docs.get(buf)
  if not doc or not doc.reviewed or report.in_sync(doc) then
    return false
  end
  local tick = api.nvim_buf_get_changedtick(buf)
  local ids = vim.tbl_map(function(row)
    return api.nvim_buf_set_extmark(buf, ns, row, 0, {})
  end, rows)
  report.tell(doc, function()
    if not api.nvim_buf_is_loaded(buf) then
      return
    end
    local now = vim.tbl_map(function(id)
      return api.nvim_buf_get_extmark_by_id(buf, ns, id, {})[1]
    end, ids)
    api.nvim_buf_clear_namespace(buf, ns, 0, -1)
    if report.in_sync(doc) or tick ~= api.nvim_buf_get_changedtick(buf) then
      act(now)
    else
      rpc.say('nothing is decided: the daemon does not know the text', vim.log.levels.WARN)
    end
  end)
  return true
end

--- Decides the hunk at a row, and goes to the next one if `after_decide` says so.
--- @param verb 'accept'|'reject'
--- @param buf integer
--- @param row integer
--- @param comment? string
--- @param both? boolean for a conflict: keep the person's lines before the agent's
function M.at(verb, buf, row, comment, both)
  if when_told(buf, { row }, function(rows)
    M.at(verb, buf, rows[1], comment, both)
  end) then
    return
  end
  local ws, place = places.workspace(buf), places.at(buf, row)
  if not ws or not place then
    places.say_none(ws, 'here')
    return
  elseif both and place.hunk.state ~= 'conflict' then
    rpc.say('"accept both" is for lines that you have changed, too', vim.log.levels.WARN)
    return
  end
  local win = api.nvim_get_current_win()
  local from, to = api.nvim_win_get_cursor(win), nil
  decide.parts(verb, ws, { { id = place.id, hunk = place.hunk } }, {
    comment = comment,
    both = both,
    after = function(ok)
      local still = api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == buf
      if not ok and still and vim.deep_equal(api.nvim_win_get_cursor(win), to) then
        api.nvim_win_set_cursor(win, from)
      end
    end,
  })
  -- The cursor moves at once, so that the next key is about the next hunk.
  if config.get().review.after_decide == 'next' then
    require('cursord.review.nav').next_in_buffer(buf)
    to = api.nvim_win_get_cursor(win)
  end
end

--- Decides the parts of hunks in a range of rows. A reject of several hunks leaves alone those that may be a person's.
--- @param verb 'accept'|'reject'
--- @param buf integer
--- @param first integer
--- @param last integer
--- @param comment? string
function M.range(verb, buf, first, last, comment)
  if
    when_told(buf, { first, last }, function(rows)
      M.range(verb, buf, rows[1], rows[2], comment)
    end)
  then
    return
  end
  local ws, parts = places.workspace(buf), places.parts(buf, first, last)
  if not ws or #parts == 0 then
    places.say_none(ws, 'in these lines')
    return
  end
  local skipped = {}
  if verb == 'reject' and #parts > 1 then
    parts = vim.tbl_filter(function(part)
      local _, diff = counts.find(ws, part.id)
      local left = diff and author.left(diff)[part.id]
      if diff and left then
        skipped[#skipped + 1] = { path = diff.path, hunk = part.id, kind = 'maybeYours' }
      end
      return not left
    end, parts)
  end
  decide.parts(verb, ws, parts, { comment = comment, skipped = skipped })
end

return M
