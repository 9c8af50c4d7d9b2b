--- When "u" has taken a decision back in the unsaved text of one file, takes it back in the other files that it was about.
local history = require('cursord.history')
local message = require('cursord.message')
local rpc = require('cursord.rpc')

local M = {}

--- @param doc cursord.Doc
--- @param decision integer
--- @param files integer how many the decision was about
local function take_back(doc, decision, files)
  local params = { workspace = doc.ws.root, decision = decision }
  doc.ws:decide('diff/undo', params, function(err, result)
    if err then
      if err.data and err.data.kind == 'conflict' then
        local text = 'u took the decision back in this file alone: another was made since'
        rpc.say(text, vim.log.levels.WARN)
      end
      return
    end
    require('cursord.docs').apply(doc.ws, result.edits or {})
    for _, diff in ipairs(result.diffs) do
      doc.ws:put_diff(diff)
    end
    message.note(('taken back in %d files: the decision was about all of them'):format(files))
  end)
end

--- Looks for decisions that the person has undone in the text, which the daemon knows.
--- @param doc cursord.Doc
--- @param done fun()
function M.follow(doc, done)
  local behind, known --- @type table<integer, true>, table<integer, true>
  for _, one in ipairs(doc.unsaved) do
    local files = one.files or 1
    if files > 1 and not behind then
      behind, known = history.history(doc.buf)
    end
    if files > 1 and known[one.state] and not behind[one.state] then
      one.files = 1
      take_back(doc, one.decision, files)
    end
  end
  done()
end

return M
