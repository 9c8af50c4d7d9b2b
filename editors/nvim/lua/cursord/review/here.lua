--- Decides hunks at places of buffers.
local author = require('cursord.review.author')
local config = require('cursord.config')
local counts = require('cursord.review.counts')
local decide = require('cursord.review.decide')
local places = require('cursord.review.places')
local rpc = require('cursord.rpc')

local api = vim.api
local M = {}

--- Decides the hunk at a row, and goes to the next one if `after_decide` says so.
--- @param verb 'accept'|'reject'
--- @param buf integer
--- @param row integer
--- @param comment? string
--- @param both? boolean for a conflict: keep the person's lines before the agent's
function M.at(verb, buf, row, comment, both)
  local ws, place = places.workspace(buf), places.at(buf, row)
  if not ws or not place then
    places.say_none(ws, 'here')
    return
  elseif both and not author.is_conflict(place.hunk) then
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

--- Decides the hunk at a row or, in a closed fold, the hunks of the fold.
--- @param verb 'accept'|'reject'
--- @param buf integer
--- @param row integer
function M.here(verb, buf, row)
  local first, last = vim.fn.foldclosed(row + 1) - 1, vim.fn.foldclosedend(row + 1) - 1
  if first >= 0 and #places.parts(buf, first, last) > 0 then
    M.range(verb, buf, first, last, nil, true)
  else
    M.at(verb, buf, row)
  end
end

--- Decides the parts of hunks in a range of rows. A reject of several hunks leaves alone those that may be a person's,
--- an accept those whose lines the person has changed and not saved.
--- @param verb 'accept'|'reject'
--- @param buf integer
--- @param first integer
--- @param last integer
--- @param comment? string
--- @param whole? boolean the hunks as a whole, where lines of them are in the range
function M.range(verb, buf, first, last, comment, whole)
  local ws, parts = places.workspace(buf), places.parts(buf, first, last)
  if not ws or #parts == 0 then
    places.say_none(ws, 'in these lines')
    return
  end
  for _, part in ipairs(parts) do
    if whole or author.is_conflict(part.hunk) and first == last then
      part.lines = nil -- one line names the hunk
    elseif part.lines and author.is_conflict(part.hunk) then
      local text = 'you have changed these lines, too: such a hunk is decided as a whole'
      return rpc.say(text, vim.log.levels.WARN)
    end
  end
  local skipped = {}
  if verb == 'accept' and #parts > 1 then
    parts = vim.tbl_filter(function(part)
      local both = part.hunk.state == 'conflict'
      if both then
        local why = 'you have changed these lines, too: decide each hunk by itself'
        skipped[#skipped + 1] = { path = '', hunk = part.id, kind = 'conflict', message = why }
      end
      return not both
    end, parts)
  end
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
