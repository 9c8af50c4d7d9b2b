--- Asks the last prompt again, with the transcript of its session, where the agent has lost the chat.
local rpc = require('cursord.rpc')
local turns = require('cursord.turns')
local workspace = require('cursord.workspace')

local M = {}

local lost = {} --- @type table<string, true> turns whose agent did not have the chat any more, by id

--- Takes note of what the transcript shows.
--- @param item cursord.Item
function M.see(item)
  if item.reason == 'chatLost' then
    lost[item.turnId] = true
  end
end

--- The last turn of the chat, if the agent had lost the chat in it.
--- @param ws cursord.Workspace
--- @return cursord.Turn?
local function last(ws)
  local found --- @type cursord.Turn?
  for _, turn in pairs(ws.turns) do
    if turn.sessionId == ws.current and (not found or turn.createdAt > found.createdAt) then
      found = turn
    end
  end
  return found and lost[found.id] and found or nil
end

--- Sends the prompt once more, with what went with it. The agent begins a fresh chat and gets the transcript.
function M.send()
  local ws = workspace.find()
  local turn = ws and last(ws)
  if not ws or not turn then
    return rpc.say('the agent knows this chat; e edits the last prompt', vim.log.levels.WARN)
  end
  lost[turn.id] = nil
  local with, long = require('cursord.context').all(turn)
  if long then
    rpc.say('without a text that was too long to be kept', vim.log.levels.WARN)
  end
  turns.start(ws, {
    workspace = ws.root,
    sessionId = ws.current,
    prompt = turn.prompt,
    context = #with > 0 and with or nil,
    recap = true,
  }, function(result)
    if result then
      ws.mine[result.turn.id] = true
    else
      lost[turn.id] = true
    end
  end)
end

return M
