--- What was said at a place that a search has found.
local rpc = require('cursord.rpc')

local M = {}

--- @param text string
local function lines_of(text)
  return vim.split(vim.trim(text), '\n', { plain = true })
end

--- The words of a match that were searched for, as they are there.
--- @param match cursord.Match
--- @return string[]
function M.words(match)
  return vim.tbl_map(function(range)
    return match.snippet:sub(range.from + 1, range.to)
  end, match.ranges)
end

--- Reads the whole text of a place: a prompt, or an answer, command or path; of a title, the end of its session. A second call
--- of done replaces what the first one had.
--- @param match cursord.Match
--- @param done fun(lines: string[])
function M.read(match, done)
  if match['in'] == 'title' then
    local entry = { session = { id = match.sessionId }, root = match.workspace }
    return require('cursord.sessions').preview(entry --[[@as cursord.SessionEntry]], done)
  elseif match.itemId then
    return rpc.request('item/read', { itemId = match.itemId }, function(err, result)
      local item = result and result.item
      if err then
        done({ err.message })
      elseif item.kind == 'tool' then
        done(require('cursord.tools').show(item, match.workspace).lines)
      else
        done(lines_of(item.text or ''))
      end
    end)
  end
  done(lines_of(match.snippet))
  -- The answer comes at the end of a turn that runs.
  rpc.request('turn/wait', { turnId = match.turnId }, function(err, result)
    if not err then
      done(lines_of(result.turn.prompt))
    end
  end)
end

return M
